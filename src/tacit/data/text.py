"""What a word is and which bucket it falls into: one definition, the same on every engine, version and platform.

Sees text, returns tokens and bucket numbers. A released model depends on this definition, so it is frozen: it uses
fixed tables, never a library's idea of Unicode, which changes with the years and differs between languages.

The definition, in three steps:

1. *Fold.* Each code point is replaced by its entry in ``FOLD_FROM``/``FOLD_TO``, if it has one: capital letters of the
   Latin, Greek, Cyrillic, Armenian and full-width alphabets become small ones, final sigma becomes sigma, dotted
   capital I becomes i, and the typographic apostrophes become ``'``. All entries map one code point of the Basic
   Multilingual Plane to one, so SQL's ``translate(text, FOLD_FROM, FOLD_TO)`` does it.
2. *Find.* The tokens are the matches of ``TOKEN_PATTERN``, left to right: a single Chinese ideograph, hiragana letter
   or emoji; or a run of word characters, in which single apostrophes may stand between word characters. Word characters
   are ASCII letters and digits and all code points from U+0080 that are neither in ``SEPARATORS`` nor in ``SINGLES``:
   combining marks too. The pattern has literal code points in its classes and means the same to Rust (Polars), Java
   (Spark) and Python.
3. *Hash.* A token's bucket is the low ``bits`` bits of XXH64 of its UTF-8 bytes with seed 42: in Spark,
   ``xxhash64(token) & (2^bits − 1)``.

A row has a feature or has it not: repeated tokens count once. Text that is missing has no tokens. Bytes that are not
UTF-8, and lone surrogates, become U+FFFD, which is a separator: how many of them a reader writes does not matter. Text
is not normalised: é as one code point and as e with a combining accent are two different tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.data.hashing import Longs, hash_slices, hash_strings, string_buffer
from tacit.errors import bad_parameter

MAX_BITS = 26


def _steps(first: int, last: int, step: int, shift: int) -> Iterable[tuple[int, int]]:
    return ((code, code + shift) for code in range(first, last + 1, step))


def _fold_table() -> dict[str, str]:
    """Simple lower-case mappings of the alphabets that have case, written out by range."""
    pairs = [
        *_steps(0x41, 0x5A, 1, 32),  # ASCII
        *_steps(0xC0, 0xD6, 1, 32),  # Latin-1
        *_steps(0xD8, 0xDE, 1, 32),
        *_steps(0x100, 0x12E, 2, 1),  # Latin Extended-A
        (0x130, 0x69),  # dotted capital I
        *_steps(0x132, 0x136, 2, 1),
        *_steps(0x139, 0x147, 2, 1),
        *_steps(0x14A, 0x176, 2, 1),
        (0x178, 0xFF),
        *_steps(0x179, 0x17D, 2, 1),
        *_steps(0x1A0, 0x1A4, 2, 1),  # Vietnamese, Pinyin, Romanian
        (0x1AF, 0x1B0),
        *_steps(0x1CD, 0x1DB, 2, 1),
        *_steps(0x1DE, 0x1EE, 2, 1),
        *_steps(0x1F8, 0x21E, 2, 1),
        *_steps(0x222, 0x232, 2, 1),
        (0x386, 0x3AC),  # Greek
        *_steps(0x388, 0x38A, 1, 37),
        (0x38C, 0x3CC),
        *_steps(0x38E, 0x38F, 1, 63),
        *_steps(0x391, 0x3A1, 1, 32),
        *_steps(0x3A3, 0x3AB, 1, 32),
        (0x3C2, 0x3C3),  # final sigma
        *_steps(0x400, 0x40F, 1, 80),  # Cyrillic
        *_steps(0x410, 0x42F, 1, 32),
        *_steps(0x460, 0x480, 2, 1),
        *_steps(0x48A, 0x4BE, 2, 1),
        (0x4C0, 0x4CF),
        *_steps(0x4C1, 0x4CD, 2, 1),
        *_steps(0x4D0, 0x52E, 2, 1),
        *_steps(0x531, 0x556, 1, 48),  # Armenian
        *_steps(0x1E00, 0x1E94, 2, 1),  # Latin Extended Additional
        (0x1E9E, 0xDF),
        *_steps(0x1EA0, 0x1EFE, 2, 1),
        *_steps(0xFF21, 0xFF3A, 1, 32),  # full width
        (0x2019, 0x27),  # right single quotation mark
        (0x2BC, 0x27),  # modifier letter apostrophe
        (0xFF07, 0x27),  # full-width apostrophe
    ]
    return {chr(source): chr(target) for source, target in pairs}


_FOLD = _fold_table()
FOLD_FROM = "".join(_FOLD)
FOLD_TO = "".join(_FOLD.values())

SINGLES: tuple[tuple[int, int], ...] = (
    (0x2600, 0x27BF),  # symbols and dingbats that are used as emoji
    (0x3005, 0x3005),  # ideographic iteration mark, zero
    (0x3007, 0x3007),
    (0x3041, 0x309F),  # hiragana
    (0x3400, 0x4DBF),  # Chinese ideographs
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1F000, 0x1FAFF),  # emoji
    (0x20000, 0x3FFFF),  # more ideographs
)
"""Ranges of code points of which each is a token by itself."""

SEPARATORS: tuple[tuple[int, int], ...] = (
    (0x80, 0xA9),
    (0xAB, 0xB4),
    (0xB6, 0xB9),
    (0xBB, 0xBF),
    (0xD7, 0xD7),
    (0xF7, 0xF7),
    (0x37E, 0x37E),
    (0x387, 0x387),
    (0x55A, 0x55F),
    (0x589, 0x58A),
    (0x5BE, 0x5BE),
    (0x5C0, 0x5C0),
    (0x5C3, 0x5C3),
    (0x5F3, 0x5F4),
    (0x60C, 0x60D),
    (0x61B, 0x61F),
    (0x66A, 0x66D),
    (0x6D4, 0x6D4),
    (0x964, 0x965),
    (0xE5A, 0xE5B),
    (0x104A, 0x104F),
    (0x1361, 0x1368),
    (0x1680, 0x1680),
    (0x17D4, 0x17DA),
    (0x1800, 0x180E),
    (0x2000, 0x25FF),
    (0x27C0, 0x2BFF),
    (0x2E00, 0x2E7F),
    (0x3000, 0x3004),
    (0x3006, 0x3006),
    (0x3008, 0x3040),
    (0x30A0, 0x30A0),
    (0x30FB, 0x30FB),
    (0xE000, 0xF8FF),
    (0xFE00, 0xFE1F),
    (0xFE30, 0xFE6F),
    (0xFEFF, 0xFEFF),
    (0xFF00, 0xFF0F),
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF65),
    (0xFFE0, 0xFFFF),
    (0xE0000, 0x10FFFF),
)
"""Ranges of code points from U+0080 that are never part of a token."""


def _class(ranges: Sequence[tuple[int, int]]) -> str:
    return "".join(chr(low) if low == high else f"{chr(low)}-{chr(high)}" for low, high in ranges)


def _word_ranges() -> list[tuple[int, int]]:
    """ASCII letters and digits, and what SEPARATORS, SINGLES and the surrogates leave."""
    words = [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)]
    after = 0x80
    for low, high in sorted([*SEPARATORS, *SINGLES, (0xD800, 0xDFFF)]):
        if after < low:
            words.append((after, low - 1))
        after = high + 1
    return words


_WORD = f"[{_class(_word_ranges())}]"
TOKEN_PATTERN = f"[{_class(SINGLES)}]|{_WORD}+(?:'{_WORD}+)*"

_SEPARATOR_PATTERN = f"[{_class(SEPARATORS)}]"
_SINGLE_PATTERN = f"([{_class(SINGLES)}])"
_ORACLE = re.compile(TOKEN_PATTERN)
_TRANSLATE = str.maketrans(FOLD_FROM, FOLD_TO)
_NON_ASCII_FOLD = {source: target for source, target in _FOLD.items() if source > "\x7f"}
_PREPARED = (
    pl.col("")
    .str.replace_many(_NON_ASCII_FOLD)
    .str.replace_all(_SEPARATOR_PATTERN, " ")
    .str.replace_all(_SINGLE_PATTERN, " ${1} ")
)
_APOSTROPHE = 0x27


def _lower(buffer: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """ASCII capitals made small. Arithmetic on bytes, which wraps, beats a table of 256 entries by far."""
    capital = (buffer - np.uint8(0x41)) < 26
    return buffer | (capital.view(np.uint8) << np.uint8(5))


def _is_word(lower: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes of prepared text are small letters, digits, or part of a longer code point."""
    letter = (lower - np.uint8(0x61)) < 26
    letter |= (lower - np.uint8(0x30)) < 10
    letter |= lower >= 0x80
    return letter


