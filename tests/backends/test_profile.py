import json
from pathlib import Path
from typing import Any

import pytest

from backends._profile import FOLDER, load_profile, profile_names
from backends.simulated import Simulated
from sim.errors import ScenarioError

POINTS = Path(__file__).resolve().parents[3] / "shared" / "profiles" / "random_points.csv"


def test_eight_profiles_ship_each_with_provenance_and_error() -> None:
    models = ("qwen3-32b", "qwen2.5-32b", "qwen3-8b", "llama-3.1-8b")
    assert set(profile_names()) == {f"{gpu}-{model}" for gpu in ("h100", "h200") for model in models}
    for name in profile_names():
        card = load_profile(name).card
        assert card["name"] == name
        assert card["provenance"]["method"] == "derived from tables, not from a live server"
        assert 0 < card["held_out_error_percent"]["prefill"]["mean"] < 5


@pytest.mark.skipif(not POINTS.exists(), reason="the measured points are not beside the repository")
@pytest.mark.parametrize("name", profile_names())
def test_a_profile_predicts_the_points_it_was_fitted_to(name: str) -> None:
    profile = load_profile(name)
    system, model = profile.card["accelerator"].split()[1].lower() + "_sxm", profile.card["model"]
    errors: dict[str, list[float]] = {"prefill": [], "decode": []}
    for line in POINTS.read_text().splitlines()[1:]:
        where, server, which, kind, a, b, ms = line.split(",")
        if server != "sglang" or where != system or which != model or kind not in errors:
            continue
        first, second = int(float(a)), int(float(b))
        latency = profile.latency
        if kind == "prefill":
            predicted = latency.prefill_ns(first, first * (second + first / 2)) / 1e6 - latency.prefill_overhead_ms
        else:
            predicted = latency.decode_ns(first, first * second) / 1e6 - latency.decode_overhead_ms
        errors[kind].append(abs(predicted / float(ms) - 1))
    assert len(errors["prefill"]) > 50
    assert sum(errors["prefill"]) / len(errors["prefill"]) < 0.03
    assert sum(errors["decode"]) / len(errors["decode"]) < 0.02


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"weights_ms": float("nan")}, "weights_ms"),
        ({"token_ms": float("inf")}, "token_ms"),
        ({"decode_base_ms": -1}, "decode_base_ms"),
        ({"knee": 0.5}, "knee"),
        ({"context_ms": True}, "context_ms"),
        ({"attention_ms": "3"}, "attention_ms"),
        ({"wieghts_ms": 1.0}, 'Did you mean "weights_ms"'),
    ],
)
def test_a_bad_coefficient_is_refused_by_name(tmp_path: Path, change: dict[str, Any], key: str) -> None:
    card = json.loads((FOLDER / "h100-qwen3-32b.json").read_text())
    card["latency"] |= change
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(card))
    with pytest.raises(ScenarioError, match=key):
        Simulated(profile=str(path))


@pytest.mark.parametrize("capacity", [0, -5, None, 1.5, True])
def test_a_capacity_that_is_none_has_no_fallback(tmp_path: Path, capacity: object) -> None:
    card = json.loads((FOLDER / "h100-qwen3-32b.json").read_text()) | {"kv_tokens": capacity}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(card))
    with pytest.raises(ScenarioError, match="max_total_num_tokens"):
        Simulated(profile=str(path))


def test_kv_tokens_absent_is_the_profiles_and_null_is_unbounded() -> None:
    assert Simulated().limits().kv_tokens == 23000
    assert Simulated(kv_tokens=None).limits().kv_tokens is None
    assert Simulated(kv_tokens=512).limits().kv_tokens == 512


def test_the_request_overhead_may_be_absent() -> None:
    assert load_profile("h100-qwen3-32b").latency.request_overhead_ms == 0.0
    assert load_profile("h100-qwen3-32b").latency.request_ns == 0


def test_a_wrong_profile_is_named_once_and_by_its_option(tmp_path: Path) -> None:
    from scenario_kit import SMALL

    from sim.scenario import load_scenario

    path = tmp_path / "s.yaml"
    path.write_text(SMALL)
    broken = tmp_path / "p.json"
    broken.write_text('{"latency": {"wights_ms": 1}, "kv_tokens": 9}')
    for name in ("nope", str(broken)):
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path, {"simulated": Simulated}, [f"backend.profile={name}"])
        assert caught.value.where == "--set backend.profile"
        assert name in caught.value.found
