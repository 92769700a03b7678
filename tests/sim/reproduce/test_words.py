"""What the terminal says: the verdict in sentences, every claim in a table."""

from __future__ import annotations

from typing import Any

from reproduce_kit import record_of
from rich.console import Console

from sim.reproduce.claims_table import claims_table
from sim.reproduce.words import interval_words, reading


def test_the_reading_counts_and_names_claims() -> None:
    sentences = reading([record_of("fig3"), record_of("fig4")])
    assert sentences[0] == (
        "Of 5 claims, these many agree in every number: 2 (serial), 2 (window-4), 2 (queue)."
    )  # welfare of 80 to 100 is no match, TTFT 2.4 not 1.5, −5 % not −10 %
    assert sentences[1] == "Agree in every setting: both DFS orders alike (one cluster); never under the κ bound."
    assert sentences[-1].startswith("With 4 trials the intervals are so wide")
    assert not any(sentence.startswith("With") for sentence in reading([record_of("fig3", trials=5)]))


def verdicts(record: dict[str, Any], **by_key: tuple[str, str, str]) -> dict[str, Any]:
    """The record of Figure 3 with chosen verdicts (serial, window-4, queue) of its claims."""
    names = [setting["name"] for setting in record["settings"]]
    for place, chosen in enumerate(by_key.values()):
        record["claims"][place]["verdict"] = dict(zip(names, chosen, strict=True))
    return record


def test_a_claim_of_several_verdicts_is_named_with_all_of_them() -> None:
    sentences = reading(
        [
            verdicts(
                record_of("fig3", trials=5),
                welfare=("yes", "no", "no"),
                ttft=("no", "no", "cannot tell"),
                same=("yes", "yes, not resolved", "yes"),
            )
        ]
    )
    assert sentences == (
        "Of 3 claims, these many agree in every number: 2 (serial), 0 (window-4), 1 (queue); besides, in range but not "
        "resolved by these seeds: 0 (serial), 1 (window-4), 0 (queue).",
        "Differ by setting: one cluster's welfare is bid-sort's, +100 % (agrees: serial; does not agree: window-4, "
        "queue); one cluster's TTFT ratio 1.5 (cannot be told: queue; does not agree: serial, window-4); both DFS "
        "orders alike (one cluster) (agrees: serial, queue; in range but not resolved: window-4).",
    )


def test_what_is_not_resolved_is_never_plain_agreement() -> None:
    same = ("yes, not resolved",) * 3
    sentences = reading(
        [verdicts(record_of("fig3", trials=5), a=same, b=("no",) * 3, c=("cannot tell",) * 3)],
    )
    assert sentences[1:] == (
        "Do not agree in any setting: one cluster's TTFT ratio 1.5.",
        "Cannot be told from these seeds in any setting: both DFS orders alike (one cluster).",
        "In range but not resolved by these seeds, in every setting: one cluster's welfare is bid-sort's, +100 %.",
    )


def test_numbers_have_the_digits_their_interval_allows() -> None:
    exact = {"mean": 20.0, "low": 20.0, "high": 20.0, "n": 4}
    assert interval_words(exact, "%") == "20 % (± 0)"
    assert interval_words({"mean": 1234.6, "low": 1030.2, "high": 1439.0, "n": 3}, "ms") == "1,235 ms (1,030 … 1,439)"
    assert interval_words({"mean": 0.5, "low": 0.4, "high": 0.6, "n": 3}, "%", 100) == "50 % (40 … 60)"
    assert interval_words({"mean": 1.00113, "low": 1.0011, "high": 1.0012, "n": 3}, "×") == "1.001 × (1.001 … 1.001)"
    assert interval_words({"mean": None, "low": None, "high": None, "n": 0}, "%") == "not measured"


def test_the_table_has_every_claim_and_says_what_needs_no_engine() -> None:
    console = Console(width=160, record=True, file=None, force_terminal=False, quiet=True)
    with console.capture() as capture:
        console.quiet = False
        console.print(claims_table([record_of("fig2"), record_of("fig4")]))
    text = capture.get()
    assert "fig2 · at n = Q" in text
    assert "✗ −5 % (± 0)" in text
    assert text.count("= (no engine)") == 2 * 6
    assert "✓ agrees   (✓) in range, not resolved   ? cannot tell   ✗ does not agree" in text
