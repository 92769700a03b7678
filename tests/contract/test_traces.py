"""What every trace format promises beyond what all workloads do; and that each has a scenario that runs."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from ruamel.yaml import YAML
from trace_kit import SHARED, prompts_of, read

from backends.simulated import Simulated
from sim import plugins
from sim.describe import describe
from sim.errors import ScenarioError
from sim.prefix_sharing import shared_tokens
from sim.requests import Demand
from sim.scenario import load_scenario
from sim.simulate import run
from sim.workloads._trace import TraceOptions
from sim.workloads.table import TableColumns

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = Path(__file__).resolve().parent / "workload_examples"
FORMATS = [
    name for name in plugins.available("sim.workloads") if issubclass(plugins.load("sim.workloads", name), TraceOptions)
]
SCENARIOS = sorted((ROOT / "scenarios" / "traces").glob("*.yaml"))


def example(kind: str, seed: int = 0) -> Demand:
    """The requests of the contract's small file."""
    block = YAML(typ="safe", pure=True).load((EXAMPLES / f"{kind}.yaml").read_text(encoding="utf-8"))
    if "columns" in block:
        block["columns"] = TableColumns(**block["columns"])
    return read(kind, EXAMPLES / block.pop("path"), seed, **block)


def test_the_formats_of_the_design_are_there() -> None:
    promised = {"mooncake", "azure", "ragpulse", "weka", "burstgpt", "sharegpt-ids", "splitwise", "servegen", "aiperf"}
    assert promised <= set(FORMATS)


@pytest.mark.parametrize("kind", FORMATS)
def test_requests_are_sorted_and_whole(kind: str) -> None:
    demand = example(kind)
    assert demand.arrival_ns is None or (np.diff(demand.arrival_ns) >= 0).all()
    assert demand.request_id is not None
    assert len(set(demand.request_id)) == len(demand.prompts) > 0
    assert (demand.prompts.num_tokens > 0).all()
    assert (demand.output_tokens > 0).all()
    assert demand.refused is None


@pytest.mark.parametrize("kind", FORMATS)
def test_private_text_is_said_in_one_session_only(kind: str) -> None:
    demand, speakers = example(kind), defaultdict(set)
    for cluster, prompt in zip(demand.cluster.tolist(), prompts_of(demand), strict=True):
        for identity, _ in prompt:
            speakers[identity].add(cluster)
    assert all(len(clusters) == 1 for identity, clusters in speakers.items() if identity < 0)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_seed_does_not_change_what_was_recorded(kind: str) -> None:
    one, other = example(kind), example(kind, seed=1)
    assert one.request_id == other.request_id
    assert prompts_of(one) == prompts_of(other)
    assert (one.arrival_ns is None) == (other.arrival_ns is None)
    assert one.arrival_ns is None or np.array_equal(one.arrival_ns, other.arrival_ns)


def test_a_second_file_shares_nothing_with_the_first(tmp_path: Path) -> None:
    alone = example("weka")
    document = json.loads((EXAMPLES / "weka.json").read_text(encoding="utf-8"))
    for name in ("x", "y"):
        (tmp_path / f"{name}.json").write_text(json.dumps({**document, "id": name}))
    both = read("weka", tmp_path)
    assert len(both.prompts) == 2 * len(alone.prompts)
    assert shared_tokens(both.prompts).sum() == 2 * shared_tokens(alone.prompts).sum()


def test_a_packed_file_reads_like_a_plain_one(tmp_path: Path) -> None:

    packed = tmp_path / "azure.csv.gz"
    packed.write_bytes(gzip.compress((EXAMPLES / "azure.csv").read_bytes()))
    assert read("azure", packed).arrival_ns.tolist() == example("azure").arrival_ns.tolist()  # type: ignore[union-attr]


def test_every_format_has_a_scenario() -> None:
    assert {path.stem for path in SCENARIOS} | {"mooncake"} == set(FORMATS)
    assert (ROOT / "scenarios" / "mooncake.yaml").is_file()


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_is_what_the_schema_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../scenario.schema.json\n#\n# ")
    schema = json.loads((path.parent.parent / "scenario.schema.json").read_text(encoding="utf-8"))
    block = YAML(typ="safe", pure=True).load(text)
    jsonschema.validate(block, schema)
    assert block["workload"]["kind"] == block["name"] == path.stem


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_runs(path: Path, tmp_path: Path) -> None:
    options = ["workload.num_requests=24", "workload.start_s=0"]
    if path.stem in {"burstgpt", "bailian"}:  # their files are not in the shared data: the contract's examples do
        (file,) = EXAMPLES.glob(f"{path.stem}.[cj]s*")
        options.append(f"workload.path={shutil.copy(file, tmp_path)}")
    elif not SHARED.is_dir():
        pytest.skip("needs the traces in ../shared/data")
    scenario = load_scenario(path, {"simulated": Simulated}, options)
    summary = run(scenario, scenario.backend.config, records=False).summary["schedules"]
    for metrics in summary.values():
        assert set(metrics["statuses"]) == {"ok"}
        assert 0 < sum(metrics["statuses"].values()) <= 24


def test_a_missing_trace_is_named_with_its_line() -> None:
    if (SHARED / "burstgpt").is_dir():
        pytest.skip("the trace is there")
    with pytest.raises(ScenarioError, match=r"burstgpt\.yaml:\d+: workload\.path: found .*; there is none at"):
        load_scenario(ROOT / "scenarios" / "traces" / "burstgpt.yaml", {"simulated": Simulated})


@pytest.mark.parametrize("content", ["", "\r\n \r\n"])
@pytest.mark.parametrize("kind", sorted(set(FORMATS) - {"weka", "ragpulse"}))
def test_c15_a_file_without_records_has_no_requests(tmp_path: Path, kind: str, content: str) -> None:
    (file,) = (path for path in EXAMPLES.glob(f"{kind}.*") if path.suffix in {".csv", ".jsonl"})
    header = file.read_text(encoding="utf-8").splitlines()[0] if file.suffix == ".csv" else ""
    path = tmp_path / file.name
    path.write_text(header + content, encoding="utf-8-sig" if content else "utf-8")
    columns = {"columns": TableColumns(prompt_tokens="in", output_tokens="out"), "num_requests": 3}
    demand = read(kind, path, **(columns if kind == "table" else {"num_requests": 3}))
    assert len(demand.prompts) == 0
    with pytest.raises(ScenarioError, match="no requests"):
        describe(demand, source=path.name, kind=kind)
