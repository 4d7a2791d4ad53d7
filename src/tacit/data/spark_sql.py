"""The definitions of :mod:`tacit.data.text`, ``features`` and ``bounding`` as Spark SQL: private in, private out.

Built-in functions only: nothing here runs Python on the executors. Every expression is a deterministic function of one
row (or of one person's rows), so a task that is run again after a lost machine gives the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.window import Window

from tacit.data.bounding import CUT, KEY, PERSON_COIN, ROW_COIN, ROW_ORDER, Bounding
from tacit.data.columns import BLANKS, CategoryColumn, NumberColumn, SparseColumn, TextColumn, Value, spellings
from tacit.data.compiled import CUT_FACTOR
from tacit.data.errors import SchemaError
from tacit.data.features import NUMBER_PATTERN, written_numbers
from tacit.data.hashing import Longs, hash_strings
from tacit.data.schema import Schema
from tacit.data.spark_copies import content
from tacit.data.text import FOLD_FROM, FOLD_TO, TOKEN_PATTERN, valid_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LABEL, FEATURES, PERSON, COIN = "label", "features", "person", "_tacit coin"
WHOLE_ROW = -1

# Nothing follows the last group, so a possessive quantifier matches the same; Java then loops instead of recursing,
# and a text of a million apostrophes does not overflow an executor's stack.
_JAVA_PATTERN = f"{TOKEN_PATTERN}+"
# What folding and TOKEN_PATTERN come to on text that is all ASCII: several times faster in Java.
_ASCII_PATTERN = "[0-9a-z]+(?:'[0-9a-z]+)*+"
_JAVA_NUMBER = NUMBER_PATTERN.removesuffix("$") + r"\z"  # Java's $ also matches before a last line end
_INFINITE = {"inf": "Infinity", "+inf": "Infinity", "-inf": "-Infinity", "true": "1", "false": "0"}


def long(value: int) -> Column:
    """A 64-bit literal: Spark hashes 32-bit integers in another way."""
    return F.lit(value).cast("bigint")


def long_array(values: Sequence[int] | Longs) -> Column:
    """An array literal of any size, sent as one text and folded to a constant once."""
    return F.split(F.lit(",".join(map(str, np.asarray(values).tolist()))), ",").cast("array<bigint>")


def double_array(values: Sequence[float] | NDArray[np.float64]) -> Column:
    """An array literal of floats; ``repr`` writes each so that it reads back as the same number."""
    return F.split(F.lit(",".join(repr(float(value)) for value in values)), ",").cast("array<double>")


def text_array(values: Sequence[str]) -> Column:
    """An array literal of texts."""
    return F.from_json(F.lit(json.dumps(list(values))), "array<string>")


# -- words ----------------------------------------------------------------------------------------------------------


def tokens(text: Column) -> Column:
    """The tokens of a text, as :func:`tacit.data.text.tokens` defines them."""
    folded = F.translate(text, FOLD_FROM, FOLD_TO)
    full = F.regexp_extract_all(folded, F.lit(_JAVA_PATTERN), F.lit(0))
    plain = F.regexp_extract_all(F.lower(text), F.lit(_ASCII_PATTERN), F.lit(0))
    # Equal lengths mean ASCII, or stray bytes, which separate words in either pattern.
    return F.when(F.length(text) == F.octet_length(text), plain).otherwise(full)


def text_features(text: Column, column: TextColumn, offset: int) -> Column:
    """The distinct buckets, or listed words, of a text."""
    if column.bits is not None:
        mask = long((1 << column.bits) - 1)
        ids = F.transform(tokens(text), lambda token: F.xxhash64(token).bitwiseAND(mask) + long(offset))
    else:
        table, mask = _word_cells(column.words or (), offset), long(_cells(column.width) - 1)

        def look_up(token: Column) -> Column:
            cell = F.get(table, F.xxhash64(token).bitwiseAND(mask).cast("int"))
            return F.transform(F.filter(cell, lambda entry: entry["h"] == F.xxhash64(token)), lambda entry: entry["i"])

        ids = F.flatten(F.transform(tokens(text), look_up))
    return F.coalesce(F.array_distinct(ids), _empty())


def _cells(words: int) -> int:
    return 1 << max(1, (words - 1).bit_length())


def _word_cells(words: Sequence[str], offset: int) -> Column:
    """A hash table as a literal: cell h mod 2^b lists the words that fall into it, each as its hash and its feature."""
    cells: list[list[dict[str, int]]] = [[] for _ in range(_cells(len(words)))]
    for number, value in enumerate(hash_strings(valid_text(words)).tolist()):
        cells[value & (len(cells) - 1)].append({"h": value, "i": number + offset})
    return F.from_json(F.lit(json.dumps(cells)), "array<array<struct<h: bigint, i: bigint>>>")


# -- values ---------------------------------------------------------------------------------------------------------


def as_text(name: str, kind: T.DataType) -> Column:
    """A column as text. Types that engines print differently are refused: which column has which type is public."""
    column = F.col(_quoted(name))
    if isinstance(kind, T.StringType | T.BinaryType):
        return F.expr(f"make_valid_utf8(cast({_quoted(name)} as string))")
    if isinstance(kind, T.IntegralType | T.BooleanType | T.DateType | T.NullType):
        return column.cast("string")
    raise SchemaError(
        f"Column {name!r} is of type {kind.simpleString()}, which Spark prints otherwise than other engines do. "
        "Cast it to a string, a whole number, a truth value or a date first.",
        column=name,
    )


def plain_text(name: str, kind: T.DataType) -> Column:
    """A column as text without outer white space."""
    return F.trim(as_text(name, kind), F.lit(BLANKS))


def as_number(name: str, kind: T.DataType, decimal: str = ".") -> tuple[Column, Column | None]:
    """A column as a float (NaN: missing or no number), and its text if it comes as text."""
    if isinstance(kind, T.NumericType | T.BooleanType | T.NullType):
        return F.coalesce(F.col(_quoted(name)).cast("double"), F.lit(float("nan"))), None
    text = plain_text(name, kind)
    written = text if decimal == "." else F.regexp_replace(text, f"^([^{decimal}]*){decimal}", "$1.")  # the first one
    number = F.when(written.rlike(_JAVA_NUMBER), written.try_cast("double"))
    for odd, value in _INFINITE.items():
        number = number.when(F.lower(text) == odd, F.lit(float(value)))
    return F.coalesce(number, F.lit(float("nan"))), text


def match(name: str, kind: T.DataType, values: Sequence[Value], missing: Sequence[str]) -> tuple[Column, Column]:
    """The position of a value among declared ones (−1: not there), and whether it is missing."""
    text: Column | None
    if all(isinstance(value, str) for value in values):
        text = plain_text(name, kind)
        declared = [str(value).strip(BLANKS) for value in values]
        found = F.array_position(text_array(declared), _as_declared(text, declared))
    else:
        number, text = as_number(name, kind)
        found = F.array_position(double_array([float(value) for value in values]), number)
    code = F.coalesce(found, long(0)).cast("bigint") - long(1)
    return code, _absent(name, kind, text, missing) & (code < 0)


def _absent(name: str, kind: T.DataType, text: Column | None, missing: Sequence[str]) -> Column:
    """Whether a value is missing: it is null, NaN, or written as one of the texts that say so."""
    if text is None and isinstance(kind, T.IntegralType | T.BooleanType):
        text = as_text(name, kind)
    if text is not None:
        return F.coalesce(F.array_contains(text_array(missing), text), F.lit(True)) if missing else text.isNull()
    number, written = as_number(name, kind)[0], written_numbers(missing)
    return F.isnan(number) | F.array_contains(double_array(written), number) if written else F.isnan(number)


def _as_declared(text: Column, declared: list[str]) -> Column:
    """Truth values as they were declared, however they are written; any other text as it is."""
    for spelling, place in spellings(declared).items():
        if spelling != declared[place]:
            text = F.when(text == F.lit(spelling), F.lit(declared[place])).otherwise(text)
    return text


def _category(name: str, kind: T.DataType, column: CategoryColumn, missing: Sequence[str]) -> Column:
    code, absent = match(name, kind, column.values, missing)
    other = len(column.values)
    return F.when(absent, long(other + 1)).when(code < 0, long(other)).otherwise(code)


def _bin(name: str, kind: T.DataType, column: NumberColumn, missing: Sequence[str]) -> Column:
    inner, (value, text) = double_array(column.edges[1:-1]), as_number(name, kind, column.decimal)

    def place(number: Column) -> Column:
        below = F.size(F.filter(inner, lambda edge: edge <= number)) if len(column.edges) > 2 else F.lit(0)
        return F.when(F.isnan(number), long(len(column.edges) - 1)).otherwise(below.cast("bigint"))

    return _let(F.when(_absent(name, kind, text, missing), F.lit(float("nan"))).otherwise(value), place)


def _sparse(name: str, kind: T.DataType, column: SparseColumn) -> Column:
    if not isinstance(kind, T.ArrayType) or not isinstance(kind.elementType, T.IntegralType):
        raise SchemaError(
            f"Column {name!r} is declared sparse: on Spark it must be an array of whole numbers from 0, the features "
            f"that a row has. It is of type {kind.simpleString()}.",
            column=name,
        )
    ids = F.col(_quoted(name)).cast("array<bigint>")
    inside = F.filter(ids, lambda j: (j >= 0) & (j < column.features))
    return F.coalesce(F.array_distinct(inside), _empty())


def _let(value: Column, body: Callable[[Column], Column]) -> Column:
    """Evaluate once, use often: a name would do, but the optimiser copies what it stands for into inner loops."""
    return F.get(F.transform(F.array(value), body), F.lit(0))


def _empty() -> Column:
    return F.array().cast("array<bigint>")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# -- rows -----------------------------------------------------------------------------------------------------------


def feature_set(frame: DataFrame, schema: Schema) -> Column:
    """The features of a row as an array without repetition, by the rules of :mod:`tacit.data.features`."""
    kinds = _kinds(frame, [column.name for column in schema.columns])
    parts, single = [], []
    for column, offset in zip(schema.columns, schema.offsets.values(), strict=True):
        kind = kinds[column.name]
        if isinstance(column, TextColumn):
            parts.append(text_features(as_text(column.name, kind), column, offset))
        elif isinstance(column, SparseColumn):
            parts.append(_sparse(column.name, kind, column))
        elif isinstance(column, CategoryColumn):
            single.append(_category(column.name, kind, column, schema.missing) + long(offset))
        elif isinstance(column, NumberColumn):
            single.append(_bin(column.name, kind, column, schema.missing) + long(offset))
        else:
            raise SchemaError(f"Column {column.name!r} is of a kind that Spark does not encode.", column=column.name)
    if single:
        parts.append(F.array(*single))
    return F.concat(*parts) if len(parts) > 1 else parts[0]


def encode(frame: DataFrame, schema: Schema) -> DataFrame:
    """Rows as label, set of features and, for persons, who; without those that have no valid label or no person."""
    columns = [_label(frame, schema).alias(LABEL), feature_set(frame, schema).alias(FEATURES)]
    valid = F.col(LABEL) >= 0
    if schema.unit.column is not None:
        kinds = _kinds(frame, [schema.unit.column])
        text = plain_text(schema.unit.column, kinds[schema.unit.column])
        missing = F.array_contains(text_array(schema.missing), text) if schema.missing else F.lit(False)
        columns.append(F.when(~missing, text).alias(PERSON))
        valid = valid & F.col(PERSON).isNotNull()
    return frame.select(*columns).where(valid)


def _label(frame: DataFrame, schema: Schema) -> Column:
    """The position of the label in the classes, −1 for any other."""
    if schema.label is None:
        raise SchemaError("On Spark the schema must name the label's column: see [label].")
    kinds = _kinds(frame, [schema.label])
    return match(schema.label, kinds[schema.label], schema.classes, schema.missing)[0]


def _kinds(frame: DataFrame, names: Sequence[str]) -> dict[str, T.DataType]:
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    absent = [name for name in names if name not in kinds]
    if absent:
        raise SchemaError(
            f"The Spark data frame has no column {', '.join(map(repr, absent))}. Correct the names in the schema.",
            column=absent[0],
        )
    return kinds


def row_key(features: Column, seed: int) -> Column:
    """The XOR over the row's features j of X(seed, 1, j)."""

    def mix(key: Column, feature: Column) -> Column:
        return key.bitwiseXOR(F.xxhash64(long(seed), long(KEY), feature))

    return F.aggregate(features, long(0), mix)


