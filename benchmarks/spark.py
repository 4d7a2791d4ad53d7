"""Rows per second on Spark beside the embedded engine, and how the cost grows with rows, features and partitions.

    python benchmarks/spark.py [--quick] [--json]

Starts a standalone cluster on this machine (one master, two workers of one core each) and counts the same Parquet files
with both engines; the counts are checked to be equal. Slopes and ratios are of processor time, all cores added up,
which other work on the machine disturbs least. With ``--json`` the last line is a flat object of ratios, larger is
better:

- ``spark_over_embedded``: rows a core-second of Spark over those of the embedded engine;
- ``plain_spark_over_ours``: time of an unbounded word count written by hand in Spark SQL over ours with bounding;
- ``rows_linear``, ``embedded_rows_linear``: time per row at the smallest size over that at the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.spark_cluster import Cluster, cpu_seconds

from tacit.data import spark, spark_sql, statistics
from tacit.data.bounding import Bounding
from tacit.data.columns import SparseColumn, TextColumn
from tacit.data.generator import generate_text
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.sources import open_source
from tacit.privacy._seal import open_exact
from tacit.privacy.unit import Unit

PARQUET = FileOptions(format="parquet")
MAX_ONES = 10
BITS = 14


class Cost(NamedTuple):
    """Processor time over all processes (all cores added up), and time on the clock."""

    cpu: float
    wall: float


def _processor_time() -> float:
    return time.process_time() + cpu_seconds(os.getpid())


@dataclass
class Bench:
    """The cluster's session, a scratch folder, and what was measured."""

    session: Any
    home: Path
    repeats: int
    ratios: dict[str, float] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    def seconds(self, work: Callable[[], object]) -> Cost:
        """Return the least of some runs, in processor time and on the clock."""
        costs = []
        for _ in range(self.repeats):
            start, used = time.perf_counter(), _processor_time()
            work()
            costs.append(Cost(_processor_time() - used, time.perf_counter() - start))
        return Cost(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))

    def figure(self, name: str, value: float, unit: str) -> None:
        """Keep and print one figure."""
        self.figures[name] = value
        print(f"  {name:<44} {value:>12.4g} {unit}")


