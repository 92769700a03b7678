"""The command line end to end: exit codes, streams, files."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from command_line import SMALL, run_cli, write_small

COLUMNS = {
    "requests": "request_id schedule trial user session turn batch position prompt_tokens cached_tokens output_tokens "
    "arrival_s dispatch_s admitted_s first_token_s finish_s ttft_s server_ttft_s client_queue_time_s tpot_s e2e_s "
    "value bid priority realised_priority payment num_retractions status error",
    "auctions": "schedule trial batch formed_s n num_users tree_nodes scheduled_welfare declared_welfare revenue "
    "auction_ms",
    "payments": "schedule trial batch user num_requests declared_value obtained_value payment utility multiplier "
    "budget_left",
    "engine_steps": "schedule trial start_s duration_s kind num_requests new_tokens context_tokens kv_used_tokens "
    "evicted_tokens",
}
Capsys = pytest.CaptureFixture[str]


def simulate(capsys: Capsys, tmp_path: Path, *arguments: object) -> tuple[dict[str, object], Path]:
    done = run_cli(capsys, "simulate", *arguments, "--json", "--no-report", "--out", tmp_path / "runs")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    return summary, Path(summary["run_dir"])


def test_simulate_writes_every_record_with_the_documented_columns(capsys: Capsys, tmp_path: Path) -> None:
    summary, run = simulate(capsys, tmp_path, write_small(tmp_path))
    for name, columns in COLUMNS.items():
        assert pl.read_parquet(run / f"{name}.parquet").columns == columns.split()
    assert json.loads((run / "summary.json").read_text()) == {k: v for k, v in summary.items() if k != "run_dir"}
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["profile"]["provenance"]["method"] == "derived from tables, not from a live server"
    assert list(summary["schedules"]) == ["dfs-bid", "dfs-uniform", "bid-sort", "no-sort"]  # type: ignore[call-overload]


def test_equal_seeds_give_byte_equal_records_and_other_seeds_do_not(capsys: Capsys, tmp_path: Path) -> None:
    scenario = write_small(tmp_path)
    _, first = simulate(capsys, tmp_path, scenario)
    _, second = simulate(capsys, tmp_path, scenario)
    _, other = simulate(capsys, tmp_path, scenario, "--seed", 1)
    for name in (*(f"{name}.parquet" for name in COLUMNS), "summary.json", "scenario.yaml"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert (first / "requests.parquet").read_bytes() != (other / "requests.parquet").read_bytes()


def test_a_run_can_be_repeated_from_its_own_folder(capsys: Capsys, tmp_path: Path) -> None:
    _, first = simulate(capsys, tmp_path, write_small(tmp_path), "--set", "batching.size=8")
    _, again = simulate(capsys, tmp_path, first / "scenario.yaml")
    assert (first / "requests.parquet").read_bytes() == (again / "requests.parquet").read_bytes()


def test_every_schedule_meets_the_same_requests(capsys: Capsys, tmp_path: Path) -> None:
    _, run = simulate(capsys, tmp_path, write_small(tmp_path))
    rows = pl.read_parquet(run / "requests.parquet").sort("schedule", "trial", "request_id")
    same = ["trial", "request_id", "user", "prompt_tokens", "arrival_s", "value"]
    parts = [part.select(same) for part in rows.partition_by("schedule")]
    assert all(part.equals(parts[0]) for part in parts)


def test_invariants_of_every_row(capsys: Capsys, tmp_path: Path) -> None:
    _, run = simulate(capsys, tmp_path, write_small(tmp_path), "--set", "workload.output_tokens=9")
    rows = pl.read_parquet(run / "requests.parquet")
    assert rows["status"].unique().to_list() == ["ok"]
    assert rows["output_tokens"].unique().to_list() == [9]
    assert rows.filter(
        (pl.col("cached_tokens") < 0)
        | (pl.col("cached_tokens") >= pl.col("prompt_tokens"))
        | (pl.col("payment") > pl.col("bid") * pl.col("priority") + 1e-12)
        | (pl.col("payment") < 0)
        | (pl.col("dispatch_s") < pl.col("arrival_s"))
        | (pl.col("admitted_s") < pl.col("dispatch_s"))
        | (pl.col("first_token_s") <= pl.col("admitted_s"))
        | (pl.col("finish_s") < pl.col("first_token_s"))
    ).is_empty()
    paid = pl.read_parquet(run / "payments.parquet").group_by("schedule").agg(pl.col("payment").sum())
    by_request = rows.group_by("schedule").agg(pl.col("payment").sum())
    both = paid.join(by_request, on="schedule")
    assert both["payment"].to_list() == pytest.approx(both["payment_right"].to_list())


def test_no_more_than_in_flight_are_inside_the_engine(capsys: Capsys, tmp_path: Path) -> None:
    _, run = simulate(capsys, tmp_path, write_small(tmp_path), "--set", "dispatch.in_flight=3")
    for part in pl.read_parquet(run / "requests.parquet").partition_by("schedule", "trial"):
        edges = [(t, 1) for t in part["dispatch_s"]] + [(t, -1) for t in part["finish_s"]]
        inside = peak = 0
        for _, change in sorted(edges):
            inside += change
            peak = max(peak, inside)
        assert peak == 3


def test_all_rejected_is_exit_4_with_nulls_not_zeros(capsys: Capsys, tmp_path: Path) -> None:
    done = run_cli(
        capsys, "simulate", write_small(tmp_path), "--set", "backend.kv_tokens=10", "--json", "--out", tmp_path / "runs"
    )
    assert done.code == 4
    metrics = json.loads(done.out)["schedules"]["dfs-bid"]
    assert metrics["statuses"] == {"rejected": 80}
    assert metrics["mean_ttft_ms"] == {"mean": None, "se": None, "n": 0}
    assert Path(json.loads(done.out)["run_dir"], "report.html").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SMALL.replace("size: 16", "sise: 16"), 'small.yaml:6: batching.sise: found the unknown key; .*"size"'),
        (SMALL.replace("trials: 2", "trials: 2\ntrials: 3"), r"small.yaml:3.*trials"),
        (SMALL.replace("kv_tokens: 1000", "kv_tokens: .nan"), "backend.kv_tokens"),
        (SMALL.replace("kv_tokens: 1000", "kv_tokens: -1"), "backend.kv_tokens"),
        (SMALL.replace("kv_tokens: 1000", "kv_tokens: true"), "backend.kv_tokens"),
        (SMALL.replace("kv_tokens: 1000", "profile: h100-qwen3-33b"), "h100-qwen3-32b"),
        (SMALL.replace("dfs-bid,", "dfs-bit,"), 'Did you mean "dfs-bid"'),
        ("name: x\nworkload: {kind: jsonl, path: nowhere.jsonl}\nschedule: dfs-bid\nbackend: simulated\n", "nowhere"),
    ],
)
def test_bad_input_is_exit_2_and_says_where(capsys: Capsys, tmp_path: Path, text: str, expected: str) -> None:
    done = run_cli(capsys, "simulate", write_small(tmp_path, text), "--out", tmp_path / "runs")
    assert done.code == 2
    assert done.out == ""
    assert expected.split(".*")[-1].replace("\\", "") in done.err
    assert not (tmp_path / "runs").exists()


def test_check_says_ok_and_schema_is_json(capsys: Capsys, tmp_path: Path) -> None:
    assert run_cli(capsys, "check", write_small(tmp_path)).out.endswith(": ok\n")
    assert json.loads(run_cli(capsys, "schema").out)["type"] == "object"


@pytest.mark.parametrize(
    "arguments", [["simulate"], ["simulat", "x"], ["simulate", "x", "--trails", "3"], ["list", "a", "b"]]
)
def test_a_misused_command_is_exit_2_with_one_line(capsys: Capsys, arguments: list[str]) -> None:
    done = run_cli(capsys, *arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert len(done.err.splitlines()) == 1


def test_list_names_the_plugins(capsys: Capsys) -> None:
    listed = json.loads(run_cli(capsys, "list", "--json").out)
    assert "dfs-bid" in listed["schedule"]
    assert "h100-qwen3-32b" in listed["profile"]
    assert run_cli(capsys, "list", "scedule").code == 2
    assert 'Did you mean "profile"' in run_cli(capsys, "list", "profle").err
    assert run_cli(capsys, "list", "profile").out.startswith("profile: h100-")


def test_list_of_a_block_shows_keys_and_defaults(capsys: Capsys) -> None:
    stars = json.loads(run_cli(capsys, "list", "workload", "--json").out)["workload"]["stars"]
    assert stars["parameters"]["cluster_size"] == {"about": "requests in a cluster.", "default": 16}
    jsonl = run_cli(capsys, "list", "workload").out.split("\njsonl: ")[1]
    assert "    path (required): the file." in jsonl.splitlines()
    told = run_cli(capsys, "list", "backend").out
    assert '    engine (default "0.5.23"): whose scheduling and cache rules' in told
    for block in ("users", "values", "arrivals", "schedule", "payment", "bidding"):
        assert run_cli(capsys, "list", block).code == 0


def test_an_interrupt_keeps_what_was_measured(capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sim.market import Market

    leave = Market._leave

    def leave_then_interrupt(self: Market, served: object) -> None:
        leave(self, served)  # type: ignore[arg-type]
        if self.log.status.count("ok") == 25:
            raise KeyboardInterrupt

    monkeypatch.setattr(Market, "_leave", leave_then_interrupt)
    done = run_cli(capsys, "simulate", write_small(tmp_path), "--json", "--out", tmp_path / "runs")
    assert done.code == 130
    run = Path(json.loads(done.out)["run_dir"])
    assert json.loads((run / "manifest.json").read_text())["status"] == "interrupted"
    rows = pl.read_parquet(run / "requests.parquet")
    assert rows["status"].value_counts(sort=True).rows() == [("ok", 25), ("incomplete", 15)]


@pytest.mark.parametrize("arguments", [["--help"], ["check", "mixshare-50"], ["schema"], ["list"]])
def test_light_commands_load_no_heavy_package(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom sim.cli import main\nsys.argv[1:] = " + repr(arguments) + "\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {"scipy", "plotly", "networkx", "polars", "ray", "joblib", "aiohttp"}


def test_simulate_does_not_load_scipy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom sim.cli import main\n"
        f"sys.argv[1:] = ['simulate', {str(write_small(tmp_path))!r}, '--no-report', '--out', {str(tmp_path)!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "assert 'scipy' not in sys.modules and 'plotly' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
