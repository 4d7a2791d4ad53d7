"""Raw text and sparse matrices to bounded label × feature counts, beside scikit-learn and scipy.

    python benchmarks/counts.py [--quick] [--json]

Text: the tweets of Sentiment140 (``TACIT_DATA``, or ``../shared/data``; generated text where they are absent), beside
``HashingVectorizer`` and a sparse product, which do not bound. Matrix: 1e6 rows with 1e7 ones among 2^18 features,
beside the plain product ``Y.T @ X``, which does not bound. Both sides take turns in one process and on the same cores;
a figure is the ratio of their best times. With ``--json`` the last line is a flat object of ratios, peer ÷ ours: larger
is better.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer

from tacit.data.bounding import Bounding, default_max_ones
from tacit.data.files import FileOptions
from tacit.data.generator import generate_text
from tacit.data.schema import Schema
from tacit.data.sources import open_source
from tacit.data.statistics import count

FEATURES = 1 << 18
GOALS = {"text_memory": 3.0, "text_file": 3.0} | dict.fromkeys(("csr_r_20", "csr_r_10", "csr_r_8"), 1 / 1.5)


def turns(peer: Callable[[], object], ours: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Best seconds of each, taking turns so that a busy machine slows both."""
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for side, run in enumerate((peer, ours)):
            start = time.perf_counter()
            run()
            best[side] = min(best[side], time.perf_counter() - start)
    return best[0], best[1]


def tweets() -> Path | None:
    for place in (os.environ.get("TACIT_DATA"), Path(__file__).resolve().parents[2] / "shared" / "data"):
        if place and (path := Path(place) / "sentiment140_400k.csv.gz").exists():
            return path
    return None


def text(rows: int, rounds: int) -> dict[str, tuple[float, float]]:
    """From texts in memory, and from the file."""
    path = tweets()
    if path is not None:
        frame = pl.read_csv(path, has_header=False, new_columns=["y", "text"], n_rows=rows)
        print(f"text: {len(frame):,} tweets of Sentiment140")
    else:
        batches = list(generate_text(rows))
        labels = np.concatenate([b.labels for b in batches])
        frame = pl.DataFrame({"y": labels, "text": pl.concat([b.texts for b in batches])})
        print(f"text: Sentiment140 is not there (set TACIT_DATA), so {rows:,} generated rows")
    texts, y = frame["text"].to_list(), frame["y"].to_numpy()
    sides = np.stack([1 - y, y], axis=1)
    vectorizer = HashingVectorizer(n_features=FEATURES, binary=True, norm=None, alternate_sign=False)
    r = default_max_ones(len(texts), FEATURES, 1.0)
    schema = Schema.text((0, 1), bits=18)
    found = {
        "text_memory": turns(
            lambda: vectorizer.transform(texts).T @ sides,
            lambda: count(open_source(texts, schema, y=y), Bounding(r)),
            rounds,
        )
    }
    if path is not None and len(frame) == 400_000:
        labelled = Schema.text((0, 1), bits=18, label="y")
        options = FileOptions(header=("y", "text"))

        def from_file() -> object:
            table = pd.read_csv(path, header=None, names=["y", "text"], keep_default_na=False)
            return vectorizer.transform(table["text"]).T @ np.stack([1 - table["y"], table["y"]], axis=1)

        found["text_file"] = turns(
            from_file, lambda: count(open_source(path, labelled, options=options), Bounding(r)), rounds
        )
    return found


def matrix(rows: int, rounds: int) -> dict[str, tuple[float, float]]:
    """A sparse matrix in memory: bounds that cut hardly a row (20), two rows in five (10), and two in three (8)."""
    random = np.random.default_rng(0)
    lengths = random.poisson(10, rows)
    columns = random.integers(0, FEATURES, lengths.sum()).astype(np.int32)
    made = sp.csr_matrix((np.ones(len(columns)), columns, np.r_[0, np.cumsum(lengths)]), shape=(rows, FEATURES))
    made.sum_duplicates()
    made.data[:] = 1
    y = random.integers(0, 2, rows)
    sides = np.stack([1.0 - y, y], axis=1)
    schema = Schema.matrix(FEATURES, (0, 1))
    default = default_max_ones(rows, FEATURES, 1.0)
    print(f"matrix: {rows:,} rows, {made.nnz:,} ones, {FEATURES:,} features; default r = {default}")
    return {
        f"csr_r_{r}": turns(
            lambda: sides.T @ made,
            lambda r=r: count(open_source(made, schema, y=y), Bounding(r)),  # type: ignore[misc]
            rounds,
        )
        for r in (20, 10, 8)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Bounded counts from text and matrices, beside scikit-learn and scipy."
    )
    parser.add_argument("--quick", action="store_true", help="fewer texts and rounds, with less precise figures")
    parser.add_argument("--json", action="store_true", help="end with a line of ratios in JSON")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    libraries = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "scipy", "polars", "numpy"))
    print(f"Python {platform.python_version()}, {libraries}, {cores} cores")
    found = text(50_000, 2) if options.quick else text(400_000, 3)
    found |= matrix(1_000_000, 3 if options.quick else 9)  # fewer rows would take another path: compiled.ENTRIES
    ratios = {name: round(peer / ours, 3) for name, (peer, ours) in found.items()}
    print(f"\n{'':<16}{'peer, s':>10}{'tacit, s':>10}{'peer ÷ tacit':>14}{'goal':>8}")
    for name, (peer, ours) in found.items():
        goal = f"{GOALS[name]:.2f}" if name in GOALS else "–"
        print(f"{name:<16}{peer:>10.3f}{ours:>10.3f}{ratios[name]:>14.2f}{goal:>8}")
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
