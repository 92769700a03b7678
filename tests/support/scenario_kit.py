"""What tests of scenarios stand on: a backend that is only a configuration, and scenarios written in place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import PositiveInt

from sim.errors import ScenarioError
from sim.requests import RequestTable
from sim.scenario import Scenario, load_scenario


@dataclass(frozen=True, kw_only=True)
class PaperServer:
    """A backend's keys without a backend.

    Attributes
    ----------
    kv_tokens : capacity.
    page_tokens : tokens of a page.
    """

    kv_tokens: PositiveInt | None = 23000
    page_tokens: PositiveInt = 1

    def create(self, requests: RequestTable) -> Any:
        raise NotImplementedError


BACKENDS = {"simulated": PaperServer}

SMALL = """\
name: small
workload: {kind: stars, num_requests: 64}
schedule: [dfs-bid, no-sort]
backend: {use: simulated}
"""


def load(folder: Path, text: str = SMALL, *overrides: str, **options: Any) -> Scenario:
    """The scenario written as `text`, loaded."""
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scenario(path, BACKENDS, overrides=overrides, **options)


def refusal(folder: Path, text: str = SMALL, *overrides: str, **options: Any) -> ScenarioError:
    """The error that loading `text` ends in; its exit code is 2."""
    with pytest.raises(ScenarioError) as caught:
        load(folder, text, *overrides, **options)
    assert caught.value.exit_code == 2
    return caught.value
