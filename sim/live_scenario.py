"""The scenario of a command that needs a live server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.errors import ScenarioError

if TYPE_CHECKING:
    from sim.scenario import Scenario

__all__ = ["UrlOption", "live_scenario"]

UrlOption = Annotated[
    str | None, typer.Option("--url", help="The server's address; default: the scenario's own sglang backend.")
]


def live_scenario(
    path: str, backend_types: Mapping[str, type[Any]], url: str | None, overrides: Sequence[str], **changes: Any
) -> Scenario:
    """A scenario whose backend is an SGLang server: the one at `url`, else its own; ScenarioError if there is none."""
    from sim.scenario import load_scenario

    if url is not None:
        changes["backend"], overrides = "sglang", [f"backend.url={url}", *overrides]
    scenario = load_scenario(path, backend_types, overrides=overrides, **changes)
    if scenario.backend.use != "sglang":
        found = f"the backend {scenario.backend.use}"
        raise ScenarioError(f"{scenario.path}: backend", found, "a live server", "Give its address with --url.")
    return scenario
