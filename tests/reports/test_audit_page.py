"""The audit page: the verdict first, strict JSON, hostile names as text, and once in a real browser."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from browser_kit import Visit

from reports.audit_page import write_audit_page
from sim.audit_lie import BestLie
from sim.audit_report import KIND_NAMES, AuditReport, KindReport, MechanismReport
from sim.audit_source import AuditSettings, AuditSource

LIE = BestLie(
    batch=7,
    users=("<b>ann</b>",),
    gains=(1.25,),
    worth=5.0,
    how="bids 0.5 × his value",
    welfare_change=-0.031,
    bids={"r1": 2.0},
    names={"r1": "ann#2"},
    prefixes={
        "r1": {"of_request": "r9", "first_tokens": 900, "tokens_added": 900},
        "r2": {"of_request": None, "token": 17, "tokens_added": 1},
        "r3": {"of_request": "r9", "first_characters": 5, "tokens_added": 2},
    },
    adds=0.5,
)
MORE = replace(LIE, users=("zoe",), gains=(0.9,), worth=1.0, adds=0.9)


def kind(name: str, best: BestLie | None = LIE) -> KindReport:
    return KindReport(
        kind=name,
        planned=12,
        tried=12,
        shares=() if best is None else (0.9, 0.1),
        welfare_changes=() if best is None else (-0.031, 0.01),
        best=best,
        largest_share=None if best is None else MORE,
    )


def report(*, claims: bool, alone: BestLie | None) -> AuditReport:
    mechanism = MechanismReport(
        label="dfs-bid",
        schedule="dfs-bid",
        payment="vcg",
        claims_truthful=claims,
        batches=((7, 256, 16, 123.4),),
        kinds=tuple(kind(name, alone if name == "misreport" else LIE) for name in KIND_NAMES),
    )
    source = AuditSource.of("scenarios/a.yaml", {"--set": ["trials=2"]}, AuditSettings(), notes=["A note."])
    return AuditReport(source=source, mechanisms=(mechanism,))


def text_of(folder: Path, found: AuditReport) -> str:
    return write_audit_page(found, folder / "audit.html").read_text(encoding="utf-8")


def test_the_verdict_comes_first(tmp_path: Path) -> None:
    text = text_of(tmp_path, report(claims=True, alone=None))
    first = text[text.index('id="verdict"') : text.index('id="kinds"')]
    assert "No misreport pays: 12 users were tried" in first
    assert "0 of 12" in first
    assert 'role="alert"' not in first
    assert "2 of 12" in text[text.index('id="kinds"') :]
    assert "<small>median 50 %, at most 90 % of worth</small><small>welfare at worst −3.1 %</small>" in text
    assert "text in front of prompts: 2 of 12, up to 90 % of worth" in first
    assert "A note." in first
    assert "inference-auctions audit scenarios/a.yaml --set trials=2 --users 12 --seed 0" in text


def test_headline_and_table_agree_on_the_largest_share(tmp_path: Path) -> None:
    text = text_of(tmp_path, report(claims=False, alone=LIE))
    first = text[text.index('id="verdict"') : text.index('id="kinds"')]
    assert "gains 1.25 over the truth, 25 % of what his requests are worth; 0.5 of it by the trick" in first
    assert "the largest share, 90 %, is what zoe gains" in first
    assert "one user misreports: the largest share of worth" in text


def test_a_broken_promise_is_an_alarm(tmp_path: Path) -> None:
    text = text_of(tmp_path, report(claims=True, alone=LIE))
    assert "<strong>Not truthful:</strong> dfs-bid + vcg declares itself truthful" in text
    assert 'role="alert"' not in text_of(tmp_path, report(claims=False, alone=LIE))


def test_lies_can_be_repeated_and_names_are_text(tmp_path: Path) -> None:
    text = text_of(tmp_path, report(claims=False, alone=LIE))
    for line in (
        "batch 7 of scenarios/a.yaml",
        "request r1: bid 2.0, worth what it was",
        "request r1: user ann#2",
        "request r1: put the first 900 tokens of request r9&#39;s prompt in front",
        "request r2: put the token 17, with which no other prompt begins, (1 token more) in front",
        "request r3: put the first 5 characters of request r9&#39;s prompt (2 tokens more) in front",
    ):
        assert line in text
    assert "<b>ann</b>" not in text
    assert "&lt;b&gt;ann&lt;/b&gt;" in text


def test_figures_are_strict_json_with_the_right_numbers(tmp_path: Path) -> None:
    text = text_of(tmp_path, report(claims=False, alone=None))
    blocks = dict(re.findall(r'<script type="application/json" id="([\w-]+)-data">(.*?)</script>', text, re.DOTALL))
    assert set(blocks) == {"gains", "welfare"}
    (bars,) = json.loads(blocks["gains"])["data"]
    assert bars["y"] == [0.0, 50.0, 50.0, 50.0, 50.0]
    assert bars["error_y"]["array"] == [0.0, 40.0, 40.0, 40.0, 40.0]
    assert len(json.loads(blocks["welfare"])["data"][0]["x"]) == 8


@pytest.mark.browser
def test_it_opens_offline_without_an_error(browser, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    two = report(claims=True, alone=LIE)
    two = replace(two, mechanisms=(*two.mechanisms, replace(two.mechanisms[0], label="again")))
    visit = Visit(browser, write_audit_page(two, tmp_path / "audit.html"), theme="dark", width=390)
    assert set(visit.draw_all()) == {"dark"}
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 390
    assert visit.said == []
    assert visit.asked == [visit.address]
    visit.context.close()
