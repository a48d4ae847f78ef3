"""Simulated runs, billed by providers whose rules are not ours."""

from __future__ import annotations

import random
from typing import NamedTuple

from strands_ctx.tokens import Calibration, Features


class Provider(NamedTuple):
    """How a provider bills: tokens for each of ours, and by how much a message deviates."""

    result_ratio: float
    other_ratio: float
    message_tokens: float
    noise_ratio: float = 0.02
    fixed_tokens: int = 0


class Entry(NamedTuple):
    """One message of a simulated log."""

    result_tokens: int
    other_tokens: int
    billed: float


class Call(NamedTuple):
    """One call: what was estimated before it, what was billed, and the margin that was kept."""

    number: int
    estimate: int
    billed: int
    margin_ratio: float

    @property
    def error_ratio(self):
        """How far off the estimate was."""
        return abs(self.estimate - self.billed) / self.billed

    @property
    def exceeded(self):
        """Whether the bill was above the estimate and its margin."""
        return self.estimate * (1 + self.margin_ratio) < self.billed


class Run:
    """An agent's run: it researches, then talks, and its view is cut or capped when it is full."""

    def __init__(self, seed, provider):
        self.random = random.Random(seed)
        self.provider = provider
        self.limit = self.random.choice([30_000, 60_000, 120_000])
        self.system = self.entry(0, self.random.randint(300, 5_000))
        self.log = [self.entry(0, self.random.randint(10, 400))]

    def entry(self, result, other):
        """A message with the provider's own deviation."""
        exact = self.provider.result_ratio * result + self.provider.other_ratio * other
        noise = self.random.gauss(0, self.provider.noise_ratio)
        return Entry(result, other, exact * (1 + noise) + self.provider.message_tokens)

    def features(self):
        """What our counter sees."""
        entries = [self.system, *self.log]
        results, others = sum(e.result_tokens for e in entries), sum(e.other_tokens for e in entries)
        return Features(results, others, len(self.log), prompts=1)

    def billed(self):
        """What the provider sees."""
        return round(self.system.billed + sum(e.billed for e in self.log)) + self.provider.fixed_tokens

    def grow(self, phase):
        """Append what one call brings."""
        uniform = self.random.randint
        if phase == "research":
            self.log += [self.entry(0, uniform(40, 300)), self.entry(uniform(200, 9_000), 0)]
        elif phase == "talk":
            self.log += [self.entry(0, uniform(200, 2_500)), self.entry(0, uniform(20, 3_000))]
        else:
            heavy = int(self.random.paretovariate(1.1) * 150) % 20_000
            self.log += [self.entry(0, uniform(40, 1_500)), self.entry(heavy, 0)]

    def shrink(self):
        """Cut to two fifths, or cap the old results, when the view is full."""
        features = self.features()
        total = features.result_tokens + features.other_tokens
        if total < self.limit:
            return
        if self.random.random() < 0.5:
            self.log = [self.log[0], *self.log[-(len(self.log) * 2 // 5) :]]
        else:
            old = [self.entry(min(e.result_tokens, 150), e.other_tokens) for e in self.log[:-4]]
            self.log = old + self.log[-4:]
            if sum(e.result_tokens + e.other_tokens for e in self.log) > self.limit:
                self.log = [self.log[0], *self.log[-6:]]

    def play(self, calls=60):
        """Every call of the run."""
        calibration, played = Calibration(), []
        kind = self.random.choice(["research", "talk", "mixed", "flip"])
        for number in range(calls):
            features, billed = self.features(), self.billed()
            margin = calibration.margin_ratio(features)
            played.append(Call(number, calibration.estimate(features), billed, margin))
            calibration = calibration.observe(features, usage(billed))
            flipped = "research" if number // 15 % 2 == 0 else "talk"
            self.grow(flipped if kind == "flip" else kind)
            self.shrink()
        return played


def usage(billed):
    """A usage without a cache."""
    return {"inputTokens": billed, "outputTokens": 50, "totalTokens": billed + 50}


def calls(provider, first=3, runs=60):
    """The calls of many runs, the first few of each left out."""
    return [call for seed in range(runs) for call in Run(seed, provider).play()[first:]]


def quantile(values, share):
    """The value below which a share of them lies."""
    return sorted(values)[int(share * len(values))]


PROVIDERS = {
    "results dear": Provider(1.25, 0.85, 7),
    "results cheap": Provider(0.8, 1.3, 7),
    "all dear": Provider(1.35, 1.4, 15),
    "as counted": Provider(1.0, 1.0, 4),
    "quiet": Provider(1.25, 0.85, 7, noise_ratio=0.01),
    "noisy": Provider(1.25, 0.85, 7, noise_ratio=0.03),
    "with a fixed part": Provider(1.1, 0.9, 5, fixed_tokens=346),
}
