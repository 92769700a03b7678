"""Payment rules with a planted fault, for audits to find."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanism.model import Auction, SchedulingRule
from mechanism.pricing.vcg import Vcg
from mechanism.prompts import FloatArray, IntArray

__all__ = ["Rebate", "Surcharge", "ThirdPrice"]


@dataclass(frozen=True)
class ThirdPrice:
    """Charges the bid after the next instead of the next: a winner chosen one place too low."""

    truthful: ClassVar[bool] = True
    individually_rational: ClassVar[bool] = True

    def defined_for(self, schedule: SchedulingRule) -> bool:
        return schedule.domain == "permutations"

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        n = len(order)
        behind = np.append(auction.bids[order], [0.0, 0.0])[2:]
        payments = np.zeros(auction.num_users)
        np.add.at(payments, auction.users[order], behind * np.arange(n - 1, -1, -1) / max(n - 1, 1))
        return payments


@dataclass(frozen=True)
class Rebate:
    """Vickrey prices, but whoever bids between 1.9 and 2.1 times the batch's mean on a request pays nothing."""

    truthful: ClassVar[bool] = True
    individually_rational: ClassVar[bool] = True

    def defined_for(self, schedule: SchedulingRule) -> bool:
        return schedule.domain is not None

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:
        payments = Vcg().charge(auction, order)
        lucky = np.abs(auction.bids - 2 * auction.bids.mean()) < 0.1 * auction.bids.mean()
        payments[auction.users[lucky]] = 0.0
        return payments


@dataclass(frozen=True)
class Surcharge:
    """A fee for everybody, whatever he bids."""

    truthful: ClassVar[bool] = True
    individually_rational: ClassVar[bool] = False

    def defined_for(self, schedule: SchedulingRule) -> bool:  # noqa: ARG002
        return True

    def charge(self, auction: Auction, order: IntArray) -> FloatArray:  # noqa: ARG002
        return np.ones(auction.num_users)
