import zlib

import numpy as np

from sim.rng import stream


def test_a_stream_is_pcg64_keyed_by_seed_trial_and_name_alone() -> None:
    sequence = np.random.SeedSequence(7, spawn_key=(3, zlib.crc32(b"values")))
    expected = np.random.Generator(np.random.PCG64(sequence)).random(5)
    np.testing.assert_array_equal(stream(7, 3, "values").random(5), expected)


def test_streams_differ_by_seed_trial_and_name() -> None:
    keys = [(seed, trial, name) for seed in (0, 1) for trial in (0, 1) for name in ("users", "values", "arrivals")]
    assert len({float(stream(*key).random()) for key in keys}) == len(keys)


def test_drawing_from_one_stream_moves_no_other() -> None:
    before = stream(0, 0, "arrivals").random(3)
    stream(0, 0, "values").random(1000)
    np.testing.assert_array_equal(stream(0, 0, "arrivals").random(3), before)
