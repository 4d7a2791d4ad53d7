"""Draws per second of exact noise, beside OpenDP.

    python benchmarks/noise.py [--quick] [--json]

Both libraries draw the same distributions, exactly, from the operating system's entropy, on one core, in one run. With
``--json`` the last line is a flat object of ratios, ours over OpenDP's in draws per second: larger is better.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version

import numpy as np
import opendp.prelude as dp

from tacit.privacy import _noise

SCALES = (1, 10, 100, 10_000)
VECTORS = (1_000, 100_000, 1_000_000)
GOALS = {"laplace": 50, "gaussian": 20}
GOAL_FROM = 100_000


def ours(law: str, scale: int) -> Callable[[int], object]:
    entropy = _noise.SystemEntropy()
    if law == "laplace":
        return lambda count: _noise.discrete_laplace(Fraction(scale), count, entropy)
    return lambda count: _noise.discrete_gaussian(Fraction(scale * scale), count, entropy)


def theirs(law: str, scale: int) -> Callable[[int], object]:
    space = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "laplace":
        made = dp.m.make_laplace(space, dp.l1_distance(T="i64"), scale=float(scale))
    else:
        made = dp.m.make_gaussian(space, dp.l2_distance(T="i64"), scale=float(scale))
    return lambda count: made([0] * count)


def draws_per_second(draw: Callable[[int], object], count: int, seconds: float) -> float:
    """Return the best rate over repeated calls of at least this many seconds in all, after one to warm up."""
    draw(min(count, 1_000))
    best, began = 0.0, time.perf_counter()
    while True:
        start = time.perf_counter()
        draw(count)
        end = time.perf_counter()
        best = max(best, count / (end - start))
        if end - began >= seconds:
            return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Draws per second of exact noise, beside OpenDP.")
    parser.add_argument("--quick", action="store_true", help="a short run, with less precise figures")
    parser.add_argument("--json", action="store_true", help="end with a line of ratios in JSON")
    options = parser.parse_args()
    dp.enable_features("contrib")
    seconds, most = (0.1, 5_000) if options.quick else (0.6, 50_000)

    print(f"Python {platform.python_version()}, numpy {np.__version__}, OpenDP {version('opendp')}, one core")
    print(f"OpenDP's time grows with the number of draws: vectors above {most:,} are measured on {most:,} draws.")
    print(f"\n{'law':<10}{'scale':>8}{'vector':>12}{'tacit, draws/s':>18}{'OpenDP, draws/s':>18}{'ratio':>9}")
    ratios: dict[str, float] = {}
    for law in GOALS:
        for scale in SCALES:
            for count in VECTORS:
                fast = draws_per_second(ours(law, scale), count, seconds)
                slow = draws_per_second(theirs(law, scale), min(count, most), seconds)
                ratios[f"{law}_scale_{scale}_vector_{count}"] = round(fast / slow, 2)
                print(f"{law:<10}{scale:>8,}{count:>12,}{fast:>18,.0f}{slow:>18,.0f}{fast / slow:>8.0f}×", flush=True)
    print()
    for law, goal in GOALS.items():
        large = [r for name, r in ratios.items() if name.startswith(law) and int(name.split("_")[-1]) >= GOAL_FROM]
        ratios[f"{law}_least_from_{GOAL_FROM}"] = min(large)
        verdict = "met" if min(large) >= goal else "missed"
        print(
            f"{law}: at least {min(large):.0f} × OpenDP from {GOAL_FROM:,} draws on; the goal of {goal} × is {verdict}."
        )
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