def _first_kept(features: Column, seed: int) -> Column:
    """The place, from 0, at which a row that is cut begins to keep features. No step can exceed 63 bits."""
    mixed = F.aggregate(features, long(0), lambda key, feature: key.bitwiseXOR(feature * long(CUT_FACTOR)))
    size = F.size(features).cast("bigint")
    key = mixed.bitwiseAND(long(2**32 - 1)) + F.shiftleft(size, 32)
    upper = F.shiftrightunsigned(F.xxhash64(long(seed), long(CUT), key), 32)
    return F.shiftright(upper * size, 32).cast("int")


def _first_features(bounding: Bounding) -> Column:
    """The r features that come first by rank, then in the circle that begins at the place of the cut."""

    def cut(features: Column) -> Column:
        twice, start = F.concat(features, features), _first_kept(features, bounding.key) + F.lit(1)
        if bounding.preference is None:
            return F.slice(twice, start, F.lit(bounding.max_ones))
        ranks = long_array(bounding.preference)

        def place(feature: Column, turn: Column) -> Column:
            rank = F.get(ranks, feature.cast("int"))
            return F.struct(rank.alias("rank"), turn.alias("turn"), feature.alias("feature"))

        placed = F.sort_array(F.transform(F.slice(twice, start, F.size(features)), place))
        return F.transform(F.slice(placed, 1, bounding.max_ones), lambda entry: entry["feature"])

    return _let(F.sort_array(F.col(FEATURES)), cut)


