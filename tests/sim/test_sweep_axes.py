import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import ScenarioError
from sim.sweep_axes import Axis, Typed, range_of, read_typed, split_values, zipped
from sim.sweep_block import Range


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("32,64", ["32", "64"]),
        ("[a, b],[c]", ["[a, b]", "[c]"]),
        ("{use: tiers, tiers: 3},dfs-bid", ["{use: tiers, tiers: 3}", "dfs-bid"]),
        ("'a,b',\"c,d\"", ["'a,b'", '"c,d"']),
        ("{x: ['}', 1]},2", ["{x: ['}', 1]}", "2"]),
        ("it's,fine", ["it's", "fine"]),
        ("", [""]),
    ],
)
def test_values_are_split_at_the_commas_that_nothing_protects(text: str, pieces: list[str]) -> None:
    assert split_values(text) == pieces


@given(st.lists(st.sampled_from(["1", "[a,b]", "{k: [1,2]}", "'x,y'", "word"]), min_size=1))
def test_joined_values_are_split_again(pieces: list[str]) -> None:
    assert split_values(",".join(pieces)) == pieces


def test_values_are_yaml() -> None:
    assert read_typed("a.b=1,0.5,null,true,word,[x, 2]", "--set") == Typed(
        "a.b", (1, 0.5, None, True, "word", ["x", 2]), "--set a.b"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", 'found "a"; expected key=value,value,…'),
        ("=1,2", "expected key=value,value,…"),
        ("a..b=1", "expected key=value,value,…"),
        ("a=1,,2", "no value between two commas"),
        ("a=[1,2", "broken YAML"),
        ("sweep.grid=1,2", 'the axis "sweep.grid"'),
    ],
)
def test_what_is_no_axis_is_refused(text: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_typed(text, "--set")
    assert expected in str(caught.value)
    assert caught.value.where.startswith("--set")


@pytest.mark.parametrize("values", ["32,64,32", "1,1.0", "[1],[1.0]", "{a: 1},{a: 1}"])
def test_a_value_given_twice_is_refused(values: str) -> None:
    with pytest.raises(ScenarioError, match="twice; expected each value once"):
        Axis.of(read_typed(f"a={values}", "--set"))


def test_true_is_not_1_and_the_word_1_is_not_the_number() -> None:
    assert len(Axis.of(read_typed("a=true,1,'1'", "--set")).rows) == 3


def test_zipped_keys_step_together() -> None:
    axis = zipped([read_typed("a=1,2", "--zip"), read_typed("b=x,x", "--zip")])
    assert (axis.keys, axis.rows) == (("a", "b"), ((1, "x"), (2, "x")))


def test_zipped_lists_are_equally_long_and_no_step_is_there_twice() -> None:
    with pytest.raises(ScenarioError, match="--zip b: found 3 values of b; expected 2, as many as a has"):
        zipped([read_typed("a=1,2", "--zip"), read_typed("b=1,2,3", "--zip")])
    with pytest.raises(ScenarioError, match='1, "x" twice'):
        zipped([read_typed("a=1,1", "--zip"), read_typed("b=x,x", "--zip")])


def test_ranges() -> None:
    assert range_of(read_typed("a=32,1024,log,integer", "--range")) == Range(
        low=32, high=1024, scale="log", integer=True
    )
    assert range_of(read_typed("a=0,1", "--range")) == Range(low=0, high=1)


@pytest.mark.parametrize(
    "text", ["1", "1,2,3", "1,2,lgo", "1,2,log,log", "true,2", "a,b", "2,1", "0,1,log", "1,2.5,integer"]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match=r"^--range a: found .* expected"):
        range_of(read_typed(f"a={text}", "--range"))
