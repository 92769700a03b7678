"""The exception tree of the product.

AuctionsError
├── MechanismError   an auction that is not well formed, or a rule asked for what it does not define
├── ScenarioError    bad input: a scenario, a trace, a batch file, a command line (exit 2; in sim.errors)
├── BackendError     a server that is not ready or not what it claims (exit 3; in sim.errors)
├── NothingServedError   it ran, and nothing succeeded (exit 4; in sim.errors)
└── InvariantError   a promise of ours was broken, or a run makes no progress (exit 5; in sim.errors)
"""

__all__ = ["AuctionsError", "MechanismError"]


class AuctionsError(Exception):
    """Any error of this product that has a message for the person at the keyboard."""

    exit_code = 1


class MechanismError(AuctionsError):
    """An auction that is not well formed, or a rule asked for something it does not define."""

    exit_code = 2
