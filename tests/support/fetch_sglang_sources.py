"""Download SGLang 0.5.9's wheel and unpack the few files our oracle tests run, into build/ (never committed).

    python tests/support/fetch_sglang_sources.py

Uses pip, and so whatever package index pip is set up for. Exit code 0 also when nothing could be downloaded: the
tests that need the files then skip and say so.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSION = "0.5.9"
#: Files that run unmodified; what they import beyond these is replaced by stand-ins (`sglang_oracle.py`).
FILES = (
    "sglang/srt/mem_cache/base_prefix_cache.py",
    "sglang/srt/mem_cache/cache_init_params.py",
    "sglang/srt/mem_cache/evict_policy.py",
    "sglang/srt/mem_cache/radix_cache.py",
    "sglang/srt/managers/schedule_policy.py",
)
FOLDER = Path(__file__).resolve().parents[2] / "build" / f"sglang-{VERSION}"


def fetch(folder: Path = FOLDER) -> bool:
    """Whether the files are there now."""
    if all((folder / name).exists() for name in FILES):
        return True
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", scratch]
        done = subprocess.run([*command, f"sglang=={VERSION}"], check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            print(f"sglang {VERSION} could not be downloaded; its oracle tests will be skipped", file=sys.stderr)
            return False
        with zipfile.ZipFile(wheels[0]) as wheel:
            for name in FILES:
                wheel.extract(name, folder)
    return True


if __name__ == "__main__":
    fetch()
