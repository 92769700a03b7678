# Every target sets itself up: Python 3.11, make and a package registry are all it takes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCENARIO ?= scenarios/mixshare-50.yaml

.PHONY: demo test slow live lint bench schema oracle clean

demo: $(VENV)/core.stamp
	$(BIN)/inference-auctions simulate $(SCENARIO)

test: $(VENV)/dev.stamp oracle
	$(BIN)/python -m pytest -q

slow: $(VENV)/dev.stamp oracle
	$(BIN)/python -m pytest -q -m slow

live: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -m live

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/dev.stamp
	$(BIN)/python tests/benchmarks/run_all.py

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

# A few of SGLang's own files, unpacked from its wheel: the cache tests run them beside ours. Where the wheel cannot be
# had, those tests are skipped and say so.
oracle: $(VENV)/core.stamp
	$(BIN)/python tests/support/fetch_sglang_sources.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
