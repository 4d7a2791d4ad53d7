"""Texts at the desk: a visit for labelled private texts, features of texts to predict, and public word frequencies."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data.columns import STYLE
from tacit.data.features import as_text, encode
from tacit.data.hashing import hash_strings
from tacit.data.rows import Rows
from tacit.data.series import as_series, listed
from tacit.data.style import BORDERS, EDGES, LETTERS, NUMBER, style_schema
from tacit.data.sums import Rules, row_scores
from tacit.data.text import token_lists, tokens, valid_text
from tacit.data.topics import Topics
from tacit.desk.counts import Visit
from tacit.desk.parts import Part
from tacit.errors import MissingExtraError, bad_parameter
from tacit.ledger import Account

__all__ = [
    "STYLE",
    "STYLES",
    "STYLE_MARKS",
    "TEXT_PARTS",
    "Topics",
    "bucket_names",
    "public_rows",
    "score_texts",
    "style_levels",
    "text_matrix",
    "text_visit",
    "text_width",
    "word_frequencies",
    "word_tones",
]

STYLES = len(STYLE)
STYLE_MARKS = STYLES * len(EDGES)
TEXT_PARTS = len(BORDERS) + 1
MOST_PUBLIC = 1 << 16
"""Public texts that are read; more of them tell little more."""

Floats = NDArray[np.float64]


def text_visit(
    texts: Any,
    y: Any,
    *,
    bits: int,
    classes: tuple[Any, ...],
    owner: str,
    epsilon: float,
    delta: float,
    account: Account | None,
    random_state: int | None,
    persons: Any,
) -> Visit:
    """Open a visit for private texts: their words in 2^bits buckets, and their style."""
    opened = isinstance(texts, Part)
    name = texts.schema.columns[0].name if opened else "text"
    return Visit(
        texts if opened else _texts(texts, owner).to_frame(),
        y,
        style_schema(classes, bits=bits, name=name),
        owner=owner,
        epsilon=epsilon,
        delta=delta,
        account=account,
        random_state=random_state,
        persons=persons,
    )


def score_texts(texts: Any, bits: int, rules: Rules, owner: str) -> Floats:
    """Scores of texts under each column of a rule's weights: for prediction."""
    rows = _encode(_texts(texts, owner), bits)
    return row_scores(rows.indptr, rows.indices, rules)


def text_matrix(texts: Any, bits: int, owner: str) -> Any:
    """Texts as a sparse binary matrix of their words and their style."""
    rows = _encode(_texts(texts, owner), bits)
    return sp.csr_array((np.ones(len(rows.indices)), rows.indices, rows.indptr), shape=(len(rows), text_width(bits)))


def text_width(bits: int) -> int:
    """How many features a text has: buckets of words, and bins of style."""
    return style_schema((0, 1), bits=bits).n_features


def public_rows(texts: Any, bits: int, owner: str) -> Any:
    """Public texts as a sparse binary matrix of their words by part of the text: at most ``MOST_PUBLIC``."""
    series = _texts(texts, owner, "public_text")
    if not len(series):
        raise bad_parameter(owner, "public_text", "at least one public text", "none")
    return text_matrix(series.head(MOST_PUBLIC), bits, owner)[:, : TEXT_PARTS << bits]


def word_frequencies(language: Any, bits: int, length: float, owner: str) -> Floats:
    """From a public list of words: the chance that a text of this many words has a word of each bucket."""
    return _frequencies(_language(language, owner), bits, length, owner)


def word_tones(language: Any, bits: int, owner: str) -> Floats | None:
    """From public ratings of words: how much praise, or below 0 blame, the words of each bucket mean on average.

    None where a language has no ratings: only English has.
    """
    spelt = _language(language, owner)
    return _tones(spelt, bits, owner) if re.split("[-_]", spelt.lower())[0] == "en" else None


def _language(language: Any, owner: str) -> str:
    if isinstance(language, str):
        return language
    remedy = "Public texts of your own go to public_text."
    raise bad_parameter(owner, "word_list", "a language such as 'en'", type(language).__name__, remedy)


@lru_cache(maxsize=8)
def _tones(language: str, bits: int, owner: str) -> Floats:
    ratings = _ratings(owner)
    listed, shares = _word_list(language, owner)
    share = dict.fromkeys(ratings, shares.min()) | dict(zip(listed, shares, strict=True))
    words = list(share)
    weights, buckets = np.array(list(share.values())), _buckets(words, bits)
    rated = weights * [ratings.get(word, 0.0) for word in words]
    total = np.bincount(buckets, weights=weights, minlength=1 << bits)
    tones: Floats = np.bincount(buckets, weights=rated, minlength=1 << bits) / np.maximum(total, shares.min())
    tones.flags.writeable = False  # shared by all who ask
    return tones


