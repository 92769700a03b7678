"""The JSON Schema of scenario files: what editors complete, explain and underline.

It is made from the same classes that check a scenario, so it cannot say something else.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from sim import plugins
from sim.parameters import model_of
from sim.scenario_blocks import BLOCKS, KIND_FOLDERS, USE_FOLDERS, Header

__all__ = ["json_schema"]

Schema = dict[str, Any]

_ABOUT = {
    "workload": "What is asked.",
    "users": "Who owns which request; default: the recorded owners, else per-request.",
    "values": "What requests are worth; default: the recorded values, else pareto.",
    "arrivals": "When requests arrive; default: the recorded times, else saturated.",
    "schedule": "The mechanisms to compare, on the same requests, bids and arrivals.",
    "payment": "What users pay: the schedule's own (default), one rule for all, or one a label.",
    "bidding": "What users say: one agent for all (default: truthful), a mix of agents, or one of these a label.",
    "backend": "Who serves.",
}

_LABEL: Schema = {
    "type": "string",
    "minLength": 1,
    "description": "Its name in records and reports; default: the rule's.",
}
_SHARE: Schema = {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 1,
    "description": "Share of the users; entries without one divide what the others leave.",
}

#: A class outside the repository: `my_lab.rules:Aging`.
_FOREIGN: Schema = {"type": "string", "pattern": r"^[\w.]+:\w+$", "description": "module:Class of a plugin of your own"}


def json_schema(backend_types: Mapping[str, type[Any]]) -> Schema:
    """The schema of everything that `load_scenario` accepts.

    Parameters
    ----------
    backend_types : backend name → configuration dataclass.
    """
    defs: Schema = {}
    properties = _fields(Header, defs)
    properties["name"]["description"] += " Default: the file's name."
    properties["name"]["minLength"] = 1
    for key, choices in KIND_FOLDERS.items():
        properties[key] = _choice(key, "kind", _classes(choices), defs)
    schedules = _choice("schedule", "use", _classes(USE_FOLDERS["schedule"]), defs, extra={"label": _LABEL})
    schedules.pop("description")
    one = {"$ref": "#/$defs/one-schedule"}
    defs["one-schedule"] = schedules
    several = {"type": "array", "items": one, "minItems": 1}
    properties["schedule"] = {"description": _ABOUT["schedule"], "anyOf": [one, several]}
    properties["payment"] = _payments(defs)
    properties["bidding"] = _bidding(defs)
    for key, cls in BLOCKS.items():
        properties[key] = _object(cls, defs)
    properties["slo"] = {"anyOf": [properties["slo"], {"type": "null"}]}
    properties["backend"] = _choice("backend", "use", backend_types, defs, foreign=False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of inference-auctions",
        "type": "object",
        "properties": properties,
        "required": ["workload", "schedule", "backend"],
        "additionalProperties": False,
        "$defs": defs,
    }


def _payments(defs: Schema) -> Schema:
    rules = _choice("payment", "use", _classes(USE_FOLDERS["payment"]), defs)
    rules.pop("description")
    rules["oneOf"].insert(0, {"const": "default", "description": "The schedule's own payment rule."})
    defs["one-payment"] = rules
    one = {"$ref": "#/$defs/one-payment"}
    by_label = {
        "type": "object",
        "description": "label → payment",
        "not": {"required": ["use"]},
        "additionalProperties": one,
    }
    return {"description": _ABOUT["payment"], "default": "default", "anyOf": [one, by_label]}


def _bidding(defs: Schema) -> Schema:
    agents = _choice("bidding", "use", _classes(USE_FOLDERS["bidding"]), defs)
    shared = _choice("bidding", "use", _classes(USE_FOLDERS["bidding"]), defs, extra={"share": _SHARE})
    for choice in (agents, shared):
        choice.pop("description")
    defs["one-agent"], defs["agent-with-share"] = agents, shared
    mix = {"type": "array", "items": {"$ref": "#/$defs/agent-with-share"}, "minItems": 1}
    said = {"anyOf": [{"$ref": "#/$defs/one-agent"}, mix]}
    by_label = {
        "type": "object",
        "description": "label → what users say under that schedule",
        "not": {"required": ["use"]},
        "additionalProperties": said,
    }
    return {"description": _ABOUT["bidding"], "default": "truthful", "anyOf": [*said["anyOf"], by_label]}


def _classes(choices: str | Mapping[str, type[Any]]) -> Mapping[str, type[Any]]:
    if isinstance(choices, str):
        return {name: plugins.load(choices, name) for name in plugins.available(choices)}
    return choices


def _choice(
    key: str,
    tag: str,
    classes: Mapping[str, type[Any]],
    defs: Schema,
    *,
    extra: Schema | None = None,
    foreign: bool = True,
) -> Schema:
    """One of several classes: a bare name, or a block of the name under `tag`, `extra` and the fields of its class."""
    options: list[Schema] = []
    for name, cls in classes.items():
        block = _object(cls, defs)
        if not block.get("required"):
            options.append({"const": name, "description": block["description"]})
        chosen = {"const": name, "description": block["description"]}
        block["properties"] = {tag: chosen, **(extra or {}), **block["properties"]}
        block["required"] = [tag, *block.get("required", [])]
        options.append(block)
    if foreign and key in {"workload", *USE_FOLDERS}:
        options += [_FOREIGN, {"type": "object", "properties": {tag: _FOREIGN}, "required": [tag]}]
    return {"description": _ABOUT[key], "oneOf": options}


def _object(cls: type[Any], defs: Schema) -> Schema:
    """The block of a class; classes nested in it go to `defs`."""
    properties = _fields(cls, defs)
    schema = _model_schema(cls)
    about = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        **({"required": schema["required"]} if "required" in schema else {}),
        "additionalProperties": False,
    }


def _fields(cls: type[Any], defs: Schema) -> Schema:
    schema = _model_schema(cls)
    defs.update(schema.get("$defs", {}))
    properties: Schema = schema.get("properties", {})
    return properties


def _model_schema(cls: type[Any]) -> Schema:
    schema: Schema = _tidy(model_of(cls).model_json_schema())  # type: ignore[arg-type]  # a class is hashable
    return schema


def _tidy(node: Any) -> Any:
    """A copy without titles that repeat keys, without OpenAPI's discriminators, with one paragraph of description."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if isinstance(node, str):
        return node.split("\n\n")[0]
    if not isinstance(node, dict):
        return node
    dropped = {key for key in ("title", "discriminator") if isinstance(node.get(key), str) or "oneOf" in node}
    return {key: _tidy(item) for key, item in node.items() if key not in dropped}
