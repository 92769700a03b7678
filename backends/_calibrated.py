"""A calibrated profile as the simulated server it describes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from backends._profile import load_profile
from backends.simulated import Simulated

__all__ = ["backend_block", "calibrated", "simulated_from"]

#: Server facts that are keys of the simulated backend.
SHARED = (
    "overlap", "page_tokens", "eviction", "chunked_prefill_tokens", "max_prefill_tokens", "max_running_requests",
    "schedule_conservativeness", "schedule_policy", "context_tokens",
)  # fmt: skip


def backend_block(profile: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The `backend:` block that simulates the server a profile was measured on.

    >>> backend_block({"server": {"version": "0.5.9", "page_tokens": 16, "url": "…"}}, "p.json")
    {'use': 'simulated', 'profile': 'p.json', 'engine': '0.5.9', 'page_tokens': 16}
    >>> backend_block({"server": {"device": "cpu"}}, "p.json")
    {'use': 'simulated', 'profile': 'p.json', 'blocking': True}
    """
    server = profile.get("server") or {}
    shared = {key: server[key] for key in SHARED if key in server and (server[key] is not None or key.startswith("ch"))}
    version = server.get("version")
    engine = {} if version is None else {"engine": rules_for(str(version))}
    blocking = {"blocking": True} if server.get("device") == "cpu" else {}
    return {"use": "simulated", "profile": path, **engine, **shared, **blocking}


def rules_for(version: str) -> Literal["0.5.9", "0.5.23"]:
    """The nearest version whose rules we have: those up to 0.5.9 decide as it does.

    >>> rules_for("0.5.9.post1"), rules_for("0.5.14"), rules_for("unknown")
    ('0.5.9', '0.5.23', '0.5.23')
    """
    numbers = [int(part) for part in version.split(".")[:3] if part.isdigit()]
    return "0.5.9" if len(numbers) == 3 and numbers <= [0, 5, 9] else "0.5.23"


def simulated_from(path: Path) -> Simulated:
    """The simulated server of a profile file; of one without a `server` block, with the backend's defaults."""
    block = backend_block(load_profile(str(path)).card, str(path))
    return Simulated(**{key: value for key, value in block.items() if key != "use"})


@contextmanager
def calibrated(profile: Mapping[str, Any]) -> Iterator[Simulated]:
    """The simulated server of a profile that is in no file yet, as long as the block lasts."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"
        path.write_text(json.dumps(profile), encoding="utf-8")
        yield simulated_from(path)