def bound(rows: DataFrame, bounding: Bounding) -> DataFrame:
    """At most r features of a row and m rows of a person, as :mod:`tacit.data.bounding` defines them."""
    kept = F.when(F.size(FEATURES) <= bounding.max_ones, F.col(FEATURES)).otherwise(_first_features(bounding))
    if bounding.unit.column is None:
        return rows.select(LABEL, kept.alias(FEATURES))
    order = _row_order(bounding, row_key(F.col(FEATURES), bounding.key))
    return _first_rows(rows.select(PERSON, LABEL, kept.alias(FEATURES), order.alias("order")), bounding)


def _row_order(bounding: Bounding, key: Column) -> Column:
    return F.xxhash64(long(bounding.key), long(ROW_ORDER), F.xxhash64(PERSON), key, F.col(LABEL))


def _first_rows(rows: DataFrame, bounding: Bounding) -> DataFrame:
    """The m rows of each person that come first; Spark drops what is beyond the limit before the shuffle already.

    Rows of equal order are copies, but for collisions of hashes: then their content decides, never what arrives first.
    """
    content = [name for name in rows.columns if name not in (PERSON, "order")]
    place = F.row_number().over(Window.partitionBy(PERSON).orderBy("order", *content))
    return rows.withColumn("place", place).where(F.col("place") <= bounding.unit.max_rows)