def _ratings(owner: str) -> dict[str, float]:
    """English words with the mean of ten people's ratings, from -4 to 4: the lexicon of VADER."""
    try:
        lexicon = files("vaderSentiment").joinpath("vader_lexicon.txt").read_text(encoding="utf-8")
    except (ImportError, OSError) as error:
        raise MissingExtraError(f"{owner}(word_list='en') needs public tones: pip install 'tacit[words]'.") from error
    rated = [line.split("\t")[:2] for line in lexicon.splitlines() if line.strip()]
    return {word: float(rating) for word, rating in rated if tokens(word) == [word]}


@lru_cache(maxsize=8)
def _frequencies(language: str, bits: int, length: float, owner: str) -> Floats:
    words, shares = _word_list(language, owner)
    rate = np.bincount(_buckets(words, bits), weights=shares, minlength=1 << bits)
    chance: Floats = -np.expm1(-rate * length)
    chance.flags.writeable = False  # shared by all who ask
    return chance


def bucket_names(bits: int, language: str | None, texts: Any, owner: str) -> dict[int, str]:
    """The most frequent public word of each bucket, from public texts or a list of words; empty where neither is.

    Of a long word the beginning is told, which is all that counts.
    """
    if texts is not None:
        lists = token_lists(_texts(texts, owner, "public_text"))
        table = lists.explode().drop_nulls().value_counts(sort=True)
        words = table.to_series(0).to_list()
    elif language is not None:
        listed, shares = _word_list(language, owner)
        words = [listed[place] for place in np.argsort(-shares, kind="stable")]
    else:
        return {}
    names: dict[int, str] = {}
    for word, bucket in zip(words, _buckets(words, bits).tolist(), strict=True):
        names.setdefault(bucket, _shown(word))
    return names


def _shown(word: str) -> str:
    """What counts of a word, for readers."""
    read = re.sub(*NUMBER, word)
    return "any number" if read == "0" else read if len(read) <= LETTERS else f"{read[:LETTERS]}…"


def style_levels(usual: int) -> Floats:
    """How often words, digits and capitals have doubled beyond what is usual, in texts with each mark of style.

    Marks × 3; marks of other kinds have 0. A missing text is as an empty one.
    """
    doublings = np.append(np.arange(len(EDGES) - 1), 0.0) - usual
    return np.kron(np.eye(STYLES), doublings[:, None])


@lru_cache(maxsize=4)
def _word_list(language: str, owner: str) -> tuple[list[str], Floats]:
    """Public words of a language that are one token each, and their frequencies."""
    try:
        import wordfreq
    except ImportError as error:
        raise MissingExtraError(
            f"{owner}(word_list=…) needs public word frequencies: pip install 'tacit[words]'."
        ) from error
    try:
        table = wordfreq.get_frequency_dict(language, wordlist="best")
    except (LookupError, ValueError):
        languages = sorted(wordfreq.available_languages())
        raise bad_parameter(owner, "word_list", f"one of {languages}", language) from None
    words = [(word, share) for word, share in table.items() if tokens(word) == [word]]
    return [word for word, _ in words], np.array([share for _, share in words])


def _buckets(words: list[str], bits: int) -> NDArray[np.int64]:
    beginnings = valid_text(words).str.replace_all(*NUMBER).str.slice(0, LETTERS)
    return np.asarray(hash_strings(beginnings) & ((1 << bits) - 1)).astype(np.int64)


def _encode(texts: pl.Series, bits: int) -> Rows:
    schema = style_schema((0, 1), bits=bits)
    return encode(texts.to_frame(), schema, None, np.zeros(len(texts), dtype=np.int64))


def _texts(texts: Any, owner: str, name: str = "X") -> pl.Series:
    if isinstance(texts, str | bytes) or not hasattr(texts, "__len__"):
        single = "A single text goes into a list: [text]. Texts of a file are read first, as a column of a frame."
        remedy = single if isinstance(texts, str | bytes) else "Make a list of it: list(texts)."
        raise bad_parameter(owner, name, "a sequence of texts", type(texts).__name__, remedy)
    if isinstance(texts, np.ndarray) and texts.ndim == 2 and texts.shape[1] == 1:
        texts = texts.ravel()
    if hasattr(texts, "columns") or hasattr(texts, "column_names"):
        remedy = "Pass one column of it, such as X['message']."
        raise bad_parameter(owner, name, "a sequence of texts", f"a frame ({type(texts).__name__})", remedy)
    # Whatever stands among texts is one, too. Nor is a column of numbers refused: a file in which no row has a text is
    # read as one, and a row more that has a text would turn the error into a fit.
    return as_text(as_series("text", listed(texts)), "text")
