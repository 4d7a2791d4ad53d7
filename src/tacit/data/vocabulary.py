"""A private vocabulary: which words are frequent, by partition selection. Needs δ > 0.

The words themselves are private, so they cannot be counted in a table of public shape. Each row gives at most r of its
words, each person at most m rows; the gate adds noise to the count of every word that occurs, and a word leaves only if
its noisy count reaches a threshold so high that words which a single person brought pass with probability at most δ.
Proof: ``docs/proofs/bounding.md``, section "Partition selection".

Words are counted as texts. Hashes decide only which words of a row are kept: two words of one row (or of one person)
with the same hash count as the first of them, which depends on that row (or person) alone. So not even words made up to
collide with somebody else's can bring those to light.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tacit.data.bounding import Bounding, FeatureHasher, PersonStore, add_bounded, keep_features
from tacit.data.columns import TextColumn
from tacit.data.features import as_text, label_codes, plain_text
from tacit.data.rows import Rows, offsets_of
from tacit.data.schema import Schema
from tacit.data.sources import Source
from tacit.data.statistics import bounding_version
from tacit.data.text import token_hashes, token_lists
from tacit.errors import bad_parameter
from tacit.privacy.exact import ExactKeys
from tacit.privacy.unit import Bound, Sensitivity


def word_counts(source: Source, column: str, bounding: Bounding) -> ExactKeys:
    """Count the rows that have each word of a text column, at most r words of a row and m rows of a person.

    Release the frequent ones with :class:`tacit.privacy.mechanisms.PartitionSelection`. Memory grows with the number
    of different words; for persons, with that of different words of each.

    Parameters
    ----------
    source : Source
        Texts, labels and persons; rows without a valid label or person are dropped, as everywhere.
    column : str
        A text column of the source's schema.
    bounding : Bounding
        Its unit must be the schema's.
    """
    schema = source.schema
    if not any(c.name == column and isinstance(c, TextColumn) for c in schema.columns):
        raise bad_parameter("word_counts", "column", "a text column of the schema", column)
    if bounding.unit != schema.unit:
        raise bad_parameter("word_counts", "bounding", f"for the schema's unit ({schema.unit})", str(bounding.unit))
    table = _by_row(source, column, bounding) if bounding.unit.column is None else _by_person(source, column, bounding)
    totals = table.group_by("word").agg(pl.col("count").sum()).sort("word")
    return ExactKeys(
        totals["word"].to_list(),
        totals["count"].to_numpy(),
        sensitivity=Sensitivity.of_feature_counts(Bound(rows=bounding.unit.max_rows, ones=bounding.max_ones)),
        unit=schema.unit,
        query=f"rows by word of {column!r}, at most {bounding.max_ones} word(s) of a row",
        version=f"{source.version}/{bounding_version(bounding, schema)}",
    )


def _by_row(source: Source, column: str, bounding: Bounding) -> pl.DataFrame:
    """Count the words of each batch."""
    parts = [_NOTHING]
    for frame in source.frames():
        rows, words = _words_of(frame, source.schema, column)
        kept = keep_features(rows, bounding)
        entries = pl.DataFrame({"owner": np.repeat(np.arange(len(kept)), np.diff(kept.indptr)), "hash": kept.indices})
        parts.append(_count(entries.join(words, on=["owner", "hash"])))
    return pl.concat(parts)


def _by_person(source: Source, column: str, bounding: Bounding) -> pl.DataFrame:
    """Choose the rows of each person, then count their words."""
    hasher = FeatureHasher(bounding.key)
    store = PersonStore(bounding.unit.max_rows)
    seen = []
    for frame in source.frames():
        rows, words = _words_of(frame, source.schema, column)
        add_bounded(store, rows, bounding, hasher)
        assert rows.persons is not None
        persons = rows.persons.gather(words["owner"])
        seen.append(
            words.select("hash", "word", person=persons).unique(["person", "hash"], keep="first", maintain_order=True)
        )
    kept = store.rows()
    if kept is None or kept.persons is None:
        return _NOTHING
    words = pl.concat(seen).unique(["person", "hash"], keep="first", maintain_order=True)
    owner = np.repeat(np.arange(len(kept)), np.diff(kept.indptr))
    entries = pl.DataFrame({"person": kept.persons.gather(owner), "hash": kept.indices})
    return _count(entries.join(words, on=["person", "hash"]))


_NOTHING = pl.DataFrame(schema={"word": pl.String, "count": pl.Int64})


def _count(entries: pl.DataFrame) -> pl.DataFrame:
    return entries.group_by("word").agg(pl.len().cast(pl.Int64).alias("count"))


def _words_of(frame: pl.DataFrame, schema: Schema, column: str) -> tuple[Rows, pl.DataFrame]:
    """Rows whose features are hashes of their words, and the word behind each (row, hash).

    The same rows are dropped as when features are made.
    """
    text = as_text(frame[column], column)
    valid = np.ones(len(text), dtype=np.bool_)
    codes = np.zeros(len(text), dtype=np.int64)
    if schema.label is not None:
        codes = label_codes(frame[schema.label], schema, None)
        valid = codes >= 0
    persons = None
    if schema.unit.column is not None:
        persons = plain_text(frame[schema.unit.column], schema.missing)
        valid &= persons.is_not_null().to_numpy()
    chosen = np.flatnonzero(valid)
    text = text.gather(chosen)
    hashes, starts = token_hashes(text)
    lists = token_lists(text)
    every = pl.DataFrame(
        {
            "owner": np.repeat(np.arange(len(text)), np.diff(starts)),
            "hash": hashes.view(np.int64),
            "word": lists.filter(lists.list.len() > 0).explode(),
        }
    )
    words = every.unique(["owner", "hash"], keep="first", maintain_order=True).sort("owner", "hash")
    lengths = np.bincount(words["owner"].to_numpy(), minlength=len(text))
    features = words["hash"].to_numpy()
    kept_persons = None if persons is None else persons.gather(chosen)
    return Rows(offsets_of(lengths), features, codes[chosen], kept_persons), words
