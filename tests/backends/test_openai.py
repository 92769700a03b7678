"""OpenAI's protocol: what counts as the first token, what is reported as cached, and what is no success."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import run_cli
from fake_server import CUT, FakeServer, fake_server, healthy, sse
from faults_kit import on, rows, scenario_text, served

from backends._answers import Answer, ServerSaidError, outcome
from backends._openai_server import Asking, OpenaiDialect
from backends._prompt_tokens import PromptTokens
from backends.openai import Openai
from mechanism.prompts import Prompts
from sim.errors import ScenarioError

MS = 1_000_000


def dialect(*, chat: bool = False, as_text: bool = False) -> OpenaiDialect:
    asking = Asking(model="m", endpoint="chat" if chat else "completions", as_text=as_text)
    return OpenaiDialect(asking, PromptTokens(Prompts.from_lists([[5, 6, 7]]), 32000), [4])


def reading(*events: tuple[float, dict[str, Any]]) -> Answer:
    """The answer after these events, each read at a time in ms."""
    answer, reader = Answer(0), dialect(chat=True)
    for at_ms, event in events:
        reader.read(event, [answer], round(at_ms * MS))
    reader.end([answer], 10_000 * MS)
    return answer


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def test_a_role_and_an_empty_piece_are_no_first_token() -> None:
    answer = reading((5, delta(role="assistant", content="")), (100, delta(content="")), (214, delta(content="Hi")))
    assert answer.first_token_ns == 214 * MS


def test_reasoning_is_the_first_token_of_any_channel() -> None:
    for name in ("reasoning_content", "reasoning"):
        answer = reading((50, delta(**{name: "hm"})), (3000, delta(content="Yes")))
        assert (answer.first_token_ns, answer.first_content_ns) == (50 * MS, 3000 * MS)
        assert answer.output_tokens == 2


def test_the_end_alone_is_no_success() -> None:
    assert outcome(reading()) == ("error", "no token in the whole answer")
    assert outcome(reading((5, delta(role="assistant")))) == ("error", "no token in the whole answer")


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"completion_tokens": 7}, None),
        ({"completion_tokens": 7, "prompt_tokens_details": None}, None),
        ({"completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}}, 0),
        ({"completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 12}}, 12),
    ],
)
def test_not_reported_is_not_zero(usage: dict[str, Any], cached: int | None) -> None:
    answer = reading((1, delta(content="a")), (2, {"choices": [], "usage": usage}))
    assert answer.cached_tokens == cached
    assert answer.output_tokens == 7


def test_choices_that_are_no_list_are_the_servers_fault() -> None:
    for event in ({"choices": {"text": "x"}}, {"choices": ["x"]}):
        with pytest.raises(ServerSaidError):
            dialect().read(event, [Answer(0)], 1)


def test_prompts_go_as_ids_or_as_a_word_a_token() -> None:
    assert dialect().body([0])["prompt"] == [5, 6, 7]
    assert dialect(as_text=True).body([0])["prompt"] == "t5 t6 t7"
    assert dialect(chat=True, as_text=True).body([0])["messages"] == [{"role": "user", "content": "t5 t6 t7"}]
    assert (dialect().path, dialect(chat=True).path) == ("/v1/completions", "/v1/chat/completions")


def test_a_chat_takes_text_only() -> None:
    with pytest.raises(ScenarioError, match="words, not token ids"):
        Openai(url="http://somewhere", endpoint="chat")


def test_a_run_on_a_server_that_reports_its_cache(tmp_path: Path) -> None:
    with fake_server() as fake:
        result = on(tmp_path, fake.url, "openai")
        assert all(body["model"] == "fake-model" for body in fake.bodies)
    assert rows(result)["cached_tokens"].null_count() == 0
    assert result.warnings == []
    assert set(rows(result)["status"]) == {"ok"}


def test_a_server_that_does_not_report_its_cache(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CASES A 5: null, never 0; the hit rate is not reported; a warning names the flag; exit 0."""
    path = tmp_path / "scenario.yaml"
    with fake_server(silent_about_cache=True) as fake:
        path.write_text(scenario_text(fake.url, "openai"), encoding="utf-8")
        done = run_cli(capsys, "simulate", path, "--out", tmp_path / "runs", "--json", "--no-report")
    assert done.code == 0
    assert "--enable-cache-report" in done.err
    summary = json.loads(done.out)
    assert summary["schedules"]["dfs-bid"]["hit_rate"] == {"mean": None, "se": None, "n": 0}
    records = pl.read_parquet(Path(summary["run_dir"]) / "requests.parquet")
    assert records["cached_tokens"].null_count() == 12


def test_pings_and_pieces_of_events_change_nothing(tmp_path: Path) -> None:
    def script(fake: FakeServer, number: int, body: dict[str, Any]) -> Iterable[bytes]:
        whole = b": ping\n\n" + b": ping\n\n".join(healthy(fake, number, body))
        return [whole[:70], whole[70:71], whole[71:]]

    with fake_server(script) as fake:
        frame = rows(on(tmp_path, fake.url, "openai"))
    assert set(frame["status"]) == {"ok"}
    assert set(frame["output_tokens"]) == {4}


@pytest.mark.parametrize(
    ("steps", "status", "tokens"),
    [
        ((sse({"error": {"message": "no"}}), sse("[DONE]")), "error", 0),
        ((*[sse({"choices": [{"text": "t"}]})] * 3, sse({"error": {"message": "no"}})), "error", 3),
        ((*[sse({"choices": [{"text": "t"}]})] * 3, CUT), "incomplete", 3),
        ((*[sse({"choices": [{"text": "t", "finish_reason": "length"}]})] * 4, CUT), "incomplete", 4),
        ((sse("[DONE]"),), "error", 0),
    ],
)
def test_a_stream_that_fails_is_no_success(steps: Any, status: str, tokens: int, tmp_path: Path) -> None:
    with fake_server(lambda *_: steps) as fake:
        result = on(tmp_path, fake.url, "openai")
    assert [row["output_tokens"] for row in served(result, status)] == [tokens] * 12
    assert result.num_ok == 0
