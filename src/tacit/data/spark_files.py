"""Files as Spark data frames, by the rules of :mod:`tacit.data.files`. Private in, private out.

Records of CSV end where they end on one machine: at a line feed, with or without a carriage return before it. Left to
itself, Spark takes the first line end that it meets, which a row may bring, for that of the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.data.errors import SourceError
from tacit.data.files import check_whole, format_of, list_files, settle
from tacit.data.readers import FileOptions, column_names
from tacit.errors import MissingExtraError, bad_parameter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_FIELDS = 1 << 22
"""Fields of a record of CSV or TSV. One that has more ends the run; Spark's own default is 20,480."""


def check_installed() -> None:
    """Refuse to go on without Spark."""
    if find_spec("pyspark") is None:
        raise MissingExtraError('Counting on Spark needs pyspark. Run: pip install "tacit[spark]"')


def open_frame(path: str | Path, options: FileOptions | None = None, session: SparkSession | None = None) -> DataFrame:
    """Read CSV, TSV or Parquet files by the rules of :mod:`tacit.data.files`; the rows are private.

    CSV with quote characters is read a whole file at a time, since a quoted value may hold line ends; for large data
    write Parquet, or many files. Such files must be local, as they are looked through for open quotes first.
    """
    check_installed()
    spark = session or _active_session()
    settled = _settled(path, options or FileOptions())
    names, quoted = settled.header, settled.format != "parquet" and bool(settled.quote)
    if quoted:
        names = _checked_names(str(path), options or FileOptions())
    with running(path):
        if settled.format == "parquet":
            return spark.read.parquet(str(path))
        reader = spark.read.options(
            sep=settled.delimiter,
            quote=settled.quote or "\0",
            escape=settled.quote or "\0",
            multiLine=quoted,
            maxColumns=MOST_FIELDS,
            header=settled.header is None,
            enforceSchema=names is not None,  # otherwise files with other columns would be read askew
            mode="DROPMALFORMED",
            columnPruning=False,  # pruned columns are not counted, and a record of the wrong width would pass
        )
        if names is not None:
            reader = reader.schema(", ".join(f"{_name(name)} string" for name in names))
        # A delimited file has no nulls, only empty texts.
        frame = (reader.option("lineSep", "\n") if quoted else reader).csv(str(path)).na.fill("")
        return _without_returns(frame) if quoted else frame


def _name(column: str) -> str:
    return f"`{column.replace('`', '``')}`"


def _without_returns(frame: DataFrame) -> DataFrame:
    """A carriage return before a line feed belongs to the end of its record, not to the last column."""
    from pyspark.sql import functions as F

    last = frame.columns[-1]
    return frame.withColumn(last, F.regexp_replace(F.col(_name(last)), "\\r\\z", ""))


def _checked_names(path: str, options: FileOptions) -> tuple[str, ...]:
    """The names of the columns, the same in all files.

    Refuses what the other engine refuses, a quote that is never closed: here it swallows records without a word.
    """
    remedy = "Write Parquet, or pass quote='' if quotes are ordinary characters."
    try:
        files = list_files(path)
    except SourceError:
        message = f"The file {path!r} may have quotes, and cannot be looked through for open ones from here. {remedy}"
        raise SourceError(message, file=path) from None
    if any(settle(file, options).by_line for file in files):
        message = (
            f"On Spark, quotes are read as a file's name says (.csv: commas and \"), and {path!r} is read otherwise."
        )
        raise SourceError(f"{message} {remedy}", file=path)
    check_whole(files, [], options)
    found = [tuple(column_names(file, settle(file, options))) for file in files]
    for file, names in zip(files, found, strict=True):
        if names != found[0]:
            message = f"On Spark, all files have the same columns in the same order, and those of {str(file)!r} differ."
            raise SourceError(f"{message} Write them anew, or name them one by one.", file=str(file))
    return found[0]


def reading_of(data: DataFrame | str | Path, options: FileOptions | None = None) -> str:
    """A name for how Spark reads a path; empty for a data frame."""
    return repr(_settled(data, options or FileOptions())) if isinstance(data, str | Path) else ""


def _settled(path: str | Path, options: FileOptions) -> FileOptions:
    format = format_of(Path(str(path)), options)
    if format not in ("csv", "tsv", "parquet"):
        raise SourceError(
            f"On Spark, files are CSV, TSV or Parquet. Got {format} for {str(path)!r}: convert it, or read it into a "
            "Spark data frame and pass that.",
            file=str(path),
        )
    return settle(Path(str(path)), options)


def _active_session() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        remedy = "Create one with pyspark.sql.SparkSession.builder, or pass session=."
        raise bad_parameter("open_frame", "session", "given, or a session that is active", None, remedy)
    return session


@contextmanager
def running(data: object) -> Iterator[None]:
    """Turn Spark's complaints into one of ours, which never quotes a row: Spark's own messages may."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    what = f"the file {str(data)!r}" if isinstance(data, str | Path) else "the data frame"
    try:
        yield
    except PySparkException as error:
        condition = error.getCondition() or type(error).__name__
        raise SourceError(
            f"Spark cannot read {what}: {condition}. Check the path, the format and the columns."
        ) from None
    except Py4JJavaError as error:
        kind = str(error.java_exception.getClass().getSimpleName())
        raise SourceError(f"Spark could not finish counting {what}: {kind}. Its logs say why.") from None
