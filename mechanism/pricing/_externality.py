"""The terms of Algorithm 2: what a user's bids cost the others, family by family.

Both functions take `payments`, (num_users,) in units of Φ, and add to it in place; `bids`, (n,) in schedule order and
zero for every user who is the other function's; `users`, (n,) in schedule order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mechanism.pricing._families import Families
from mechanism.pricing._money import Money
from mechanism.prompts import IntArray
from mechanism.ranges import changes, expand, runs, suffix_sums_after

__all__ = ["Bidders", "charge_many_requests", "charge_one_request"]

_PORTION = 1 << 16  # (request, ancestor) pairs looked at together


class Bidders:
    """Positions in the schedule with a positive bid, and which of them are below a slot.

    Attributes
    ----------
    at : (B,) the positions.
    first, size : (S,) those below slot s are ``at[first[s]:first[s] + size[s]]``.
    """

    def __init__(self, families: Families, positive: npt.NDArray[np.bool_]) -> None:
        before = np.zeros(len(positive) + 1, dtype=np.int64)
        np.cumsum(positive, out=before[1:])
        self.at: IntArray = positive.nonzero()[0]
        self.first: IntArray = before[families.begin]
        self.size: IntArray = before[families.begin + families.count] - self.first


def charge_one_request(
    payments: Money, families: Families, all_bidders: Bidders, bids: Money, users: IntArray, greatest: Money
) -> None:
    """The terms of users with one positive bid.

    At an ancestor's slot s the user leaves G = F − b behind. The younger siblings whose average exceeds G/N overtake
    it; together they gain N_s·ΣF − G_s·ΣN. That takes b > F − N·(average of the next sibling): slots where not even the
    `greatest` (S,) of these bids below is that large are passed over. (≥ in the code: a small sibling may be lost in
    the rounding of F − N·average.)
    """
    bidders = Bidders(families, bids > 0)
    slots = ((bidders.size > 0) & (np.arange(1, len(greatest) + 1) < families.end)).nonzero()[0]
    bar = families.total[slots] - families.count[slots] * families.average[slots + 1]
    within_reach = greatest[slots] >= bar
    slots, bar = slots[within_reach], bar[within_reach]
    for portion in _portions(bidders.size[slots]):
        chunk = slots[portion]
        size = bidders.size[chunk]
        pair = np.repeat(np.arange(len(chunk)), size)
        who = bidders.at[expand(bidders.first[chunk], size)]
        falls = (bids[who] >= bar[portion][pair]).nonzero()[0]
        slot, who = chunk[pair[falls]], who[falls]
        count, own = families.count[slot], bids[who]
        rest = np.where(all_bidders.size[slot] == 1, 0, families.total[slot] - own)
        last = families.last_above(slot, rest / count)
        np.add.at(payments, users[who], _gain(count, rest, *families.between(slot, last)))


def charge_many_requests(
    payments: Money, families: Families, all_bidders: Bidders, bids: Money, users: IntArray
) -> None:
    """The terms of users with several positive bids, who weaken several siblings of a family at once.

    J is the set of slots of one family that hold bids of one user. Here its members are found: all pairs of a user and
    a slot, by sorting.
    """
    bidders = Bidders(families, bids > 0)
    slots = bidders.size.nonzero()[0]
    for portion in _portions(bidders.size[slots], families.family[slots]):
        chunk = slots[portion]
        size = bidders.size[chunk]
        who = bidders.at[expand(bidders.first[chunk], size)]
        key = users[who] * len(bidders.size) + np.repeat(chunk, size)
        order = np.argsort(key)
        begin, end = runs(changes(key[order]))
        own = np.add.reduceat(bids[who[order]], begin)
        user, slot = np.divmod(key[order[begin]], len(bidders.size))
        nothing_else = all_bidders.size[slot] == end - begin
        rest = np.where(nothing_else, 0, np.maximum(families.total[slot] - own, 0))
        _charge_affected(payments, families, user, slot, rest)


def _charge_affected(payments: Money, families: Families, user: IntArray, slot: IntArray, rest: Money) -> None:
    """The terms of every J. `user`, `slot`: their members, sorted; `rest`: G, the bids of others there.

    Unaffected siblings overtake as above, with J taken out of the sums. Inside J the slots are sorted anew by G/N: the
    gain is Σ_s G_s·(requests of J that stood ahead of s and now do not).
    """
    count = families.count[slot]
    average = rest / count
    last = families.last_above(slot, average)
    passing_total, passing = families.between(slot, last)

    begins = changes(user, families.family[slot])
    begin, end = runs(begins)
    own_after = suffix_sums_after(families.total[slot], np.repeat(end, end - begin))
    served = np.cumsum(count)
    pair = user * len(families.vertex)
    member = np.searchsorted(pair + slot, pair + last, side="right") - 1  # the last of J among those who pass
    passing = passing - (served[member] - served)
    passing_total = np.where(passing == 0, 0, passing_total - (own_after - own_after[member]))
    np.add.at(payments, user, _gain(count, rest, passing_total, passing))

    group = np.cumsum(begins) - 1
    anew = np.argsort(-average, kind="stable")
    anew = anew[np.argsort(group[anew], kind="stable")]
    served_anew = np.empty(len(slot), dtype=np.int64)
    served_anew[anew] = np.cumsum(count[anew])
    overtaking = np.add.reduceat(rest * (served - served_anew), begin)
    np.add.at(payments, user[begin], np.maximum(overtaking, 0))


def _gain(count: IntArray, rest: Money, total: Money, passing: IntArray) -> Money:
    """N_s·ΣF − G_s·ΣN, which rounding must not make negative."""
    gain: Money = np.maximum(count * total - rest * passing, 0)
    return gain


def _portions(size: IntArray, family: IntArray | None = None) -> Iterator[slice]:
    """Cut slots into runs with about `_PORTION` requests below them; families stay whole where given."""
    if len(size) == 0:
        return
    portion = np.cumsum(size) // _PORTION
    if portion[-1] and family is not None:
        begin, end = runs(changes(family))
        portion = np.repeat(portion[begin], end - begin)
    for begins, ends in zip(*runs(changes(portion)), strict=True):
        yield slice(begins, ends)
