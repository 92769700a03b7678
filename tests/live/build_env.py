"""Build the environment in which an unmodified SGLang runs on a CPU: `.venv-sglang-VERSION/` in the repository.

    python tests/live/build_env.py [VERSION]

Uses pip, and so whatever package index pip is set up for. An environment that fits its pins is left as it is. Exit
code 1, with the reason in a sentence that starts with "skip:", when it cannot be built; live tests then skip.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DEFAULT_VERSION = "0.5.23"
#: What a server on a CPU is told, apart from its model, its pool and its port.
SERVER_ARGS = [
    *("--load-format", "dummy", "--dtype", "float32", "--device", "cpu", "--attention-backend", "torch_native"),
    *("--sampling-backend", "pytorch", "--disable-cuda-graph", "--skip-server-warmup"),
    # The pool is as large as --max-total-tokens says. This share of the free memory only decides whether the server
    # starts: a small one makes it give up where other processes take memory while its model loads.
    *("--mem-fraction-static", "0.8"),
]
#: And what every server is told that we attach to (backends/sglang.py tells its own).
EXACT_ARGS = ["--schedule-policy", "fcfs", "--skip-tokenizer-init", "--enable-metrics", "--enable-cache-report"]
#: What an environment and its downloads take, and what a server with its tests does, bytes.
DISK, MEMORY = 4 << 30, 3 << 30
#: What makes SGLang run where there is no accelerator, one thread, and never ask a model hub.
ENVIRONMENT = {
    "SGLANG_USE_CPU_ENGINE": "1",
    "TORCHDYNAMO_DISABLE": "1",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}


def versions() -> list[str]:
    """The SGLang versions there are pins for."""
    return sorted(path.stem.removeprefix("sglang-") for path in (HERE / "pins").glob("sglang-*.txt"))


def folder(version: str) -> Path:
    return ROOT / f".venv-sglang-{version}"


def python(version: str) -> Path:
    """The environment's interpreter; it may not exist."""
    return folder(version) / "bin" / "python"


def stamp(version: str) -> str:
    """Changes whenever the pins do."""
    texts = [(HERE / "pins" / name).read_bytes() for name in ("common.txt", f"sglang-{version}.txt")]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def is_built(version: str) -> bool:
    mark = folder(version) / "stamp"
    return mark.is_file() and mark.read_text(encoding="utf-8") == stamp(version)


def why_not(version: str) -> str | None:
    """Why it cannot be built here; None when it can be tried."""
    if version not in versions():
        return f"no pins for SGLang {version}; there are {', '.join(versions())}"
    if platform.machine() != "x86_64" or sys.platform != "linux":
        return f"the pins are for Linux on x86_64, this is {sys.platform} on {platform.machine()}"
    if sys.version_info[:2] not in {(3, 11), (3, 12)}:
        return f"the pins are for Python 3.11 and 3.12, this is {platform.python_version()}"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if memory < MEMORY:
        return f"a server takes {MEMORY >> 30} GiB of memory, this machine has {memory / (1 << 30):.1f}"
    disk = shutil.disk_usage(ROOT).free
    if disk < DISK and not is_built(version):
        return f"it takes {DISK >> 30} GiB of disk with its downloads, {disk / (1 << 30):.1f} are free"
    return None


def build(version: str) -> str | None:
    """Build what is missing; returns why it is not there afterwards."""
    reason = why_not(version)
    if reason or is_built(version):
        return reason
    print(f"SGLang {version} for this CPU: into {folder(version).name}, 2 to 10 minutes, 1.8 GB", flush=True)
    venv.create(folder(version), with_pip=True)
    pins = HERE / "pins" / f"sglang-{version}.txt"
    install = [str(python(version)), "-m", "pip", "install", "--no-deps", "--progress-bar", "on", "-r", str(pins)]
    if subprocess.run(install, check=False).returncode:
        return "pip could not install the pins (see above)"
    link_shims(version)
    probe = [str(python(version)), "-c", "import sglang.launch_server, sglang; print('SGLang', sglang.__version__)"]
    if subprocess.run(probe, check=False, env={**os.environ, **ENVIRONMENT}).returncode:
        return "SGLang was installed and cannot be imported (see above)"
    (folder(version) / "stamp").write_text(stamp(version), encoding="utf-8")
    return None


def link_shims(version: str) -> None:
    """Let the environment import our stand-ins for kernels that a CPU never calls."""
    for packages in folder(version).glob("lib/python*/site-packages"):
        (packages / "sglang_cpu_shims.pth").write_text(f"{HERE / 'shims'}\n", encoding="utf-8")


def command_line(version: str) -> str:
    """How to start a server by hand, to be copied."""
    where = ["--model-path", "tests/live/tiny-llama", "--port", "30000", "--max-total-tokens", "4096"]
    words = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
    words += [f"{folder(version).name}/bin/python", "-m", "sglang.launch_server", *where, *EXACT_ARGS, *SERVER_ARGS]
    return " ".join(words)


def main() -> None:
    version = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_VERSION
    reason = build(version)
    if reason:
        sys.exit(f"skip: SGLang {version} for this CPU cannot be built: {reason}")
    print(f"SGLang {version} for this CPU: {folder(version).name} is ready. To start a server on port 30000:")
    print(command_line(version))


if __name__ == "__main__":
    main()
