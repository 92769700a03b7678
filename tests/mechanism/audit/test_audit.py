"""The audit finds planted faults, finds nothing where theory says there is nothing, and finds the same again."""

import numpy as np
import pytest
from audit_kit import game_of
from broken_rules import Rebate, ThirdPrice

from mechanism.audit.coalitions import Coalitions
from mechanism.audit.false_names import FalseNames
from mechanism.audit.game import TOLERANCE, Deviation, Game
from mechanism.audit.misreports import Misreports
from mechanism.audit.run import audit
from mechanism.model import PricingRule, SchedulingRule
from mechanism.pricing.free import Free
from mechanism.pricing.gsp import Gsp
from mechanism.pricing.pay_as_bid import PayAsBid
from mechanism.pricing.vcg import Vcg
from mechanism.scheduling.bid_sort import BidSort
from mechanism.scheduling.dfs_bid import DfsBid
from mechanism.scheduling.fair import Fair
from mechanism.scheduling.no_sort import NoSort


def random_game(seed: int, schedule: SchedulingRule, pricing: PricingRule, n: int = 18, num_users: int = 6) -> Game:
    rng = np.random.default_rng(seed)
    rows = [[int(rng.integers(4)), int(rng.integers(2)), 100 + r] for r in range(n)]
    values, users = (rng.pareto(1.5, n) + 1).tolist(), (np.arange(n) % num_users).tolist()
    return game_of(rows, values, users, schedule, pricing)


def misreports(game: Game) -> int:
    (finding,) = audit(game, 99, np.random.default_rng(0), [Misreports()])
    assert finding.tried == game.num_users
    return len(finding.deviations)


@pytest.mark.parametrize("schedule", [DfsBid(), BidSort()])
def test_vcg_shows_no_unilateral_gain(schedule: SchedulingRule) -> None:
    for seed in range(2):
        assert misreports(random_game(seed, schedule, Vcg(), n=14, num_users=5)) == 0


@pytest.mark.parametrize("pricing", [PayAsBid(), Gsp(), Free()])
def test_rules_that_are_not_truthful_are_gamed_by_many(pricing: PricingRule) -> None:
    assert misreports(random_game(0, DfsBid(), pricing)) >= 3


def test_a_schedule_blind_to_bids_cannot_be_gamed_by_bids() -> None:
    assert misreports(random_game(0, NoSort(), Free())) == 0


@pytest.mark.parametrize("pricing", [ThirdPrice(), Rebate()])
def test_a_planted_fault_is_found(pricing: PricingRule) -> None:
    game = random_game(1, BidSort(), pricing, n=12, num_users=12)
    assert pricing.truthful  # so it says
    (finding,) = audit(game, 99, np.random.default_rng(0), [Misreports()])
    assert finding.deviations
    for each in finding.deviations:  # what is reported can be reproduced
        (user,) = each.who
        again = game.play(each.lie)
        assert again.utility[user] - game.truth.utility[user] == pytest.approx(each.gain, abs=1e-12)
        assert again.welfare == each.welfare
        assert each.gain > TOLERANCE * game.worth(each.who)


def test_two_rivals_that_shade_together_gain_under_vcg() -> None:
    # By hand: bids 2, 2, 0 of users 0, 1, 2. User 0 is first and pays ½·2, user 1 pays nothing. Once user 1 bids less,
    # user 0 pays less: together they gain up to 1, all of it user 0's, so it takes a side payment.
    game = game_of([[1], [2], [3]], [2.0, 2.0, 0.0], [0, 1, 2], BidSort(), Vcg())
    found = Coalitions().search(game, (0, 1), np.random.default_rng(0))
    assert [(each.kind, each.gain) for each in found] == [("coalition-side-payments", 1.0)]


def test_false_names_gain_under_fair_shares_only_if_there_are_requests_to_split() -> None:
    # Turns: 0, 1, 2 get one each before user 0's others, so the last two places are his; with a name each, places 1, 2.
    game = game_of([[r] for r in range(5)], [1.0] * 5, [0, 0, 0, 1, 2], Fair(), Free())
    rng = np.random.default_rng(0)
    assert FalseNames().subjects(game, 99, rng) == [(0,)]
    (found,) = FalseNames().search(game, (0,), rng)
    assert found.gain == pytest.approx(1.0)  # from 1 + 1/4 + 0 to 1 + 3/4 + 1/2
    assert found.how == "sends 3 requests under 3 names"


def test_equal_seeds_find_equal_lies() -> None:
    game = random_game(2, DfsBid(), Vcg(), n=8, num_users=4)

    def found(seed: int) -> list[tuple[str, tuple[int, ...], float]]:
        findings = audit(game, 2, np.random.default_rng(seed))
        return [(each.kind, each.who, each.gain) for finding in findings for each in finding.deviations]

    assert found(5) == found(5)
    assert {finding.kind: finding.tried for finding in audit(game, 2, np.random.default_rng(5))} == {
        "misreport": 2,
        "false-names": 2,
        "coalition": 2,
        "coalition-side-payments": 2,
        "padding": 2,
    }


def test_a_single_request_and_worthless_requests_are_no_trouble() -> None:
    alone = game_of([[1]], [3.0], [0], DfsBid(), Vcg())
    assert not any(finding.deviations for finding in audit(alone, 5, np.random.default_rng(0)))
    worthless = game_of([[1], [2], [1, 2]], [0.0, 0.0, 0.0], [0, 1, 2], DfsBid(), Vcg())
    assert not any(finding.deviations for finding in audit(worthless, 5, np.random.default_rng(0)))


def test_a_pair_never_looks_worse_than_one_of_the_two_alone() -> None:
    for seed in range(3):
        game = random_game(seed, DfsBid(), PayAsBid(), n=12, num_users=4)
        rng = np.random.default_rng(0)
        for pair in ((0, 1), (1, 3)):
            found = {each.kind: each for each in Coalitions().search(game, pair, rng)}
            for user, other in (pair, pair[::-1]):
                (alone,) = Misreports().search(game, (user,), rng)
                together = alone.gain + game.play(alone.lie).utility[other] - game.truth.utility[other]
                assert found["coalition-side-payments"].gain >= together
            if "coalition" in found:
                assert found["coalition-side-payments"].gain >= found["coalition"].gain


def test_ctrl_c_keeps_what_was_found() -> None:
    class Impatient(Misreports):
        def search(self, game: Game, who: tuple[int, ...], rng: np.random.Generator) -> list[Deviation]:
            if who == (3,):
                raise KeyboardInterrupt
            return super().search(game, who, rng)

    game = random_game(0, DfsBid(), PayAsBid())
    told = []
    first, second = audit(
        game, 99, np.random.default_rng(0), [Impatient(), FalseNames()], lambda done, total: told.append((done, total))
    )
    assert (first.planned, first.tried, second.tried) == (6, 3, 0)
    assert {each.who for each in first.deviations} <= {(0,), (1,), (2,)}
    assert first.deviations
    assert told == [(0, 12), (1, 12), (2, 12), (3, 12)]
