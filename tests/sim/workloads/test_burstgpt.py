"""BurstGPT: failed calls, spaces in names, whole seconds."""

from pathlib import Path

from trace_kit import arrivals_s, csv_of, read, refusal

HEADER = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
LINES = (
    "5,ChatGPT,472,18,490,Conversation log",
    "1106,ChatGPT,0,0,0,Conversation log",
    "1106,GPT-4,87,0,87,API log",
    "1106,GPT-4,1087,230,1317,API log",
)


def test_oddity_o29_failed_calls_are_dropped_and_counted(tmp_path: Path) -> None:
    demand = read("burstgpt", csv_of(tmp_path / "t.csv", HEADER, *LINES))
    assert demand.dropped == {"empty prompt": 1, "zero output": 1}
    assert demand.request_id == ("2", "5")
    assert arrivals_s(demand) == [5.0, 1106.0]


def test_c14_or_kept_as_prefills(tmp_path: Path) -> None:
    demand = read("burstgpt", csv_of(tmp_path / "t.csv", HEADER, *LINES), zero_output="keep")
    assert demand.prompts.num_tokens.tolist() == [472, 87, 1087]
    assert demand.output_tokens.tolist() == [18, 1, 230]


def test_one_kind_of_call_can_be_chosen(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", HEADER, *LINES)
    assert read("burstgpt", path, log_type="api").request_id == ("5",)
    assert read("burstgpt", path, log_type="conversation").request_id == ("2",)
    bare = csv_of(tmp_path / "bare.csv", "Timestamp,Request tokens,Response tokens", "5,1,1")
    assert read("burstgpt", bare).request_id == ("2",)
    assert 'expected the column "Log Type"' in refusal("burstgpt", bare, log_type="api")
