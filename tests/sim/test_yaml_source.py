from pathlib import Path

import pytest

from sim.errors import ScenarioError
from sim.yaml_source import Source, parse_value, read_yaml


def read(folder: Path, text: str) -> Source:
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return read_yaml(path)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(folder, text)
    return str(caught.value).replace(str(folder), "")


def test_scalars_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    text = "a: 1e-3\nb: 1e3\nc: no\nd: off\ne: true\nf: ~\ng:\nh: 0x1F\ni: 010\nj: '3'\nk: 2020-01-01\nl: -.inf"
    assert read(tmp_path, text).data == {
        "a": 0.001, "b": 1000.0, "c": "no", "d": "off", "e": True, "f": None, "g": None,
        "h": 31, "i": 10, "j": "3", "k": "2020-01-01", "l": float("-inf"),
    }  # fmt: skip


def test_json_is_yaml(tmp_path: Path) -> None:
    assert read(tmp_path, '{"a": [1, 2.5, "x"], "b": {"c": null}}').data == {"a": [1, 2.5, "x"], "b": {"c": None}}


def test_a_key_given_twice_names_both_lines(tmp_path: Path) -> None:
    message = refusal(tmp_path, "a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert message == "/a.yaml:4: a.b: found the key on lines 2 and 4; expected each key once."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "/a.yaml:1: found nothing; expected a mapping"),
        ("- 1\n", "/a.yaml:1: found list"),
        ("a: [1\nb: 2\n", "/a.yaml:2: found broken YAML"),
        ("a: 1\n---\nb: 2\n", "/a.yaml:2: found broken YAML (but found another document)"),
        ("a: &x [*x]\n", "/a.yaml:1: found an alias to a block around it"),
        ("a: *x\n", "/a.yaml:1: found broken YAML (found undefined alias"),
        ("a: !!binary aGk=\n", "/a.yaml:1: found the tag"),
        ("? [1, 2]\n: 3\n", "/a.yaml:1: found a list or a block as a key"),
        ("a: 1\x00\n", "/a.yaml: found broken YAML"),
    ],
)
def test_what_is_no_scenario_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_a_file_that_is_missing_or_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(ScenarioError, match="byte 9 that is not UTF-8"):
        read_yaml(tmp_path / "latin.yaml")


def test_byte_order_mark_and_crlf_are_fine(tmp_path: Path) -> None:
    (tmp_path / "windows.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: {c: 2}\r\n")
    assert read_yaml(tmp_path / "windows.yaml").data == {"a": 1, "b": {"c": 2}}


def test_an_anchor_may_be_used_twice(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &x {k: 1}\nb: *x\n").data == {"a": {"k": 1}, "b": {"k": 1}}


def test_where_names_the_line_of_a_key_or_of_the_block_around_it(tmp_path: Path) -> None:
    source = read(tmp_path, "name: x\nworkload:\n  kind: stars\n  prefix: [1, 2]\n")
    file = tmp_path / "a.yaml"
    assert source.where(("workload", "prefix", 1)) == f"{file}:4: workload.prefix.1"
    assert source.where(("workload", "missing")) == f"{file}:2: workload.missing"
    assert source.where(("backend",)) == f"{file}:1: backend"


def test_an_override_is_its_own_address(tmp_path: Path) -> None:
    source = read(tmp_path, "workload:\n  kind: stars\n")
    source.put(("workload", "sharing"), 0.5, "--set workload.sharing")
    source.put(("workload", "lengths"), {"low": 1}, "--set workload.lengths")
    assert source.data == {"workload": {"kind": "stars", "sharing": 0.5, "lengths": {"low": 1}}}
    assert source.where(("workload", "sharing")) == "--set workload.sharing"
    assert source.where(("workload", "lengths", "low")) == "--set workload.lengths: workload.lengths.low"


def test_replacing_a_block_forgets_where_its_keys_were(tmp_path: Path) -> None:
    source = read(tmp_path, "values:\n  kind: pareto\n  shape: 1.5\n")
    source.put(("values",), {"kind": "uniform"}, "--set values")
    assert source.data == {"values": {"kind": "uniform"}}
    assert source.where(("values", "shape")) == "--set values: values.shape"


def test_an_override_widens_a_bare_name(tmp_path: Path) -> None:
    source = read(tmp_path, "bidding: truthful\nusers: per-cluster\nschedule: dfs-bid\n")
    source.put(("bidding", "budget"), 3, "--set bidding.budget")
    source.put(("users", "count"), 4, "--set users.count")
    source.put(("schedule", "label"), "d", "--set schedule.label")
    assert source.data == {
        "bidding": {"use": "truthful", "budget": 3},
        "users": {"kind": "per-cluster", "count": 4},
        "schedule": {"use": "dfs-bid", "label": "d"},
    }


def test_an_entry_of_a_list_is_named_by_label_by_name_or_by_number(tmp_path: Path) -> None:
    source = read(tmp_path, "schedule: [dfs-bid, {use: tiers, label: t3, tiers: 3}, no-sort]\n")
    source.put(("schedule", "t3", "tiers"), 4, "--set schedule.t3.tiers")
    source.put(("schedule", "dfs-bid", "label"), "d", "--set schedule.dfs-bid.label")
    source.put(("schedule", "2"), "bid-sort", "--set schedule.2")
    expected = [{"use": "dfs-bid", "label": "d"}, {"use": "tiers", "label": "t3", "tiers": 4}, "bid-sort"]
    assert source.data["schedule"] == expected
    assert source.where(("schedule", 1, "tiers")) == "--set schedule.t3.tiers"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("schedule", "dfs_bid"), 'found "dfs_bid"; expected an entry of the list. Did you mean "dfs-bid"?'),
        (("schedule", "7"), 'found "7"; expected an entry of the list.'),
        (("seed", "x"), "found 3 at seed; expected a block to set a key in."),
    ],
)
def test_an_override_that_leads_nowhere(tmp_path: Path, key: tuple[str, ...], message: str) -> None:
    source = read(tmp_path, "seed: 3\nschedule: [dfs-bid]\n")
    with pytest.raises(ScenarioError) as caught:
        source.put(key, 1, "--set it")
    assert message in str(caught.value)


def test_values_after_an_equals_sign_are_yaml() -> None:
    texts = ["3", "1e-3", "no", "[1, 2]", "{kind: pareto, shape: 2}", "", "'3'"]
    values = [3, 0.001, "no", [1, 2], {"kind": "pareto", "shape": 2}, None, "3"]
    assert [parse_value(text, "--set k") for text in texts] == values


def test_a_broken_value_names_its_option() -> None:
    with pytest.raises(ScenarioError, match=r"^--set k: found broken YAML"):
        parse_value("[1", "--set k")
