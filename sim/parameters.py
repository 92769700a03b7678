"""The fields of a frozen dataclass are its YAML keys: checked here, and described here for editors.

No plugin contains parsing. Types are strict: a bool is no number, "3" is no 3, 3.0 is no integer, and NaN or
infinity are refused unless a field allows them, and so are numbers beyond what `sim.quantities` lets any field hold.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from collections.abc import Sequence
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from mechanism.errors import MechanismError
from sim.errors import ScenarioError, did_you_mean
from sim.quantities import beyond_bounds
from sim.yaml_source import KeyPath, Source

__all__ = ["STRICT", "build", "field_docs", "model_of", "plain"]

#: For dataclasses nested inside a field (`__pydantic_config__ = STRICT`); top-level ones need nothing.
STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

#: pydantic's names for it in a model and in a dataclass inside one.
_UNKNOWN_KEY = {"extra_forbidden", "unexpected_keyword_argument"}


@functools.cache
def model_of(cls: type[Any]) -> type[BaseModel]:
    """The validator of a dataclass: one field each, described by the class docstring."""
    hints = get_type_hints(cls, include_extras=True)
    docs = {name: about for base in reversed(cls.__mro__) for name, about in field_docs(base).items()}
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        about = field.metadata.get("doc", docs.get(field.name))
        if field.default_factory is not dataclasses.MISSING:
            fields[field.name] = (hints[field.name], Field(default_factory=field.default_factory, description=about))
        else:
            default = ... if field.default is dataclasses.MISSING else field.default
            fields[field.name] = (hints[field.name], Field(default, description=about))
    return create_model(cls.__name__, __config__=STRICT, **fields)


def build(cls: type[Any], data: dict[str, Any], source: Source, path: KeyPath) -> Any:
    """An instance of the dataclass `cls` from the block `data`, which stands at `path` of `source`.

    Raises
    ------
    ScenarioError
        Unknown key (with a suggestion), missing key, wrong type or range, or what the class itself refuses.
    """
    model = model_of(cls)  # type: ignore[arg-type]  # a class is hashable
    try:
        checked = model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise _problem(error, model, data, source, path) from None
    for keys, expected in beyond_bounds(checked.model_dump()):
        raise ScenarioError(source.where((*path, *keys)), _short(_at(data, keys)), expected)
    values = {name: getattr(checked, name) for name in model.model_fields}
    try:
        return cls(**values)
    except ScenarioError as error:  # a class names the key; the file and line are ours to add
        where = source.where((*path, *error.where.split(".")))
        raise ScenarioError(where, error.found, error.expected, error.suggestion) from None
    except (ValueError, MechanismError) as error:
        raise ScenarioError(source.where(path), json.dumps(data), str(error)) from error


def plain(value: Any) -> Any:
    """Dataclasses, tuples and paths as the dicts, lists and words of YAML."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def field_docs(cls: type[Any]) -> dict[str, str]:
    """Field → its sentence in the Attributes or Parameters section of a NumPy-style docstring.

    >>> class Aging:
    ...     '''Serve the old first.
    ...
    ...     Attributes
    ...     ----------
    ...     rate, floor : how fast
    ...         priority grows.
    ...     '''
    >>> field_docs(Aging)
    {'rate': 'how fast priority grows.', 'floor': 'how fast priority grows.'}
    """
    lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
    docs: dict[str, str] = {}
    names: list[str] = []
    inside = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following.strip().startswith("---"):
            inside, names = line.strip() in {"Attributes", "Parameters"}, []
        elif not inside or line.strip().startswith("---"):
            continue
        elif line[:1].strip() and " : " in line:
            left, _, right = line.partition(" : ")
            names = [name.strip() for name in left.split(",")]
            docs.update(dict.fromkeys(names, right.strip()))
        elif names and line[:1] == " ":
            docs.update({name: f"{docs[name]} {line.strip()}" for name in names})
    return docs


def _problem(
    error: ValidationError, model: type[BaseModel], data: dict[str, Any], source: Source, path: KeyPath
) -> ScenarioError:
    """The most telling of pydantic's complaints, in our words."""
    problems = error.errors(include_url=False, include_context=True)
    # a misspelt key explains the one that is missing
    first = next((p for p in problems if p["type"] in _UNKNOWN_KEY), problems[0])["loc"][0]
    # of the branches of a union, the one that got furthest knows best; a mere wrong type knows least
    rivals = _of_the_kind_meant([p for p in problems if p["loc"][0] == first])
    best = max(rivals, key=lambda p: (p["type"] in _UNKNOWN_KEY, len(p["loc"]), not p["type"].endswith("_type")))
    keys, holder = _keys(best, data)
    where = source.where((*path, *keys))
    if best["type"] in _UNKNOWN_KEY:
        known = _known(model, nested=len(keys) > 1)
        hint = did_you_mean(str(keys[-1]), known)
        return ScenarioError(where, f'the unknown key "{keys[-1]}"', "a known key" if known else "no key at all", hint)
    if best["type"] == "missing" and isinstance(best["loc"][-1], int):
        return ScenarioError(where, _short(holder), f"{best['loc'][-1] + 1} entries or more")
    if best["type"] == "missing":
        return ScenarioError(where, "nothing", f'the key "{keys[-1]}"')
    if best["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        tags = [tag.strip("' ") for tag in str(best.get("ctx", {}).get("expected_tags", "")).split(",")]
        expected = f"a kind: {', '.join(tags)}" if tags != [""] else "a block with a kind"
        return ScenarioError(where, _short(holder), expected)
    same_key = [p["msg"] for p in rivals if _keys(p, data)[0] == keys]
    return ScenarioError(where, _short(best["input"]), _expected(same_key))


def _of_the_kind_meant(problems: Sequence[Any]) -> Sequence[Any]:
    """Without the complaints of union branches that the block's `kind` does not name, where it names one."""
    others = {p["loc"][:-1] for p in problems if p["type"] == "literal_error" and p["loc"][-1] == "kind"}
    inside = [p for p in problems if len(p["loc"]) > 2 or p["type"] == "value_error"]
    meant = [p for p in inside if not any(p["loc"][: len(loc)] == loc for loc in others)]
    return meant if others and meant else problems


def _known(model: type[BaseModel], *, nested: bool) -> set[str]:
    """The keys of a block, or of the blocks inside it."""
    schema = model.model_json_schema()
    blocks = schema.get("$defs", {}).values() if nested else [schema]
    return {key for block in blocks for key in block.get("properties", {})}


def _keys(problem: Any, data: Any) -> tuple[KeyPath, Any]:
    """pydantic's location without its names for union branches, and the value that stands there."""
    keys: list[int | str] = []
    loc, absent = problem["loc"], problem["type"] == "missing"
    for position, step in enumerate(loc):
        inside = step in data if isinstance(data, dict) else isinstance(data, list) and step in range(len(data))
        if inside:
            data = data[step]
        if inside or (absent and isinstance(data, dict) and position == len(loc) - 1):  # what is missing comes last
            keys.append(step)
    return tuple(keys), data


def _at(data: Any, keys: KeyPath) -> Any:
    for key in keys:
        data = data[key]
    return data


def _expected(messages: Sequence[str]) -> str:
    wishes = (
        m.removeprefix("Input should be ").removeprefix("Value error, ").replace("an object", "a block")
        for m in messages
    )
    return " or ".join(dict.fromkeys(wishes))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}…"
