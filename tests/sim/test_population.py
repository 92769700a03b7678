from pathlib import Path

import numpy as np
import pytest
from scenario_kit import SMALL, load, refusal

from mechanism.prompts import Prompts
from sim.errors import ScenarioError
from sim.population import Population, check_pages, make_requests
from sim.requests import RequestTable
from sim.rng import stream
from sim.workloads.stars import Stars


def same(a: RequestTable, b: RequestTable) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("prompt_tokens", "output_tokens", "arrival_ns", "user", "value", "stated_bid", "cluster")
    ) and np.array_equal(a.prompts.symbols, b.prompts.symbols)


def table(folder: Path, text: str = SMALL, *overrides: str, trial: int = 0) -> RequestTable:
    return make_requests(load(folder, text, *overrides), trial)[0]


def jsonl(folder: Path, *rows: str) -> str:
    (folder / "w.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return SMALL.replace("{kind: stars, num_requests: 64}", "{kind: jsonl, path: w.jsonl}")


def test_a_trial_is_the_workload_with_owners_values_and_arrivals_from_streams_of_their_own(tmp_path: Path) -> None:
    scenario = load(tmp_path, SMALL, "seed=5", "arrivals={kind: poisson, request_rate: 2}")
    requests, demand = make_requests(scenario, 3)
    expected = Stars(num_requests=64).generate(lambda name: stream(5, 3, name))
    np.testing.assert_array_equal(requests.prompts.symbols, expected.prompts.symbols)
    assert requests.request_id == tuple(map(str, range(64)))
    gaps = stream(5, 3, "arrivals").standard_exponential(64) / 2
    np.testing.assert_array_equal(requests.arrival_ns, np.rint(np.cumsum(gaps) * 1e9))
    np.testing.assert_array_equal(requests.stated_bid, requests.value)
    np.testing.assert_array_equal(requests.prompt_tokens, np.diff(requests.prompts.indptr))
    assert requests.prompts is demand.prompts


@pytest.mark.parametrize(
    "override",
    [
        "schedule=[bid-sort]", "payment=free", "trials=4", "batching.size=2", "dispatch={in_flight: null}",
        "backend.kv_tokens=7", "name=other", "slo.ttft_ms=5",
    ],
)  # fmt: skip
def test_no_mechanism_and_no_server_moves_the_requests(tmp_path: Path, override: str) -> None:
    assert same(table(tmp_path), table(tmp_path, SMALL, override))


def test_seed_and_trial_do(tmp_path: Path) -> None:
    first = table(tmp_path)
    assert same(first, table(tmp_path))
    assert not same(first, table(tmp_path, trial=1))
    assert not same(first, table(tmp_path, SMALL, "seed=1"))


@pytest.mark.parametrize(
    ("override", "moved"),
    [
        ("users={kind: random, count: 3}", "user"),
        ("values={kind: uniform}", "value"),
        ("arrivals={kind: poisson, request_rate: 3}", "arrival_ns"),
        ("workload.output_tokens={kind: uniform, low: 1, high: 9}", "output_tokens"),
    ],
)
def test_a_block_moves_only_its_own_column(tmp_path: Path, override: str, moved: str) -> None:
    before, after = table(tmp_path), table(tmp_path, SMALL, override)
    columns = {"user", "value", "arrival_ns", "output_tokens", "prompt_tokens", "cluster"}
    different = {name for name in columns if not np.array_equal(getattr(before, name), getattr(after, name))}
    assert different == {moved}


def test_requests_are_sorted_by_arrival_ties_in_file_order_with_a_warning(tmp_path: Path) -> None:
    rows = [
        f'{{"bid": {i}, "tokens": [{i}, {i}], "arrival_s": {t}, "session": "s{i}", "output_tokens": {i + 1}}}'
        for i, t in enumerate([3, 1, 2, 1, 3])
    ]
    requests, demand = make_requests(load(tmp_path, jsonl(tmp_path, *rows)), 0)
    assert requests.request_id == ("2", "4", "3", "1", "5")
    assert (requests.arrival_ns / 1e9).tolist() == [1, 1, 2, 3, 3]
    assert requests.value.tolist() == requests.stated_bid.tolist() == [1, 3, 2, 0, 4]
    assert requests.prompts.symbols.tolist() == [1, 1, 3, 3, 2, 2, 0, 0, 4, 4]
    assert requests.output_tokens.tolist() == [2, 4, 3, 1, 5]
    assert [requests.user_names[u] for u in requests.user] == ["2", "4", "3", "1", "5"]
    assert requests.session == ("s1", "s3", "s2", "s0", "s4")
    assert demand.warnings == ("arrival times were not sorted: requests were sorted by them, ties in file order",)


def test_saturated_arrivals_ignore_recorded_times_and_keep_file_order(tmp_path: Path) -> None:
    rows = ['{"bid": 1, "tokens": [1], "arrival_s": 2}', '{"bid": 2, "tokens": [2], "arrival_s": 1}']
    requests, demand = make_requests(load(tmp_path, jsonl(tmp_path, *rows), "arrivals=saturated"), 0)
    assert requests.request_id == ("1", "2")
    assert requests.arrival_ns.tolist() == [0, 0]
    assert demand.warnings == ()


def test_recorded_bids_may_differ_from_values(tmp_path: Path) -> None:
    text = jsonl(tmp_path, '{"bid": 1, "value": 3, "tokens": [1]}', '{"bid": 2, "tokens": [1]}')
    requests = table(tmp_path, text)
    assert (requests.value.tolist(), requests.stated_bid.tolist()) == ([3, 2], [1, 2])
    drawn = table(tmp_path, text, "values=pareto")
    assert drawn.stated_bid.tolist() == [1, 2]


def test_only_one_cluster_has_value(tmp_path: Path) -> None:
    everyone, one = table(tmp_path), table(tmp_path, SMALL, "values={kind: pareto, only_cluster: 1}")
    np.testing.assert_array_equal(one.value, np.where(one.cluster == 1, everyone.value, 0.0))
    assert (one.value > 0).sum() == 16
    scenario = load(tmp_path, SMALL, "values={kind: pareto, only_cluster: 40}")
    with pytest.raises(ScenarioError, match=r"values\.only_cluster: found 40; expected a cluster from 0 to 33"):
        make_requests(scenario, 0)


@pytest.mark.parametrize("kind", ["jsonl", "mooncake"])
@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", "\ufeff\r\n \r\n"])
def test_c15_an_empty_file_is_refused(tmp_path: Path, kind: str, content: str) -> None:
    (tmp_path / "w.jsonl").write_text(content, encoding="utf-8")
    text = SMALL.replace("stars, num_requests: 64", f"{kind}, path: w.jsonl")
    with pytest.raises(ScenarioError, match=r"found no requests; expected at least one") as caught:
        make_requests(load(tmp_path, text), 0)
    assert caught.value.exit_code == 2


def test_c15_a_file_of_nothing_but_empty_prompts_says_why(tmp_path: Path) -> None:
    (tmp_path / "w.jsonl").write_text('{"timestamp": 0, "input_length": 0, "output_length": 1, "hash_ids": []}\n')
    text = SMALL.replace("stars, num_requests: 64", "mooncake, path: w.jsonl")
    with pytest.raises(ScenarioError, match=r"workload: found no requests .*empty prompt.*; expected at least one"):
        make_requests(load(tmp_path, text), 0)


def blocks(*lengths: list[int]) -> Prompts:
    flat = [length for row in lengths for length in row]
    indptr = np.cumsum([0, *(len(row) for row in lengths)])
    return Prompts(np.arange(len(flat), dtype=np.int32), indptr, np.array(flat, dtype=np.int32))


@pytest.mark.parametrize(
    ("prompts", "page", "fine"),
    [
        (blocks([512, 512, 7], [3], []), 16, True),
        (blocks([512, 512, 7], [24, 8]), 16, False),
        (blocks([24, 8]), 8, True),
        (blocks([24, 8]), 1, True),
        (blocks([8, 24]), 16, False),
        (blocks([], [16, 1], []), 16, True),
        (Prompts.from_lists([[1, 2, 3]]), 16, True),
    ],
)
def test_pages_divide_every_block_but_the_last(prompts: Prompts, page: int, fine: bool) -> None:
    if fine:
        check_pages(prompts, page)
        return
    with pytest.raises(ScenarioError, match=f"backend.page_tokens: found {page} over a block of"):
        check_pages(prompts, page)


def test_pages_are_checked_when_the_workload_is_read(tmp_path: Path) -> None:
    row = '{"timestamp": 0, "input_length": 513, "output_length": 1, "hash_ids": [1, 2]}\n'
    (tmp_path / "w.jsonl").write_text(row)
    text = SMALL.replace("stars, num_requests: 64", "mooncake, path: w.jsonl")
    assert len(table(tmp_path, text, "backend.page_tokens=16")) == 1
    with pytest.raises(ScenarioError, match=r"backend\.page_tokens: found 24 over a block of 512 tokens"):
        table(tmp_path, text, "backend.page_tokens=24")
    assert refusal(tmp_path, text, "backend.page_tokens=0").where == "--set backend.page_tokens"


def test_a_workload_draws_from_streams_of_its_own(tmp_path: Path) -> None:
    for kind in ("stars", "chains", "trees"):
        names: list[str] = []
        workload = load(tmp_path, SMALL, f"workload={kind}").workload
        workload.generate(lambda name, names=names: (names.append(name), stream(0, 0, name))[1])  # type: ignore[misc]
        assert names
        assert all(name.startswith("workload-") for name in names)


@pytest.mark.parametrize(("outputs", "reads"), [("3", 1), ("{kind: uniform, low: 2, high: 9}", 3)])
def test_a_file_is_read_once_where_nothing_is_drawn_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outputs: str, reads: int
) -> None:
    from sim.workloads import jsonl as module

    rows = [f'{{"id": "{name}", "bid": 1.0, "tokens": [1, {k}]}}' for k, name in enumerate("abcd")]
    text = jsonl(tmp_path, *rows).replace("w.jsonl}", f"w.jsonl, output_tokens: {outputs}}}")
    scenario = load(tmp_path, text, "values={kind: pareto}")
    expected = [make_requests(scenario, trial)[0] for trial in range(3)]
    opened: list[object] = []
    real = module.read_batch
    monkeypatch.setattr(module, "read_batch", lambda *given: (opened.append(given), real(*given))[1])
    population = Population(scenario)
    found = [population.requests(trial)[0] for trial in range(3)]
    assert len(opened) == reads
    assert all(map(same, found, expected))
    assert not np.array_equal(found[0].value, found[1].value)
