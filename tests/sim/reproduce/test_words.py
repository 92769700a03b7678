"""What the terminal says: the verdict in sentences, every claim in a table."""

from __future__ import annotations

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
    assert "✓ agrees   ? cannot tell   ✗ does not agree" in text