def tokens(text: str) -> list[str]:
    """The tokens of one text, by the letter of the definition. Plain and slow: for examples, word lists and tests.

    Examples
    --------
    >>> tokens("Don’t PANIC: it's 42 ❤️ 你好")
    ["don't", 'panic', "it's", '42', '❤', '你', '好']
    """
    return _ORACLE.findall(text.translate(_TRANSLATE))


def bucket(token: str, bits: int) -> int:
    """The bucket of one token among 2^bits."""
    return int(hash_strings([token])[0]) & ((1 << check_bits(bits)) - 1)


def check_bits(bits: int) -> int:
    """Check the number of bits of a hash space."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MAX_BITS:
        raise bad_parameter("text column", "bits", f"a whole number from 1 to {MAX_BITS}", bits)
    return bits


def valid_text(strings: Iterable[object]) -> pl.Series:
    """Python strings and None as a Polars column; lone surrogates, which UTF-8 does not have, become U+FFFD.

    Raises TypeError where there is anything else.
    """
    values = list(strings)
    try:
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:
        return pl.Series([_repair(value) for value in values], dtype=pl.String)


def _repair(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def token_hashes(text: pl.Series) -> tuple[NDArray[np.uint64], Longs]:
    """The XXH64 of every token of a text column, row by row, and where each row begins; repeated tokens repeat."""
    buffer, offsets, _ = prepare(text)
    return hash_tokens(_lower(buffer), offsets)


def prepare(text: pl.Series) -> tuple[NDArray[np.uint8], Longs, Longs]:
    """The bytes of a text column, where each row begins, and which rows have characters other than ASCII.

    A line feed ends each row. Of characters other than ASCII the separators are blanks, capitals are small, and blanks
    are around those that are a token each, so that afterwards every byte from 0x80 belongs to a word.
    """
    lines = (text.fill_null("") if text.null_count() else text) + "\n"
    buffer, offsets = string_buffer(lines)
    foreign = np.flatnonzero(np.diff(np.searchsorted(np.flatnonzero(buffer >= 0x80), offsets)))
    if len(foreign):
        rows = lines.rename("").gather(foreign).to_frame().select(_PREPARED).to_series()
        buffer, offsets = string_buffer(lines.scatter(foreign, rows))
    return buffer, offsets, foreign


def hash_tokens(
    lower: NDArray[np.uint8], offsets: Longs, letters: int | None = None
) -> tuple[NDArray[np.uint64], Longs]:
    """The XXH64 of every token of prepared rows in small letters; with ``letters``, of so many first code points."""
    word = _is_word(lower)
    quotes = np.flatnonzero(lower == _APOSTROPHE)
    if len(quotes):
        # The last byte of a row is a line feed, so the neighbours of a quote are of its own row or no word bytes.
        quotes = quotes[word[quotes - 1] & word[quotes + 1]]
        word[quotes] = True
    edges = np.flatnonzero(word[1:] != word[:-1])
    edges += 1
    if len(word) and word[0]:
        edges = np.concatenate([np.zeros(1, dtype=edges.dtype), edges])
    starts, ends = edges[0::2].copy(), edges[1::2].copy()  # read often, and faster in one piece
    if letters is not None:
        ends = _cut(lower, starts, ends, letters)
    hashes = hash_slices(lower, starts, ends - starts)
    return hashes, np.searchsorted(starts, offsets)


def _cut(buffer: NDArray[np.uint8], starts: Longs, ends: Longs, letters: int) -> Longs:
    """Where the first so many code points of each token end."""
    short = np.minimum(ends, starts + letters)
    leads = np.flatnonzero(buffer >= 0xC0)  # of longer code points: all of them belong to tokens
    owners = np.searchsorted(starts, leads, side="right") - 1
    wide = owners[np.flatnonzero(np.diff(owners, prepend=-1))]
    places, limits = starts[wide], ends[wide]
    for _ in range(letters):
        lead = buffer[places]
        places = np.minimum(places + 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0), limits)
    short[wide] = places
    return short


def token_lists(text: pl.Series) -> pl.Series:
    """The tokens of each row as a list column: for vocabularies, where the words themselves are needed."""
    folded = text.fill_null("").str.replace_many(_FOLD)
    return folded.str.extract_all(TOKEN_PATTERN)
