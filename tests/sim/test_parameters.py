from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import Field, PositiveInt

from mechanism.errors import MechanismError
from sim.errors import ScenarioError
from sim.parameters import build, field_docs, model_of, plain
from sim.workloads._outputs import LognormalTokens, OutputTokens
from sim.yaml_source import Source


@dataclass(frozen=True)
class Aging:
    """Serve the old first.

    Attributes
    ----------
    rate, floor : how fast priority
        grows.
    sizes : a range.

    Notes
    -----
    other : not a field.
    """

    bid_blind: ClassVar[bool] = False
    rate: float
    floor: Annotated[float, Field(ge=0)] = 0.0
    levels: PositiveInt = 3
    sizes: tuple[int, int] = (1, 2)
    on: bool = True
    name: str | None = None
    outputs: OutputTokens = 1
    limit: Annotated[float, Field(gt=0, allow_inf_nan=True)] = 1.0
    file: Path | None = None
    tags: list[str] = field(default_factory=list)
    derived: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.rate == 13:
            raise MechanismError("a rate other than 13")
        if self.rate == 14:
            raise ScenarioError("rate", "14", "another rate", "Try 15.")


def source(data: dict[str, Any]) -> Source:
    origins = {(): "f.yaml:1", ("rule",): "f.yaml:3"} | {("rule", key): f"f.yaml:{4 + i}" for i, key in enumerate(data)}
    return Source("f.yaml", {"rule": data}, origins)


def make(**data: Any) -> Aging:
    built: Aging = build(Aging, data, source(data), ("rule",))
    return built


def refusal(**data: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        make(**data)
    return str(caught.value)


def test_fields_are_keys_and_the_rest_has_defaults() -> None:
    assert make(rate=2) == Aging(2.0)
    assert make(rate=1e-3, sizes=[3, 4], name="x", file="a/b") == Aging(0.001, sizes=(3, 4), name="x", file=Path("a/b"))
    assert make(rate=1, limit=float("inf")).limit == float("inf")
    assert make(rate=1, outputs={"kind": "lognormal", "median": 5, "sigma": 1}).outputs == LognormalTokens(
        median=5.0, sigma=1.0
    )


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf"), True, "3", None, [1], {}])
def test_a_number_is_a_finite_number(bad: Any) -> None:
    assert refusal(rate=bad).startswith("f.yaml:4: rule.rate: found ")


@pytest.mark.parametrize("bad", [0, -1, 1.5, 3.0, True, "3", float("nan"), None])
def test_a_positive_integer_is_that(bad: Any) -> None:
    assert refusal(rate=1, levels=bad).startswith("f.yaml:5: rule.levels: found ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, 'f.yaml:3: rule.rate: found nothing; expected the key "rate".'),
        ({"flor": 2}, 'rule.flor: found the unknown key "flor"; expected a known key. Did you mean "floor"?'),
        ({"rate": 1, "derived": 2}, 'rule.derived: found the unknown key "derived"; expected a known key.'),
        ({"rate": 1, "bid_blind": True}, 'f.yaml:5: rule.bid_blind: found the unknown key "bid_blind"'),
        ({"rate": 1, "floor": -1}, "f.yaml:5: rule.floor: found -1; expected greater than or equal to 0."),
        ({"rate": 1, "sizes": [1, 2.5]}, "rule.sizes.1: found 2.5; expected a valid integer."),
        ({"rate": 1, "sizes": [1]}, "rule.sizes: found [1]; expected 2 entries or more."),
        ({"rate": 1, "limit": float("nan")}, "rule.limit: found NaN; expected greater than 0."),
        ({"rate": 1, "outputs": 0}, "rule.outputs: found 0; expected greater than or equal to 1 or a block."),
        ({"rate": 1, "outputs": "x"}, 'rule.outputs: found "x"; expected a valid integer or a block.'),
        ({"rate": 1, "outputs": {"median": 1}}, 'found {"median": 1}; expected a block with a kind.'),
        (
            {"rate": 1, "outputs": {"kind": "lognoral"}},
            'found {"kind": "lognoral"}; expected a kind: lognormal, uniform.',
        ),
        (
            {"rate": 1, "outputs": {"kind": "lognormal", "median": 1, "sigma": -1}},
            "rule.outputs.sigma: found -1; expected greater than or equal to 0.",
        ),
        (
            {"rate": 1, "outputs": {"kind": "lognormal", "median": 1, "sigm": 1}},
            'rule.outputs.sigm: found the unknown key "sigm"; expected a known key. Did you mean "sigma"?',
        ),
    ],
)
def test_the_message_names_line_key_finding_and_expectation(data: dict[str, Any], message: str) -> None:
    assert message in refusal(**data)


def test_what_the_class_itself_refuses_gets_file_and_line() -> None:
    assert refusal(rate=13) == 'f.yaml:3: rule: found {"rate": 13}; expected a rate other than 13.'
    assert refusal(rate=14) == "f.yaml:4: rule.rate: found 14; expected another rate. Try 15."


def test_the_docstring_describes_the_keys() -> None:
    assert field_docs(Aging) == {
        "rate": "how fast priority grows.",
        "floor": "how fast priority grows.",
        "sizes": "a range.",
    }
    properties = model_of(Aging).model_json_schema()["properties"]
    assert properties["sizes"]["description"] == "a range."
    assert "derived" not in properties


def test_plain_is_what_build_reads() -> None:
    aging = Aging(1.0, name="x", file=Path("a/b"), outputs=LognormalTokens(median=5.0, sigma=1.0), tags=["t"])
    assert plain(aging)["outputs"] == {"kind": "lognormal", "median": 5.0, "sigma": 1.0, "max_tokens": 4096}
    assert make(**plain(aging)) == aging
