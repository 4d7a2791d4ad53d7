"""Parquet of any length to bounded counts: resident memory and time, by number of rows.

    python benchmarks/streaming.py [--quick] [--json]

Writes generated text as Parquet to a temporary folder (about 0.6 GB for 1e7 rows), counts growing parts of it, each in
a process of its own, and prints the peak of its resident memory and a straight line through the processor times, which
other programs on the machine disturb less than they disturb the clock. With ``--json`` the last line is a flat object:
the limit of 1.5 GB over the peak, and R² of the line; larger is better.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tacit.data.bounding import Bounding
from tacit.data.generator import generate_text
from tacit.data.schema import Schema, TextColumn
from tacit.data.sources import open_source
from tacit.data.statistics import count
from tacit.privacy.unit import Unit

LIMIT = 1.5  # GB
PARTS = 8


def write(folder: Path, rows: int) -> list[Path]:
    """Eight files of equal length. The texts of the first are used again with other persons: making text is slow."""
    each = rows // PARTS
    batches = list(generate_text(each, seed=0))
    paths = []
    for part in range(PARTS):
        path = folder / f"part-{part}.parquet"
        schema = pa.schema([("text", pa.large_string()), ("y", pa.int64()), ("who", pa.int64())])
        with pq.ParquetWriter(path, schema) as writer:
            for number, batch in enumerate(batches):
                people = np.arange(len(batch.labels)) // 4 + (part * len(batches) + number) * len(batch.labels)
                writer.write_table(
                    pa.table({"text": batch.texts.to_arrow(), "y": batch.labels, "who": people}, schema=schema)
                )
        paths.append(path)
    return paths


def measure(paths: list[Path], persons: bool) -> tuple[float, float, float]:
    """Count in a process of its own; return seconds, seconds of processor time and peak resident memory in GB."""
    command = [sys.executable, __file__, "--child", "persons" if persons else "rows", *map(str, paths)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, busy, peak = map(float, answer.stdout.split())
    return seconds, busy, peak


def child(unit: str, paths: list[str]) -> None:
    """Count and print what it took."""
    who = Unit.user("who", 2) if unit == "persons" else Unit.row()
    schema = Schema((TextColumn("text", bits=16),), classes=(0, 1), label="y", unit=who)
    start, busy = time.perf_counter(), time.process_time()
    count(open_source([Path(path) for path in paths], schema), Bounding(16, who))
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(seconds, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory and time of counting a stream of Parquet.")
    parser.add_argument("--quick", action="store_true", help="4e5 rows instead of 1e7")
    parser.add_argument("--json", action="store_true", help="end with a line of ratios in JSON")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], options.child[1:])
        return
    rows = 400_000 if options.quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), rows)
        print(f"{'rows':>12}{'seconds':>10}{'processor':>11}{'rows/s':>12}{'peak GB':>10}")
        sizes, times, peaks = [], [], []
        for parts in (1, 2, 4, 6, 8):
            seconds, busy, peak = measure(paths[:parts], persons=False)
            sizes.append(rows // PARTS * parts)
            times.append(busy)
            peaks.append(peak)
            print(
                f"{sizes[-1]:>12,}{seconds:>10.2f}{busy:>11.2f}{sizes[-1] / seconds:>12,.0f}{peak:>10.2f}", flush=True
            )
        slope, start = np.polyfit(sizes, times, 1)
        straight = 1 - np.var(times - (slope * np.array(sizes) + start)) / np.var(times)
        print(f"processor time = {start:.2f} s + {slope * 1e6:.2f} s for a million rows, R² = {straight:.4f}")
        seconds, _, peak = measure(paths, persons=True)
        print(f"by persons of 4 rows each, {rows // 4:,} of them, at most 2 rows kept: {seconds:.1f} s, {peak:.2f} GB")
    print(f"goal: under {LIMIT} GB, time linear in rows")
    if options.json:
        ratios = {"memory_limit_over_peak": round(LIMIT / max(peaks), 3), "linearity_r2": round(float(straight), 4)}
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
