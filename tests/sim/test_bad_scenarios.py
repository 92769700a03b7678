"""CASES.md D21 and D22: numbers that are none, and YAML that is not what it seems."""

from pathlib import Path

import pytest
from scenario_kit import SMALL, load, refusal

NUMERIC = [
    "seed", "trials", "warmup_s", "cooldown_s", "workload.num_requests", "workload.sharing", "workload.cluster_size",
    "workload.prefix_tokens", "workload.output_tokens", "values.shape", "values.offset", "values.correlation",
    "values.only_cluster", "arrivals.request_rate", "arrivals.burstiness", "batching.size", "batching.max_wait_s",
    "dispatch.in_flight", "slo.ttft_ms", "slo.tpot_ms", "slo.e2el_ms", "backend.kv_tokens", "backend.page_tokens",
]  # fmt: skip
OPEN = SMALL + (
    "values: {kind: pareto}\narrivals: {kind: gamma, request_rate: 1}\nbatching: {}\ndispatch: {}\nslo: {}\n"
)
ZERO_IS_FINE = {
    "seed", "warmup_s", "cooldown_s", "workload.sharing", "values.offset", "values.correlation", "values.only_cluster",
    "batching.max_wait_s",
}  # fmt: skip


@pytest.mark.parametrize("key", NUMERIC)
@pytest.mark.parametrize("bad", [".nan", "-.inf", "-1", "true", "'3'", "[]", "abc"])
def test_what_is_no_number_is_refused_by_its_key(tmp_path: Path, key: str, bad: str) -> None:
    error = refusal(tmp_path, OPEN, f"{key}={bad}")
    assert error.where == f"--set {key}"


@pytest.mark.parametrize("key", [key for key in NUMERIC if key != "arrivals.request_rate"])
def test_only_the_request_rate_may_be_infinite(tmp_path: Path, key: str) -> None:
    assert refusal(tmp_path, OPEN, f"{key}=.inf").where == f"--set {key}"
    assert load(tmp_path, OPEN, "arrivals.request_rate=.inf").arrivals.request_rate == float("inf")  # type: ignore[union-attr]


@pytest.mark.parametrize("key", [key for key in NUMERIC if key not in ZERO_IS_FINE])
def test_zero_is_refused_where_it_means_nothing(tmp_path: Path, key: str) -> None:
    assert refusal(tmp_path, OPEN, f"{key}=0").where == f"--set {key}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALL + "alpha: 1\n", ':5: alpha: found the unknown key "alpha"; expected a known key. Known: arrivals, '),
        (
            SMALL + "wrkload: {}\n",
            ':5: wrkload: found the unknown key "wrkload"; expected a known key. Did you mean "work',
        ),
        (SMALL + "seed: 1\ntrials: 2\nseed: 3\n", ":7: seed: found the key on lines 5 and 7; expected each key once."),
        (SMALL + "bidding: no\n", ':5: bidding: found "no"; expected a name in mechanism.bidding.'),
        (
            SMALL + "arrivals: {kind: poisson, requst_rate: 3}\n",
            ':5: arrivals.requst_rate: found the unknown key "requst_rate"; expected a known key. '
            'Did you mean "request_rate"?',
        ),
        (
            SMALL + "arrivals: {kind: poison}\n",
            ':5: arrivals.kind: found "poison"; expected a known name. Did you mean "p',
        ),
        (SMALL + "arrivals: poisson\n", ':5: arrivals.request_rate: found nothing; expected the key "request_rate".'),
        (SMALL + "arrivals: {request_rate: 3}\n", ":5: arrivals.kind: found nothing; expected a name under kind."),
        (SMALL + "arrivals: {kind: 3}\n", ":5: arrivals.kind: found 3; expected a name under kind."),
        (SMALL + "arrivals: [saturated]\n", ':5: arrivals: found ["saturated"]; expected a name, or a block'),
        (
            SMALL + "users: {kind: from-trace}\n",
            ":5: users: found from-trace; expected another kind: the workload records",
        ),
        (
            SMALL + "arrivals: trace\n",
            ":5: arrivals: found trace; expected another kind: the workload records no arrivals",
        ),
        (SMALL + "batching: 3\n", ":5: batching: found 3; expected a block of keys."),
        (SMALL + "dispatch:\n", ":5: dispatch: found null; expected a block of keys."),
        (SMALL + "warmup_s: 3\n", ":5: warmup_s: found 3; expected 0: saturated arrivals have no clock to cut by."),
        (SMALL + "cooldown_s: 3\n", ":5: cooldown_s: found 3; expected 0: saturated"),
        (SMALL.replace("small", "' '"), ":1: name: found an empty name; expected a name for the experiment."),
        (SMALL.replace("small", "no"), ""),
        (SMALL.replace("small", "3"), ":1: name: found 3; expected a valid string."),
        (SMALL.replace("kind: stars, num", "num"), ":2: workload.kind: found nothing; expected a name under kind."),
        (SMALL.replace("workload", "# "), ":1: workload: found null; expected a name, or a block with the key kind."),
        (SMALL.replace("backend", "# "), ":1: backend: found null; expected a name, or a block with the key use."),
        (SMALL.replace("schedule", "# "), ":1: schedule: found nothing; expected a schedule such as dfs-bid"),
        (
            SMALL.replace("{use: simulated}", "sglan"),
            ':4: backend: found "sglan"; expected a known name. Known: simulated',
        ),
        (
            SMALL.replace("num_requests: 64", "question_tokens: [80, 30]"),
            ":2: workload.question_tokens: found [80, 30]; expected [low, high] with low ≤ high.",
        ),
        (
            SMALL.replace("stars, num_requests: 64", "jsonl, path: none.jsonl"),
            ':2: workload.path: found "none.jsonl"; expected a file; there is none at ',
        ),
        (
            SMALL.replace("stars, num_requests: 64", "'sim.scenario:load_scenario'"),
            "expected a class named load_scenario in sim.scenario",
        ),
        (SMALL.replace("stars, num_requests: 64", "'sim.rng:stream'"), ":2: workload.kind: found"),
        (
            SMALL.replace("[dfs-bid,", "['sim.users:PerRequest',"),
            ":3: schedule.0: found PerRequest, which has no order; expected a class made for schedule.",
        ),
        (
            SMALL + "bidding: 'mechanism.pricing.vcg:Vcg'\n",
            ":5: bidding: found Vcg, which has no start; expected a class made for bidding.",
        ),
        (
            SMALL + "payment: {use: 'mechanism.bidding.truthful:Truthful'}\n",
            ":5: payment: found Truthful, which has no charge; expected a class made for payment.",
        ),
        (
            SMALL.replace("stars, num_requests: 64", "'pathlib:Path'"),
            "expected a frozen dataclass, whose fields are the",
        ),
    ],
)
def test_the_message_names_line_key_finding_expectation_and_suggestion(tmp_path: Path, text: str, message: str) -> None:
    if not message:  # `no` is a word, not false
        assert load(tmp_path, text).name == "no"
        return
    assert message in str(refusal(tmp_path, text))


def test_small_numbers_may_be_written_with_an_exponent(tmp_path: Path) -> None:
    assert load(tmp_path, OPEN, "batching.max_wait_s=1e-3").batching.max_wait_s == 0.001


def test_a_name_without_a_file_suggests_a_shipped_scenario() -> None:
    from sim.errors import ScenarioError
    from sim.scenario import load_scenario

    with pytest.raises(ScenarioError, match='Did you mean "mixshare-50"'):
        load_scenario("mixshare-5", {})
    with pytest.raises(ScenarioError, match="No such file"):
        load_scenario("no/such.yaml", {})
