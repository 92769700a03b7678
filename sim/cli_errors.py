"""What ends a command early, in words and as an exit code (DESIGN.md, Command line)."""

from __future__ import annotations

import errno
import os
import sys

import typer
from typer.exceptions import TyperException

from mechanism.errors import AuctionsError
from sim.cli_output import say

__all__ = ["ENDINGS", "ended_by"]

#: Everything that has a sentence of ours; anything else is a fault of the program and keeps its traceback.
ENDINGS = (AuctionsError, TyperException, typer.Abort, KeyboardInterrupt, MemoryError, OSError)

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def ended_by(error: BaseException) -> int:
    """Say why a command ended, and return its exit code: 2 for all that the person at the keyboard can mend."""
    if isinstance(error, AuctionsError):
        say(f"error: {error}")
        return error.exit_code
    if isinstance(error, TyperException):
        say(f"error: {error.format_message()} Add --help to see what a command takes.")
        return int(error.exit_code)
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        say("interrupted")
        return 130
    if isinstance(error, MemoryError):
        say(f"error: not enough memory ({error or 'for this'}); ask for fewer, or shorter, requests")
        return 2
    if isinstance(error, BrokenPipeError):  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    assert isinstance(error, OSError), error
    file = f"{error.filename}: " if error.filename else ""
    full = ": free some room, or write elsewhere with --out; nothing half-written is left"
    say(f"error: {file}{error.strerror or error}{full if error.errno in _FULL else ''}")
    return 2
