"""Imports point down: reports, backends → sim → mechanism; only sim/cli.py may see everything."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("mechanism", "sim", "backends", "reports")
ALLOWED = {
    "mechanism": {"mechanism"},
    "sim": {"sim", "mechanism"},
    "backends": {"backends", "sim", "mechanism"},
    "reports": {"reports", "sim", "mechanism"},
}
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names.add(node.module or "")
    return names


def test_imports_point_down() -> None:
    for path in MODULES:
        room = path.relative_to(ROOT).parts[0]
        rooms = {name.split(".")[0] for name in imported(path)} & set(ROOMS)
        assert rooms <= ALLOWED[room] or path == ROOT / "sim" / "cli.py", path


def test_nothing_imports_the_command_line() -> None:
    importers = [path for path in MODULES if "sim.cli" in imported(path)]
    assert importers == [ROOT / "sim" / "__main__.py"]


def test_no_module_is_longer_than_300_lines() -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (*MODULES, *TESTS)}
    assert {path: size for path, size in sizes.items() if size > 300} == {}


def test_every_module_starts_with_a_docstring() -> None:
    assert [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


def test_mechanism_needs_numpy_and_networkx_only() -> None:
    outside = {name.split(".")[0] for path in (ROOT / "mechanism").rglob("*.py") for name in imported(path)}
    standard = {"__future__", "collections", "dataclasses", "typing", "functools", "math", "itertools", "fractions"}
    standard |= {"heapq"}
    assert outside - standard <= {"mechanism", "numpy", "networkx"}


def test_no_registry_address_in_the_pins() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.startswith("-") or "://" in line]
