"""Splitwise's and Vidur's lengths."""

from pathlib import Path

import pytest
from trace_kit import arrivals_s, csv_of, read

from sim.workloads.splitwise import Splitwise


def test_oddity_o28_noisy_digits_are_the_nearest_nanosecond(tmp_path: Path) -> None:
    path = csv_of(tmp_path / "t.csv", "arrived_at,num_prefill_tokens,num_decode_tokens", "5.8926549999999995,91,16")
    demand = read("splitwise", path)
    assert demand.arrival_ns is not None
    assert demand.arrival_ns.tolist() == [5_892_655_000]
    assert arrivals_s(demand) == pytest.approx([5.892655], abs=1e-9)


def test_the_splitwise_simulators_names_do_as_well(tmp_path: Path) -> None:
    header = "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size"
    demand = read("splitwise", csv_of(tmp_path / "t.csv", header, "0,2,0,1.5,1,374,44"))
    assert (arrivals_s(demand), demand.prompts.num_tokens.tolist()) == ([1.5], [374])
    assert demand.output_tokens.tolist() == [44]


def test_a_file_without_times_records_none(tmp_path: Path) -> None:
    header = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio"
    path = csv_of(tmp_path / "t.csv", header, "3772,54,3826,69.85185185185185")
    assert Splitwise(path=path).recorded() == frozenset()
    assert read("splitwise", path).arrival_ns is None
