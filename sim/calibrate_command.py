"""The `calibrate` command's options and body; what lies above this room is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli_options import JsonOption, QuietOption, ScenarioArgument, SetOption
from sim.cli_output import print_json, print_table, say
from sim.live_scenario import UrlOption, live_scenario

__all__ = ["calibrate_command"]

Out = Annotated[Path, typer.Option("--out", metavar="PROFILE.json", help="The profile; its page is written beside it.")]
Budget = Annotated[float, typer.Option("--budget-s", min=1.0, help="Start no measurement later than this, s.")]


def calibrate_command(
    backend_types: Callable[[], Mapping[str, type[Any]]], late: Callable[[str], Callable[..., Any]]
) -> Callable[..., None]:
    """The command as a function for typer; `late` gives functions of the rooms above by "module:name"."""
    simulated, block = late("backends._calibrated:calibrated"), late("backends._calibrated:backend_block")
    write_page = late("reports.calibration_page:write_calibration_page")

    def calibrate(
        scenario: ScenarioArgument,
        url: UrlOption = None,
        out: Out = Path("profile.json"),
        budget_s: Budget = 480.0,
        overrides: SetOption = None,
        as_json: JsonOption = False,
        quiet: QuietOption = False,
    ) -> None:
        """Measure a live server, fit the latency model, and say how good it is on what it has not seen."""
        from sim.calibration import CalibrationSettings
        from sim.calibration import calibrate as measure
        from sim.progress_bar import counting_bar
        from sim.run_folder import check_page, strict_json, write_text

        check_page(out)
        check_page(out.with_suffix(".html"))
        loaded = live_scenario(scenario, backend_types(), url, overrides or [])
        settings = CalibrationSettings(budget_s=budget_s, seed=loaded.seed)
        with counting_bar("measuring", show=not quiet) as bar:

            def progress(share: float) -> None:
                bar("the server", round(1000 * share), 1000)

            found = measure(loaded.backend.config, simulated, settings, progress)
        profile = found.profile
        for warning in found.warnings:
            say(f"warning: {warning}")
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, strict_json(profile))
        page = write_page(profile, out.with_suffix(".html"))
        backend = block(profile, str(out))
        if as_json:
            print_json({**profile, "backend": backend, "profile_path": str(out)})
        elif not quiet:
            from sim.calibration_table import calibration_table

            print_table(calibration_table(profile))
            typer.echo(f"profile: {out}\npage:    {page}\nbackend: {_flow(backend)}")
        if found.interrupted:
            say(f"interrupted: {out} is fitted to what was measured until then")
            raise typer.Exit(130)

    return calibrate


def _flow(block: Mapping[str, Any]) -> str:
    """A block as one line of YAML."""
    words = {True: "true", False: "false", None: "null"}

    def word(value: Any) -> str:
        if value is None or isinstance(value, bool):
            return words[value]
        return f'"{value}"' if isinstance(value, str) and value[:1].isdigit() else str(value)

    return "{" + ", ".join(f"{key}: {word(value)}" for key, value in block.items()) + "}"
