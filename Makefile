# Every target sets itself up: Python 3.11, make and a package registry are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCENARIO ?= scenarios/mixshare-50.yaml
VERSION ?= 0.5.23
PEERS := .venv-peers

.PHONY: demo test slow live live-short sglang-cpu gpu-calibrate ray lint bench bench-peers schema oracle clean

demo: $(VENV)/core.stamp
	$(BIN)/inference-auctions simulate $(SCENARIO)

test: $(VENV)/dev.stamp oracle
	$(BIN)/python -m pytest -q

slow: $(VENV)/dev.stamp oracle
	$(BIN)/python -m pytest -q -m slow

# A real, unmodified SGLang on this CPU, in an environment of its own; 2 to 10 minutes, once.
sglang-cpu:
	$(PYTHON) tests/live/build_env.py $(VERSION)

# Starts servers on free loopback ports, waits for a one-token reply, tests against them, stops them by process id.
live: $(VENV)/dev.stamp sglang-cpu
	$(BIN)/python -m pytest -q -m live -k $(VERSION)

# The part of it that fits into every check: doctor, simulate with every workload, calibrate then validate, and
# decisions with the server's default settings.
SHORT = test_doctor or test_simulate or page1-overlap or calibrate_command or mixshare-serial
live-short: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -m live -k "$(VERSION) and ($(SHORT))"

# On a machine with a GPU: start SGLang on MODEL from an environment of its own (PYTHON_SGLANG is its interpreter),
# measure it for at most 8 minutes, then validate SCENARIO with what was fitted.
MODEL ?= Qwen/Qwen3-8B
PYTHON_SGLANG ?= .venv-sglang/bin/python
PROFILE ?= runs/gpu-profile.json
GPU_SERVER = 'backend={use: sglang, ready_timeout_s: 1800.0, launch: {model_path: "$(MODEL)", python: "$(PYTHON_SGLANG)"}}'
gpu-calibrate: $(VENV)/core.stamp
	@test -x $(PYTHON_SGLANG) || { echo 'No SGLang at $(PYTHON_SGLANG). Install it: $(PYTHON) -m venv .venv-sglang && .venv-sglang/bin/pip install ".[sglang]"' >&2; exit 3; }
	@$(PYTHON_SGLANG) -c 'import sys, torch; sys.exit(0 if torch.cuda.is_available() else "No GPU: the PyTorch of $(PYTHON_SGLANG) sees none on this machine.")'
	$(BIN)/inference-auctions calibrate $(SCENARIO) --set $(GPU_SERVER) --out $(PROFILE)
	$(BIN)/inference-auctions validate $(SCENARIO) --set $(GPU_SERVER) --profile $(PROFILE) --trials 1 --out $(PROFILE:.json=-fidelity.html)

# Sweeps on a Ray of one machine: installs Ray (hundreds of megabytes), then runs the tests that need it.
ray: $(VENV)/ray.stamp
	$(BIN)/python -m pytest -q -m slow tests/sim/test_sweep_ray.py

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/dev.stamp
	$(BIN)/python tests/benchmarks/run_all.py

# Other simulators on the same requests; they live in an environment of their own (about 800 MB).
bench-peers: $(VENV)/dev.stamp $(PEERS)/peers.stamp
	$(BIN)/python tests/benchmarks/peers.py $(PEERS)/bin/python

$(PEERS)/peers.stamp: requirements/peers.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --require-hashes -r requirements/peers.txt
	touch $@

schema: $(VENV)/dev.stamp
	$(BIN)/inference-auctions schema > scenarios/scenario.schema.json

# The pinned set, verified by hash; then the project itself, in place.
$(VENV)/core.stamp: requirements/core.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/core.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/build.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/core.stamp
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/dev.txt
	touch $@

$(VENV)/ray.stamp: requirements/ray.txt $(VENV)/dev.stamp
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements/ray.txt
	touch $@

# A few of SGLang's own files, unpacked from its wheel: the cache tests run them beside ours. Where the wheel cannot be
# had, those tests are skipped and say so.
oracle: $(VENV)/core.stamp
	$(BIN)/python tests/support/fetch_sglang_sources.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