def write_text(home: Path, rows: int, files: int) -> Path:
    """Write generated text, two rows a person on average, into some files."""
    folder = home / f"text-{rows}-{files}"
    if folder.exists():
        return folder
    folder.mkdir()
    rng = np.random.default_rng(rows)
    frames = [pl.DataFrame({"text": b.texts, "label": b.labels}) for b in generate_text(rows, seed=1)]
    whole = pl.concat(frames)
    whole = whole.with_columns(who=pl.Series(rng.integers(0, rows // 2, rows)))
    for number, part in enumerate(whole.iter_slices(-(-rows // files))):
        part.write_parquet(folder / f"part{number:04}.parquet")
    return folder


def text_schema(bits: int = BITS, unit: Unit | None = None) -> Schema:
    return Schema((TextColumn("text", bits=bits),), classes=(0, 1), label="label", unit=unit or Unit.row())


def on_spark(bench: Bench, folder: Path, schema: Schema) -> statistics.Counts:
    rule = Bounding(MAX_ONES, schema.unit, seed=1)
    return spark.count(folder, schema, rule, options=PARQUET, session=bench.session, version="v")


def embedded(folder: Path, schema: Schema) -> statistics.Counts:
    rule = Bounding(MAX_ONES, schema.unit, seed=1)
    return statistics.count(open_source(folder, schema, version="v"), rule)


def plain_spark(bench: Bench, folder: Path) -> int:
    """Count words by label as one would write it without privacy: no bound, no sets, ASCII words."""
    data = bench.session.read.parquet(str(folder))
    words = "explode(transform(split(lower(text), '[^a-z0-9]+'), w -> xxhash64(w) & 16383)) as cell"
    return int(data.selectExpr("label", words).groupBy("label", "cell").count().toArrow().num_rows)


def slope(sizes: list[int], costs: list[Cost]) -> tuple[float, float]:
    """Fit processor seconds = fixed + slope · size."""
    rate, fixed = np.polyfit(np.array(sizes, dtype=float), np.array([cost.cpu for cost in costs]), 1)
    return float(rate), float(fixed)


def bench_rows(bench: Bench, sizes: list[int], files: int) -> None:
    """Fit seconds to rows, for both engines, and check that they agree."""
    print(f"rows: text of 13 words, 2^{BITS} buckets, at most {MAX_ONES} words of a row")
    schema = text_schema()
    here: list[Cost] = []
    there: list[Cost] = []
    for rows in sizes:
        folder = write_text(bench.home, rows, files)
        one, other = on_spark(bench, folder, schema), embedded(folder, schema)
        if not np.array_equal(open_exact(one.features), open_exact(other.features)):
            raise SystemExit("The engines disagree.")
        there.append(bench.seconds(partial(on_spark, bench, folder, schema)))
        here.append(bench.seconds(partial(embedded, folder, schema)))
        for name, cost in (("Spark", there[-1]), ("embedded", here[-1])):
            speed = f"{rows / cost.wall:>10,.0f} rows/s on the clock, {rows / cost.cpu:>10,.0f} a core-second"
            print(f"  {rows:>9,} rows, {name:<8} {speed}")
    rate, fixed = slope(sizes, there)
    bench.figure("spark_core_seconds_per_row", rate, "s")
    bench.figure("spark_core_seconds_per_job", fixed, "s")
    local, local_fixed = slope(sizes, here)
    bench.figure("embedded_core_seconds_per_row", local, "s")
    bench.figure("embedded_core_seconds_per_job", local_fixed, "s")
    plain_spark(bench, folder)
    plain = bench.seconds(partial(plain_spark, bench, folder))
    bench.figure("plain_spark_core_seconds_per_row", plain.cpu / sizes[-1], "s")
    bench.ratios["spark_over_embedded"] = here[-1].cpu / there[-1].cpu
    bench.ratios["plain_spark_over_ours"] = plain.cpu / there[-1].cpu
    bench.ratios["rows_linear"] = (there[0].cpu / sizes[0]) / (there[-1].cpu / sizes[-1])
    bench.ratios["embedded_rows_linear"] = (here[0].cpu / sizes[0]) / (here[-1].cpu / sizes[-1])


def bench_persons(bench: Bench, rows: int, files: int) -> None:
    """What it costs to bound persons: one shuffle of the bounded rows."""
    print("persons: at most 2 rows of each")
    folder = write_text(bench.home, rows, files)
    schema = text_schema(unit=Unit.user("who", 2))
    on_spark(bench, folder, schema)
    with_persons = bench.seconds(partial(on_spark, bench, folder, schema))
    without = bench.seconds(partial(on_spark, bench, folder, text_schema()))
    bench.figure("persons_core_seconds_per_row", (with_persons.cpu - without.cpu) / rows, "s")


def bench_partitions(bench: Bench, rows: int, parts: list[int]) -> None:
    """Fit seconds to the number of partitions of the same rows."""
    print(f"partitions: the same {rows:,} rows in more files")
    bench.session.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))  # one file, one task
    costs = []
    for files in parts:
        folder = write_text(bench.home, rows, files)
        on_spark(bench, folder, text_schema())
        costs.append(bench.seconds(partial(on_spark, bench, folder, text_schema())))
        print(f"  {files:>4} partitions: {costs[-1].cpu:.2f} core-seconds")
    bench.session.conf.unset("spark.sql.files.openCostInBytes")
    bench.figure("core_seconds_per_partition", slope(parts, costs)[0], "s")


def shuffled_bytes(session: Any) -> int:
    """Bytes that all stages so far have written for others to fetch, from Spark's own bookkeeping."""
    store = session.sparkContext._jsc.sc().statusStore()
    total = 0
    for stage in range(10_000):
        try:
            total += store.lastStageAttempt(stage).shuffleWriteBytes()
        except Exception:
            break
    return int(total)


def bench_features(bench: Bench, rows: int, sizes: list[int]) -> None:
    """Fit seconds and bytes to the number of cells that come back: features at random, the worst case."""
    print(f"features: {rows:,} rows of 10 features each, drawn from all with equal chance")
    rng = np.random.default_rng(3)
    cells, costs = [], []
    for features in sizes:
        path = bench.home / f"sparse-{features}.parquet"
        ids = pl.Series(rng.integers(0, features, (rows, 10)), dtype=pl.Array(pl.Int32, 10)).arr.to_list()
        frame = pl.DataFrame({"x": ids, "label": rng.integers(0, 2, rows)})
        frame.write_parquet(path, row_group_size=rows // 8)
        schema = Schema((SparseColumn("x", features),), classes=(0, 1), label="label")
        on_spark(bench, path, schema)
        costs.append(bench.seconds(partial(on_spark, bench, path, schema)))
        encoded = spark_sql.encode(spark.open_frame(path, PARQUET, bench.session), schema)
        table = spark_sql.cell_counts(spark_sql.bound(encoded, Bounding(MAX_ONES, seed=1))).toArrow()
        cells.append(table.num_rows)
        size = f"{table.num_rows:,} cells, {table.nbytes / 1e6:.1f} MB to the driver"
        print(f"  {features:>9,} features: {costs[-1].cpu:.2f} core-seconds, {size}")
    entries = 10 * rows
    before = shuffled_bytes(bench.session)
    on_spark(bench, path, schema)
    bench.figure("shuffle_bytes_per_entry", (shuffled_bytes(bench.session) - before) / entries, "B")
    bench.figure("core_seconds_per_cell", slope(cells, costs)[0], "s")
    bench.figure("driver_bytes_per_cell_received", table.nbytes / table.num_rows, "B")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data, single runs")
    parser.add_argument("--json", action="store_true", help="end with a line of ratios")
    arguments = parser.parse_args()
    quick = arguments.quick
    sizes = [50_000, 200_000] if quick else [200_000, 600_000, 1_600_000]
    print(f"Spark {version('pyspark')}, tacit {version('tacit')}, {platform.machine()}, {os.cpu_count()} cores")
    home = Path(tempfile.mkdtemp(prefix="tacit-bench-"))
    cluster = Cluster(executor_memory="768m", driver_memory="1g")
    try:
        session = cluster.session("benchmark")
        bench = Bench(session, home, repeats=1 if quick else 2)
        on_spark(bench, write_text(home, 50_000, 8), text_schema())  # let the virtual machines compile
        bench_rows(bench, sizes, files=8)
        bench_persons(bench, sizes[-1], files=8)
        bench_partitions(bench, sizes[0], [8, 48] if quick else [8, 64, 256])
        features = [10_000, 300_000] if quick else [10_000, 300_000, 3_000_000]
        bench_features(bench, 50_000 if quick else 400_000, features)
        session.stop()
    finally:
        cluster.stop()
        shutil.rmtree(home, ignore_errors=True)
    if arguments.json:
        print(json.dumps({name: round(value, 4) for name, value in bench.ratios.items()}))


if __name__ == "__main__":
    main()