# -- counts ---------------------------------------------------------------------------------------------------------


def cell_counts(rows: DataFrame) -> DataFrame:
    """Label, feature, number of rows; the feature ``WHOLE_ROW``, which every row has, counts the labels."""
    cells = F.explode(F.concat(F.array(long(WHOLE_ROW)), F.col(FEATURES)))
    exploded = rows.select(F.col(LABEL).cast("int").alias(LABEL), cells.alias("cell"))
    return exploded.groupBy(LABEL, F.col("cell").cast("int").alias("cell")).count()


def linear_score(features: Column, weights: NDArray[np.float64], intercept: float) -> Column:
    """The sum of the features' weights in ascending order of features, then the intercept."""
    table = double_array(weights)

    def add(total: Column, feature: Column) -> Column:
        return total + F.get(table, feature.cast("int"))

    return F.aggregate(F.sort_array(features), F.lit(0.0), add) + F.lit(intercept)


def _scored(rows: DataFrame, weights: NDArray[np.float64], intercept: float, bounding: Bounding) -> DataFrame:
    """Label and score of rows, at most m of a person."""
    who = [] if bounding.unit.column is None else [PERSON]
    scored = rows.select(*who, LABEL, linear_score(F.col(FEATURES), weights, intercept).alias("score"))
    if who:
        # Spark hashes a double as the long of its bits, and −0 as 0: the key that the embedded engine uses.
        scored = _first_rows(scored.withColumn("order", _row_order(bounding, F.col("score"))), bounding)
    return scored


