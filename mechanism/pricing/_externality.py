"""The terms of Algorithm 2: what a user's bids cost the others, per family of siblings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechanism.pricing._families import Families, Money
from mechanism.prompts import IntArray
from mechanism.ranges import changes, expand, suffix_sums_after

__all__ = ["charge_many_requests", "charge_one_request"]

_PORTION = 1 << 18  # (request, ancestor) pairs looked at together


def charge_one_request(payments: Money, families: Families, bids: Money, users: IntArray) -> None:
    """Add to `payments`, for users with one positive bid, the Φ others gain when that bid is zero.

    At an ancestor's slot s the user leaves G = F − b behind. The younger siblings whose average exceeds G/N overtake
    it; together they gain N_s·ΣF − G_s·ΣN. Slots that not even the greatest bid below would let down are skipped.

    Parameters
    ----------
    payments : (num_users,) in units of Φ, changed in place.
    bids, users : (n,) in schedule order; bids of all other users are zero.
    """
    bidders, first, size = _bidders_below(families, bids)
    slots = np.flatnonzero((size > 0) & (np.arange(len(size)) + 1 < families.end))
    for chunk in _portions(slots, size[slots]):
        slot = np.repeat(chunk, size[chunk])
        who = bidders[expand(first[chunk], size[chunk])]
        rest = np.where(families.num_bidders[slot] == 1, 0, families.total[slot] - bids[who])
        average = rest / _exact(families.count[slot], rest)
        falls = families.average[slot + 1] > average
        slot, who, rest, average = slot[falls], who[falls], rest[falls], average[falls]
        total, count = families.between(slot, families.last_above(slot, average))
        np.add.at(payments, users[who], _gain(families.count[slot], rest, total, count))


def charge_many_requests(payments: Money, families: Families, bids: Money, users: IntArray) -> None:
    """The same for users with several positive bids, whose bids weaken several siblings of a family at once.

    J is the set of slots of one family that hold bids of one user. Unaffected siblings overtake as above, with J taken
    out of the sums; inside J the slots are sorted anew by G/N.
    """
    bidders, first, size = _bidders_below(families, bids)
    slots = np.flatnonzero(size > 0)
    num_slots = len(size)
    for chunk in _portions(slots, size[slots], families.family[slots]):
        slot = np.repeat(chunk, size[chunk])
        who = bidders[expand(first[chunk], size[chunk])]
        key = users[who] * num_slots + slot
        order = np.argsort(key)
        key, begin = key[order], np.flatnonzero(changes(key[order]))
        own = np.add.reduceat(bids[who[order]], begin)
        num_own = np.diff(np.append(begin, len(key)))
        user, slot = key[begin] // num_slots, key[begin] % num_slots
        only_his = families.num_bidders[slot] == num_own
        rest = np.where(only_his, 0, np.maximum(families.total[slot] - own, 0))
        _charge_affected(payments, families, user, slot, rest)


def _charge_affected(payments: Money, families: Families, user: IntArray, slot: IntArray, rest: Money) -> None:
    """`user`, `slot`: the members of all J, sorted; `rest`: their G."""
    num_slots = len(families.vertex)
    count = families.count[slot]
    average = rest / _exact(count, rest)
    last = families.last_above(slot, average)
    total_passing, num_passing = families.between(slot, last)

    at = np.arange(len(slot))
    begins = changes(user, families.family[slot])
    start = np.flatnonzero(begins)
    end = np.repeat(np.append(start[1:], len(slot)), np.diff(np.append(start, len(slot))))
    affected = np.searchsorted(user * num_slots + slot, user * num_slots + last, side="right") - 1
    total_after = suffix_sums_after(families.total[slot], end)
    served = np.cumsum(count)
    num_passing = num_passing - (served[affected] - served[at])
    total_passing = total_passing - (total_after[at] - total_after[affected])
    total_passing = np.where(num_passing == 0, 0, total_passing)
    np.add.at(payments, user, _gain(count, rest, total_passing, num_passing))

    group = np.cumsum(begins) - 1
    standing = np.searchsorted(np.sort(-average), -average)
    anew = np.lexsort((standing, group))
    behind = np.empty(len(slot), dtype=np.int64)
    behind[anew] = -np.cumsum(count[anew])
    fewer_ahead = behind + served  # requests of J now behind that stood ahead
    np.add.at(payments, user[start], np.maximum(np.add.reduceat(rest * _exact(fewer_ahead, rest), start), 0))


def _gain(count: IntArray, rest: Money, total: Money, num_passing: IntArray) -> Money:
    """N_s·ΣF − G_s·ΣN, which rounding must not make negative."""
    gain = _exact(count, rest) * total - rest * _exact(num_passing, rest)
    positive: Money = np.maximum(gain, 0)
    return positive


def _exact(counts: IntArray, like: Money) -> Money:
    """Counts as numbers that may be mixed with `like`: Python integers beside Fractions."""
    return counts.astype(object) if like.dtype == object else counts


def _bidders_below(families: Families, bids: Money) -> tuple[IntArray, IntArray, IntArray]:
    """Positions with a positive bid, and for each slot the range [first, first + size) of those below it."""
    positive = bids > 0
    before: IntArray = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(positive, dtype=np.int64)))
    first: IntArray = before[families.begin]
    return np.flatnonzero(positive), first, before[families.begin + families.count] - first


def _portions(slots: IntArray, size: IntArray, family: IntArray | None = None) -> Iterator[IntArray]:
    """Runs of slots with about `_PORTION` requests below them, families unbroken where given."""
    portion = np.cumsum(size) // _PORTION
    if family is not None:
        begins = np.flatnonzero(changes(family))
        portion = np.repeat(portion[begins], np.diff(np.append(begins, len(family))))
    cuts = np.flatnonzero(changes(portion))[1:]
    if len(slots):
        yield from np.split(slots, cuts)
