"""How long a private ROC curve takes, side by side with scikit-learn's curve without privacy.

Bands are timed apart, each the first of its curve together with the interval of the AUC: where there are more than 32
bins, the draws behind both are made only then, at a cost that does not grow with n. ``--json``: the last line is a flat
object of ratios, peer ÷ ours, larger is better; for bands 100 ms ÷ ours.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from sklearn import metrics

import tacit


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest run: by the clock, as idle threads of a linear algebra library count as busy."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out ten million scores")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    options = parser.parse_args()
    ratios = {}
    rng = np.random.default_rng(0)
    print(f"{'scores':>12}  {'scikit-learn':>12}  {'tacit':>9}  {'ratio':>6}  {'band':>9}")
    for n in (10_000, 1_000_000) if options.quick else (10_000, 1_000_000, 10_000_000):
        y = rng.integers(0, 2, n)
        scores = 1 / (1 + np.exp(-rng.normal(1.5 * y)))
        repeats = 5 if n <= 1_000_000 else 2
        theirs = best_of(repeats, lambda y=y, s=scores: metrics.roc_curve(y, s))
        ours = best_of(repeats, lambda y=y, s=scores: tacit.roc_curve(y, s, epsilon=1.0))
        curves = [tacit.roc_curve(y, scores, epsilon=1.0) for _ in range(2)]
        band = min(best_of(1, lambda c=c: (c.band(), c.auc_interval())) for c in curves)
        ratios[f"roc_curve_{n:.0e}".replace("+0", "")] = theirs / ours
        ratios[f"band_100ms_{n:.0e}".replace("+0", "")] = 0.1 / band
        print(f"{n:12,}  {theirs * 1e3:9.1f} ms  {ours * 1e3:6.1f} ms  {theirs / ours:6.2f}  {band * 1e3:6.1f} ms")
    if options.json:
        print(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}))


if __name__ == "__main__":
    main()