def cell_scores(
    rows: DataFrame, weights: NDArray[np.float64], intercept: float, cells: int, bounding: Bounding
) -> DataFrame:
    """Label, cell, number of rows: the cell of a probability whose log-odds are the score, by the grid's formula.

    The embedded engine looks cells up by the leading bits of a probability; here they are computed, and may differ by
    one where a score lies on an edge. Either is a public rule that looks at one row.
    """
    score = F.col("score")
    place = F.lit(0.5) / (F.lit(1.0) + F.exp(-score)) + F.lit(0.25) + F.atan(score / F.lit(4.0)) / F.lit(2 * np.pi)
    cell = F.greatest(F.least(F.floor(place * F.lit(float(cells))), F.lit(cells - 1)), F.lit(0))
    scored = _scored(rows, weights, intercept, bounding)
    return (
        scored.select(F.col(LABEL).cast("int").alias(LABEL), cell.cast("int").alias("bin"))
        .groupBy(LABEL, "bin")
        .count()
    )


def score_counts(
    rows: DataFrame, weights: NDArray[np.float64], intercept: float, grid: NDArray[np.float64], bounding: Bounding
) -> DataFrame:
    """Label, bin, number of rows."""
    scored = _scored(rows, weights, intercept, bounding)
    thresholds = double_array(grid)
    place = _let(F.col("score"), lambda score: F.size(F.filter(thresholds, lambda edge: edge <= score)))
    return scored.select(F.col(LABEL).cast("int").alias(LABEL), place.alias("bin")).groupBy(LABEL, "bin").count()


def with_coins(frame: DataFrame, schema: Schema, seed: int) -> DataFrame:
    """The frame with coins as in :mod:`tacit.data.coins`; copies are equal in all columns, as parts have all."""
    if schema.unit.column is not None:
        kinds = _kinds(frame, [schema.unit.column])
        person = plain_text(schema.unit.column, kinds[schema.unit.column])
        return frame.withColumn(COIN, F.xxhash64(long(seed), long(PERSON_COIN), F.xxhash64(person)))
    equal = Window.partitionBy(*content(frame))
    key = row_key(feature_set(frame, schema), seed)
    number = F.row_number().over(equal.orderBy(F.lit(0))).cast("bigint") - long(1)
    return frame.withColumn(COIN, F.xxhash64(long(seed), long(ROW_COIN), key, _label(frame, schema), number))
