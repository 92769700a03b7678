"""Every row of the table of claims has a claim, and chosen measurements give the verdicts they should."""

from __future__ import annotations

from typing import Any

import pytest
from reproduce_kit import AS_STATED, pacing_summary, record_of, summary

from sim.reproduce.claims_market import CLAIMS
from sim.reproduce.earlier import EARLIER
from sim.reproduce.experiments import BATCH_SIZES, FIGURES, PACING, QUEUE, SHAPES, one_cluster, stars

WELFARE = {name: row[0] for name, row in AS_STATED.items()}


def claim(record: dict[str, Any], key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in record["claims"] if each["key"] == key)
    return found


def test_every_figure_has_claims_with_names_of_their_own() -> None:
    every = [each for claims in CLAIMS.values() for each in claims]
    assert list(CLAIMS) == list(FIGURES)
    assert len({each.key for each in every}) == len({each.name for each in every}) == len(every)
    assert all(each.figure == figure for figure, claims in CLAIMS.items() for each in claims)
    assert all(each.rule and each.assumption and each.source and each.parts for each in every)


@pytest.mark.parametrize(
    ("figure", "key"),
    [
        ("fig1", "lead-over-n"),
        ("fig1", "lead-over-sharing"),
        ("fig1", "slower-until-rho-1"),
        ("fig1", "fig1-same"),
        ("fig2", "gap"),
        ("fig2", "bid-sort-over-random"),
        ("fig2", "ttft-over-shapes"),
        ("fig2", "fig2-same"),
        ("fig2", "hit-rate-lost"),
        ("fig3", "one-cluster-ttft"),
        ("fig3", "one-cluster-welfare"),
        ("fig3", "fig3-same"),
        ("fig4", "autobidding"),
        ("fig4", "kappa-bound"),
    ],
)
def test_the_rows_of_the_table_of_claims_are_there(figure: str, key: str) -> None:
    found = claim(record_of(figure), key)
    assert set(found["verdict"]) == {"serial", "window-4", "queue"}
    assert all(set(part["settings"]) == {"serial", "window-4", "queue"} for part in found["parts"])


def test_a_gap_of_a_fifth_agrees_and_one_of_a_sixth_does_not() -> None:
    parts = claim(record_of("fig2"), "gap")["parts"]
    assert [part["settings"]["queue"]["mean"] for part in parts] == pytest.approx([20.0] * 5)
    sixth = {SHAPES["stars"]: summary(dfs_bid=(84.0, *AS_STATED["dfs-bid"][1:]))}
    found = claim(record_of("fig2", sixth), "gap")
    assert found["parts"][0]["settings"]["serial"]["verdict"] == "no"
    assert found["verdict"]["serial"] == "no"
    assert found["parts"][1]["settings"]["serial"]["verdict"] == "yes"


def test_a_gap_of_more_than_half_in_one_trial_breaks_the_proposition() -> None:
    torn = {SHAPES["long trees"]: summary(spread=0.5)}  # dfs-bid: 120, 40, 120, 40 of 100
    part = claim(record_of("fig2", torn), "gap")["parts"][-1]
    found = part["settings"]["serial"]
    assert (found["verdict"], found["mean"], found["at"]) == ("no", pytest.approx(60.0), "long trees")


def test_the_lead_is_of_welfare_not_of_points_over_random() -> None:
    part = claim(record_of("fig1"), "lead-over-n")["parts"][1]
    assert part["settings"]["serial"]["mean"] == pytest.approx(100 * (80 / 70 - 1))


def test_short_trees_are_judged_by_the_20_percent_the_paper_states_of_them() -> None:
    like = {SHAPES[name]: summary(dfs_bid=(78.6, *AS_STATED["dfs-bid"][1:])) for name in ("short trees", "chains")}
    chains, short = claim(record_of("fig2", like), "gap")["parts"][1:3]
    assert [each["settings"]["serial"]["mean"] for each in (chains, short)] == pytest.approx([21.4] * 2)
    assert [each["settings"]["serial"]["verdict"] for each in (chains, short)] == ["yes", "no"]


def test_bid_sort_has_to_lose_hits_where_the_cache_is_too_small() -> None:
    parts = claim(record_of("fig2"), "hit-rate-lost")["parts"]  # 10 % against 50 %
    assert [part["label"].rpartition(", ")[2] for part in parts] == ["stars", "chains", "long trees"]
    assert [part["settings"]["serial"]["mean"] for part in parts] == pytest.approx([-40.0] * 3)
    like = {SHAPES["chains"]: summary(bid_sort=(100.0, 50.0, 0.41, 24_000.0, 100.0))}
    parts = claim(record_of("fig2", like), "hit-rate-lost")["parts"]
    assert [part["settings"]["serial"]["verdict"] for part in parts] == ["yes", "no", "yes"]


