"""What a calibration stores, and what it makes of what was stored."""

from __future__ import annotations

import json

import pytest

from strands_ctx.tokens import Calibration, Features
from strands_ctx.tokens.prior import UNCALIBRATED
from tests.support.simulated_bills import PROVIDERS, Run, usage

SIZE = len(UNCALIBRATED)
TRIANGLE = SIZE * (SIZE + 1) // 2


def learnt():
    """A calibration in the middle of a run."""
    run, calibration = Run(7, PROVIDERS["noisy"]), Calibration()
    for _ in range(20):
        calibration = calibration.observe(run.features(), usage(run.billed()))
        run.grow("research")
    return calibration


def test_a_restored_calibration_is_the_same():
    """Through JSON and back, and it goes on as if nothing had happened."""
    calibration = learnt()
    restored = Calibration.from_state(json.loads(json.dumps(calibration.to_state())))
    features = Features(90_000, 9_000, 90)
    followed = [c.observe(features, usage(120_000)) for c in (calibration, restored)]
    assert (calibration, followed[0]) == (restored, followed[1])


def test_a_stored_calibration_is_small():
    """Under 1 KB of JSON."""
    assert 1_000 > len(json.dumps(learnt().to_state()))


@pytest.mark.parametrize(
    "damage",
    [
        {"version": 2},
        {"bills": 0},
        {"bills": True},
        {"bills": float("nan")},
        {"last": [1, 2, 3]},
        {"last": [-1] * SIZE},
        {"last": None},
        {"last": [1e14] * SIZE},
        {"billed_tokens": 1e14},
        {"billed_tokens": 0},
        {"billed_tokens": "12"},
        {"billed_tokens": 10**400},
        {"surprise": 0.5},
        {"surprise": None},
        {"matrix": [1.0]},
        {"matrix": [None] * TRIANGLE},
        {"matrix": [float("nan")] * TRIANGLE},
        {"matrix": [-1e9] * TRIANGLE},
        {"outputs": [1.0]},
        {"outputs": "1,1,4"},
    ],
)
def test_a_damaged_state_starts_anew(damage):
    """Garbage is nothing learnt, and no error."""
    assert Calibration() == Calibration.from_state({**learnt().to_state(), **damage})


@pytest.mark.parametrize("state", [None, [], "state", 7, {}])
def test_what_is_no_state_starts_anew(state):
    """Neither is anything else."""
    assert Calibration() == Calibration.from_state(state)
