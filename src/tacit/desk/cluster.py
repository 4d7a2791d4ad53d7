"""Private data on a cluster, at the desk: opened, split, counted and scored by Spark; no row comes to this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.data import spark
from tacit.data.bounding import Bounding
from tacit.data.columns import TextColumn
from tacit.data.errors import SourceError
from tacit.data.files import list_files, unchanged
from tacit.data.readers import FileOptions
from tacit.data.schema import Schema
from tacit.data.sources import Source, fingerprint_files
from tacit.data.spark_files import reading_of
from tacit.data.statistics import Counts
from tacit.desk.counts import Visit
from tacit.desk.parts import Named, Part, describe
from tacit.desk.scores import Binned, release_counted
from tacit.errors import MissingExtraError, PrivacyError, bad_parameter
from tacit.ledger import Account
from tacit.privacy.budget import Budget
from tacit.privacy.unit import Unit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW_ONES = 4
"""Words of a row in the count that gives the class sizes, where rows hold text: they do not depend on it."""


class SparkPart(Part):
    """Private rows that lie on a cluster."""

    __slots__ = ("_check", "_frame", "_schema", "_version")

    def __init__(self, frame: DataFrame, schema: Schema, version: str, check: Callable[[], None]) -> None:
        self.kind = "table"
        self._frame, self._schema, self._version, self._check = frame, schema, version, check

    @property
    def schema(self) -> Schema:
        """The public description."""
        return self._schema

    @property
    def version(self) -> str:
        """A name for these rows. Not for showing."""
        return self._version

    def source(self, schema: Schema) -> Source:
        """What a visit needs to know; its rows stay on the cluster."""
        return Source(replace(schema, unit=self._schema.unit), _stay, lambda: self._version)

    def split(
        self, test_size: float, account: Account, seed: int | None = None
    ) -> tuple[SparkPart, SparkPart, dict[str, Account]]:
        """Split by a coin for each row or person: train, test, and an account for each."""
        halves = spark.split(self._frame, self._schema, test_size, account=account, version=self._version, seed=seed)
        train, test = (
            SparkPart(frame, self._schema, f"{self._version}/{name}/{test_size}/{seed}", self._check)
            for name, frame in zip(("train", "test"), halves, strict=True)
        )
        return train, test, halves.accounts or {}

    def counts(self, schema: Schema, bounding: Bounding) -> Counts:
        """Counts by label and feature, sealed; for a visit."""
        labelled = replace(schema, label=self._schema.label)
        with self._reading():
            return spark.count(self._frame, labelled, bounding, version=self._version)

    def curve(
        self,
        weights: NDArray[np.float64],
        intercept: float,
        name: str,
        budget: Budget,
        account: Account,
        random_state: int | None,
    ) -> Binned:
        """Release the counts of a ROC curve of a linear model's log-odds; ``name`` is the model's."""
        named = f"{self._version}/{name}"
        with self._reading():
            counted = spark.scores(
                self._frame, self._schema, weights, intercept=intercept, seed=account.seed, version=named
            )
        return release_counted(counted, budget, (0.0, 1.0), account, random_state)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Before and after rows are read, their files must be as they were when they were opened."""
        self._check()
        yield
        self._check()


def _stay() -> Any:
    raise PrivacyError("Rows on a cluster stay there: on Spark, models are trained from counts alone.")


class SparkVisit(Visit):
    """A visit whose counts are made on a cluster."""

    has_rows: ClassVar[bool] = False

    def __init__(self, data: SparkPart, *arguments: Any, **settings: Any) -> None:
        super().__init__(data, *arguments, **settings)
        self._part = data
        self._counted: dict[int, Counts] = {}

    def labels(self, step: str) -> NDArray[np.int64]:
        """Rows by label."""
        has_text = any(isinstance(column, TextColumn) for column in self.schema.columns)
        ones = min(FEW_ONES, self.schema.n_features) if has_text else len(self.schema.columns)
        return self.release(step, self._count(ones).labels).values

    def counts(self, step: str, max_ones: int) -> NDArray[np.int64]:
        """Rows by label and feature, at most ``max_ones`` features of a row."""
        return self.release(step, self._count(max_ones).features).values

    def _count(self, max_ones: int) -> Counts:
        """Counts for this bound: one job gives both kinds."""
        if max_ones not in self._counted:
            bounding = Bounding(max_ones, self.unit, self._seed)
            self._counted[max_ones] = self._part.counts(self.schema, bounding)
        return self._counted[max_ones]


def comes_here(data: Any) -> bool:
    """Whether rows come to this process, so that sums and problems of them can be made; on Spark only counts are."""
    return not isinstance(Named.of(data).rows, SparkPart)


def table_visit(data: Any, *arguments: Any, **settings: Any) -> Visit:
    """A visit for a table, wherever it lies."""
    kind = SparkVisit if isinstance(data, SparkPart) else Visit
    return kind(data, *arguments, **settings)


def open_on_spark(
    data: Any,
    *,
    classes: tuple[Any, ...],
    unit: Unit,
    label: str | None = None,
    text: str | None = None,
    schema: Schema | None = None,
    options: FileOptions | None = None,
    version: str | None = None,
) -> SparkPart:
    """Open a Spark data frame, or files that Spark can read; nothing is counted yet.

    ``version`` names the version of the data; for local files it defaults to a fingerprint of them.
    """
    described = describe(data, None, classes=classes, unit=unit, label=label, text=text, schema=schema)
    if find_spec("pyspark") is None:
        raise MissingExtraError('The engine "spark" needs pyspark and Java 17. Run: pip install "tacit[spark]"')
    named = f"{version or _version(data)}/{reading_of(data, options)}/{described.digest}"
    frame, check = data, _unchanged(data)
    if isinstance(data, str | Path):
        frame = spark.open_frame(data, options, _session())
    absent = [name for name in described.names_needed if name not in frame.columns]
    if absent:
        raise SourceError(
            f"The data have no column {', '.join(map(repr, absent))}. Correct the names in the schema.",
            column=absent[0],
        )
    # Copies of a row are equal in all columns of a frame, so that one that numbers the rows would leave no copies.
    others = [name for name in frame.columns if name not in described.names_needed]
    return SparkPart(frame.drop(*others), described, named, check)


def _session() -> Any:
    """The active session, or a quiet new one with Spark's own defaults: a cluster if it is told of one."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = SparkSession.builder.appName("tacit").config("spark.ui.showConsoleProgress", "false")
    return builder.config("spark.log.level", "ERROR").getOrCreate()


def _unchanged(data: Any) -> Callable[[], None]:
    """A check that local files are still as they are now: else a row could be in both parts. Others are taken to be."""
    try:
        paths = list_files(data) if isinstance(data, str | Path) else []
    except SourceError:
        paths = []
    check = unchanged(paths)

    def check_all() -> None:
        for path in paths:
            check(path)

    return check_all


def _version(data: Any) -> str:
    if isinstance(data, str | Path):
        try:
            return fingerprint_files(list_files(data))
        except SourceError:
            if Path(str(data)).drive or "://" not in str(data):
                raise
    remedy = "Any name will do, as long as other data get another one."
    raise bad_parameter("Workflow", "version", "given for data that are no local files", None, remedy)