def test_at_rho_1_any_better_ttft_agrees_and_welfare_has_a_threshold_of_its_own() -> None:
    tied = stars(QUEUE, correlation=1.0)
    for welfare, verdict in ((91.0, "yes"), (89.0, "no")):
        like = {tied: summary(dfs_bid=(welfare, *AS_STATED["dfs-bid"][1:]))}
        parts = claim(record_of("fig1", like), "slower-until-rho-1")["parts"]
        assert parts[-2]["settings"]["serial"]["verdict"] == "yes"  # 2.4 times as slow
        assert (parts[-1]["settings"]["serial"]["verdict"], parts[-1]["range"]["basis"]) == (verdict, "our threshold")


def test_what_an_earlier_simulation_gave_stands_beside_ours() -> None:
    parts = {part["label"]: part for part in claim(record_of("fig1"), "lead-over-n")["parts"]}
    assert parts["lead, n = Q"]["earlier"]["outside"] == []  # 80 / 70: +14.3 %
    assert parts["lead, n = 32"]["earlier"]["outside"] == ["serial", "window-4", "queue"]


def test_every_row_of_the_earlier_simulation_is_a_row_of_ours() -> None:
    ours = {(each.key, part.label) for claims in CLAIMS.values() for each in claims for part in each.parts}
    assert set(EARLIER) <= ours


def test_ratios_of_ttft_are_judged_by_shape() -> None:
    parts = claim(record_of("fig2"), "ttft-over-shapes")["parts"]
    assert [part["settings"]["serial"]["verdict"] for part in parts] == ["yes", "no", "no"]  # all are 2.4


def test_one_cluster_at_every_batch_size_shows_the_worst() -> None:
    like = {one_cluster(n): summary(dfs_bid=(100.0, 99.0, 0.5, 1e4, 100.0)) for n in BATCH_SIZES}
    assert claim(record_of("fig3", like), "one-cluster-welfare")["verdict"]["serial"] == "yes"
    like[one_cluster(128)] = summary(dfs_bid=(97.0, 99.0, 0.5, 1e4, 100.0))
    found = claim(record_of("fig3", like), "one-cluster-welfare")["parts"][0]["settings"]["serial"]
    assert (found["verdict"], found["at"], found["mean"]) == ("no", "n = 128", pytest.approx(3.0))


def test_different_ttfts_of_the_two_dfs_orders_are_found_anywhere() -> None:
    slower = {stars(QUEUE, correlation=0.5): summary(dfs_uniform=(70.0, 5.0, 0.5, 11_000.0, 100.0))}
    found = claim(record_of("fig1", slower), "fig1-same")["parts"][1]["settings"]["queue"]
    assert (found["verdict"], found["at"]) == ("no", "ρ = 0.5")
    assert found["mean"] == pytest.approx(10 / 11)


def test_budgets_have_one_number_for_all_settings_and_a_broken_bound_is_told() -> None:
    record = record_of("fig4", {PACING["chains"]: pacing_summary(-9.0, violations=1)})
    parts = claim(record, "autobidding")["parts"]
    assert [part["settings"]["queue"]["verdict"] for part in parts] == ["no", "yes", "no"]
    assert parts[0]["settings"]["serial"] == parts[0]["settings"]["window-4"] == parts[0]["settings"]["queue"]
    bounds = claim(record, "kappa-bound")["parts"]
    assert [part["settings"]["serial"]["verdict"] for part in bounds] == ["yes", "no", "yes"]


def test_run_times_of_exact_powers() -> None:
    record = record_of("runtime")
    beside, serving, growth = (claim(record, key)["parts"] for key in ("beside-the-tree", "negligible", "quasilinear"))
    assert beside[0]["settings"]["serial"]["mean"] == pytest.approx(0.25)
    # 1,024 × (4 + 0.5 + 0.5) µs of 100 s, in %
    assert serving[0]["settings"]["queue"]["mean"] == pytest.approx(100 * 1024 * 5e-6 / 100)
    assert [part["settings"]["serial"]["mean"] for part in growth] == pytest.approx([1.0, 2.0])
    assert all(each["verdict"]["serial"] == "yes" for each in record["claims"])
