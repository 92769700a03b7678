"""The `validate` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.cli_options import JsonOption, QuietOption, ScenarioArgument, SeedOption, SetOption, TrialsOption
from sim.cli_output import print_json, print_table, say
from sim.errors import InvariantError
from sim.live_scenario import UrlOption, live_scenario

if TYPE_CHECKING:
    from sim.validation import Validation

__all__ = ["validate_command"]

ProfileOption = Annotated[str, typer.Option("--profile", help="A profile written by calibrate, or a shipped one.")]
Runs = Annotated[int, typer.Option("--runs", min=1, help="Live runs; two or more tell the server's own spread.")]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")]


def validate_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer; `late` gives functions of the rooms above by "module:name"."""
    simulated, load_profile = late("backends._calibrated:calibrated"), late("backends._profile:load_profile")
    write_page = late("reports.fidelity_page:write_fidelity_page")

    def validate(
        scenario: ScenarioArgument,
        profile: ProfileOption,
        url: UrlOption = None,
        runs: Runs = 2,
        overrides: SetOption = None,
        seed: SeedOption = None,
        trials: TrialsOption = None,
        out: Out = Path("fidelity.html"),
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """Run a scenario live and simulated; pass or fail on TTFT, hit rate, order and welfare."""
        from sim.progress_bar import serving_bar
        from sim.run_folder import check_page
        from sim.validation import validate as compare

        check_page(out)
        loaded = live_scenario(scenario, backend_types(), url, overrides or [], seed=seed, trials=trials)
        card = load_profile(profile).card
        with serving_bar(loaded.trials, show=not quiet) as progress:
            found = compare(loaded, simulated, card, runs, progress)
        for warning in found.warnings:
            say(f"warning: {warning}")
        page = write_page(found, out)
        if as_json:
            print_json({**found.to_json(), "page": str(page)})
        elif not quiet:
            from sim.validation_table import validation_table

            print_table(validation_table(found))
            typer.echo(f"page: {page}")
        if not found.passed:
            say(f"error: {_failures(found)}")
            raise typer.Exit(InvariantError.exit_code)

    return validate


def _failures(found: Validation) -> str:
    failed = [(f"{each.schedule} {v.measure}", v) for each in found.schedules for v in each.verdicts if not v.passed]
    ours, own = ([name for name, v in failed if v.server_wanders == wanders] for wanders in (False, True))
    said = [f"not within its threshold: {', '.join(ours)}"] if ours else []
    if own:
        said.append(f"two runs of the server itself differ by more than the threshold: {', '.join(own)}")
    return "; ".join(said)
