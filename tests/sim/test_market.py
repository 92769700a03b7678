"""The market's clock, with times worked out by hand. Service takes 10 ns, one request after another."""

import numpy as np
import pytest
from market_kit import FixedServer, run_market, table

from mechanism.prompts import Prompts
from sim.arrivals import ClosedLoop
from sim.backend import Limits
from sim.errors import InvariantError


def test_saturated_serial_serves_in_bid_order_one_at_a_time() -> None:
    server = FixedServer(10)
    log = run_market(table([0, 0, 0], [1.0, 3.0, 2.0]), server)
    assert server.submitted == [(0, (1,)), (10, (2,)), (20, (0,))]
    assert log.first_token_ns == [30, 10, 20]
    assert log.position.tolist() == [2, 0, 1]
    assert log.priority.tolist() == [0.0, 1.0, 0.5]


def test_batches_of_two_are_auctioned_one_after_another() -> None:
    # The second auction waits until the first batch is wholly dispatched: at 10, its second request gets the place.
    server = FixedServer(10)
    log = run_market(table([0, 0, 0, 0], [1.0, 3.0, 2.0, 4.0]), server, size=2)
    assert log.batch.tolist() == [0, 0, 1, 1]
    assert [auction.formed_ns for auction in log.auctions] == [0, 10]
    assert server.submitted == [(0, (1,)), (10, (0,)), (20, (3,)), (30, (2,))]


def test_without_a_limit_batches_follow_at_once() -> None:
    server = FixedServer(10)
    run_market(table([0, 0, 0, 0], [1.0, 3.0, 2.0, 4.0]), server, size=2, in_flight=None)
    assert server.submitted == [(0, (1, 0)), (0, (3, 2))]


def test_four_in_flight_fills_every_place() -> None:
    server = FixedServer(10)
    run_market(table([0] * 6, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]), server, in_flight=4)
    assert server.submitted == [(0, (0, 1, 2, 3)), (10, (4,)), (20, (5,))]


def test_a_batch_forms_when_full() -> None:
    log = run_market(table([0, 3, 7, 100], [1.0, 1.0, 1.0, 1.0]), FixedServer(1), size=2)
    assert [auction.formed_ns for auction in log.auctions] == [3, 100]


def test_a_batch_forms_when_the_oldest_has_waited_long_enough() -> None:
    log = run_market(table([5, 8, 100, 300], [1.0, 2.0, 1.0, 1.0]), FixedServer(1), size=3, max_wait_ns=20)
    assert [auction.formed_ns for auction in log.auctions] == [25, 120, 300]
    assert log.batch.tolist() == [0, 0, 1, 2]


def test_the_last_batch_does_not_wait_when_no_arrivals_remain() -> None:
    log = run_market(table([0, 4], [1.0, 2.0]), FixedServer(1), size=10, max_wait_ns=1000)
    assert [auction.formed_ns for auction in log.auctions] == [4]


def test_an_arrival_at_the_instant_of_the_deadline_is_in() -> None:
    log = run_market(table([0, 20, 90], [1.0, 2.0, 1.0]), FixedServer(1), size=5, max_wait_ns=20)
    assert log.batch.tolist() == [0, 0, 1]


def test_a_request_that_never_fits_is_rejected_before_any_auction() -> None:
    prompts = Prompts.from_lists([[1] * 5, [2] * 40, [3] * 5])
    server = FixedServer(10, Limits(kv_tokens=20))
    log = run_market(table([0, 0, 0], [1.0, 9.0, 2.0], prompts=prompts), server)
    assert log.status == ["ok", "rejected", "ok"]
    assert log.error[1] is not None
    assert "41 tokens" in log.error[1]
    assert log.position.tolist() == [1, -1, 0]
    assert np.isnan(log.payment[1])
    assert sum(log.payment[[0, 2]]) == pytest.approx(1.0)  # VCG: the winner displaces a bid of 1 by the whole batch


def test_everything_rejected_still_ends() -> None:
    log = run_market(table([0, 0], [1.0, 2.0]), FixedServer(10, Limits(kv_tokens=1)))
    assert log.status == ["rejected", "rejected"]
    assert log.auctions == []


def test_a_failed_request_frees_its_place() -> None:
    log = run_market(table([0, 0], [2.0, 1.0]), FixedServer(10, fail=[0]))
    assert log.status == ["error", "ok"]
    assert log.dispatch_ns == [0, 10]


def test_clients_in_a_closed_loop_send_after_thinking() -> None:
    # Two clients, service 10, thinking 5: finishes at 10, 20; the third arrives at 15, the fourth at 25.
    loop = ClosedLoop(concurrency=2, think_time_s=5e-9)
    log = run_market(table([0] * 4, [1.0] * 4), FixedServer(10), size=1, in_flight=2, closed_loop=loop)
    assert log.arrival_ns == [0, 0, 15, 25]
    assert log.finish_ns == [10, 20, 30, 40]


def test_a_server_that_goes_silent_is_an_error_with_numbers() -> None:
    server = FixedServer(10)
    server.submit = lambda _: None  # type: ignore[method-assign]
    with pytest.raises(InvariantError, match="2 of 2 requests have not left"):
        run_market(table([0, 0], [1.0, 2.0]), server)


def test_user_columns_add_up() -> None:
    log = run_market(table([0] * 4, [4.0, 3.0, 2.0, 1.0], users=[1, 0, 1, 0]), FixedServer(1))
    (auction,) = log.auctions
    # Priorities 1, 2/3, 1/3, 0: user 1 declares 4 + 2/3, user 0 declares 2.
    assert auction.user_requests.tolist() == [2, 2]
    assert auction.user_declared == pytest.approx([2.0, 4 + 2 / 3])
    assert auction.user_payment.sum() == pytest.approx(log.payment.sum())
    assert auction.declared_welfare == pytest.approx(auction.user_declared.sum())
