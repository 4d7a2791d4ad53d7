from __future__ import annotations

import bisect
import itertools
import re
import unicodedata

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.data import text
from tacit.data.columns import STYLE, StyledTextColumn
from tacit.data.features import encode
from tacit.data.schema import Schema
from tacit.data.style import style_schema
from tacit.errors import ParameterError
from tests.data import oracle

MULTILINGUAL = [
    "",
    "   ",
    "Hello, World! It's 42.",
    "'quoted' rock'n'roll don't ''a''b'' 'tis",
    "don’t  donʼt  DON＇T",
    "İstanbul'da IĞDIR ılık",
    "ΟΔΥΣΣΕΥΣ ΟΔΟΣ Σίσυφος ΣΣ",
    "Straße STRASSE ẞ",
    "Привет, МИР! Ёжик ЩЁ",
    "ՀԱՅԱՍՏԱՆ Հայաստան",
    "Tiếng VIỆT ĐƯỜNG",
    "e\u0301te\u0301 été ÉTÉ naïve Ångström A\u030angstro\u0308m",
    "中文分词 测试abc测试 日本語テスト・ひらがな 々〇 한국어 단어",
    "𠀀𠀁 𝐀𝐁 𝟙𝟚",
    "I ❤️ this 😀😀 👩‍👩‍👧 👍🏽 ☃ 🇫🇷",
    "مرحبا، بالعالم؟ می‌خواهم שלום־עולם नमस्ते। ทดสอบ",
    "ＦＵＬＬ　ｗｉｄｔｈ １２３！",
    "a\u0085b a\u2028b a\u00a0b a\u00adb a\u200bb x\ufeffy \ufffd\ufffdz",
    "tab\tnew\nline\r\nnul\x00bell\x07del\x7f",
    "USER URL #hashtag @name a_b c-d e/f 3.14 1,000",
    "x" * 500 + " " + "中" * 50,
    "\U0010ffff\ue000\uf8ff a",
]

characters = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("aZ09' ’İıΣςß中あア❤️😀\u0301\u200d\u0085\ufffd.,-_"),
    st.sampled_from(text.FOLD_FROM),
)
texts = st.text(characters, max_size=40)


def by_bytes(rows: list[str | None]) -> list[list[int]]:
    hashes, starts = text.token_hashes(pl.Series(rows, dtype=pl.String))
    return [hashes[low:high].view(np.int64).tolist() for low, high in itertools.pairwise(starts)]


def by_definition(rows: list[str | None]) -> list[list[int]]:
    return [[oracle.string_hash(token) for token in text.tokens(row or "")] for row in rows]


@pytest.mark.parametrize("row", MULTILINGUAL)
def test_the_three_ways_agree_on_multilingual_text(row: str) -> None:
    assert by_bytes([row]) == by_definition([row])
    assert text.token_lists(pl.Series([row])).to_list() == [text.tokens(row)]


@given(st.lists(st.none() | texts, max_size=8))
def test_the_three_ways_agree_on_any_text(rows: list[str | None]) -> None:
    assert by_bytes(rows) == by_definition(rows)
    assert text.token_lists(pl.Series(rows, dtype=pl.String)).to_list() == [text.tokens(row or "") for row in rows]


def test_tokens_by_example() -> None:
    assert text.tokens("Don’t PANIC: it's 42 ❤️ 你好") == ["don't", "panic", "it's", "42", "❤", "你", "好"]
    assert text.tokens("İSTANBUL ΟΔΟΣ οδος ΟΔΥΣΣΕΥΣ") == ["istanbul", "οδοσ", "οδοσ", "οδυσσευσ"]
    assert text.tokens("'tis a''b rock'n'roll'") == ["tis", "a", "b", "rock'n'roll"]
    assert text.tokens("a_b-c 👍🏽") == ["a", "b", "c", "👍", "🏽"]
    assert text.tokens("e\u0301") == ["e\u0301"] != text.tokens("é")


def test_folding_is_one_to_one_in_the_basic_plane_and_idempotent() -> None:
    assert len(text.FOLD_FROM) == len(text.FOLD_TO) == len(set(text.FOLD_FROM))
    assert max(map(ord, text.FOLD_FROM + text.FOLD_TO)) < 0x10000
    assert not set(text.FOLD_FROM) & set(text.FOLD_TO)


def test_folding_is_simple_lower_case_but_for_the_named_exceptions() -> None:
    named = {"İ", "ς", "’", "ʼ", "＇"}
    odd = {a for a, b in zip(text.FOLD_FROM, text.FOLD_TO, strict=True) if a.lower() != b}
    assert odd == named
    covered = "ABCÀÞĀŽƠƯȘȚΑΩΆАЯЁҐՀẠỸẞＡ"
    assert set(covered) <= set(text.FOLD_FROM)


def test_classes_of_characters_do_not_overlap() -> None:
    ranges = sorted([*text.SEPARATORS, *text.SINGLES])
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ranges))
    assert all(low <= high for low, high in ranges)
    # What Unicode calls letters and digits is not thrown away, but for the blocks that are listed as symbols.
    lost = [
        chr(code)
        for low, high in text.SEPARATORS
        for code in range(low, min(high, 0xFFFF) + 1)
        if unicodedata.category(chr(code)) in ("Ll", "Lu", "Nd") and not 0x2000 <= code < 0x2C00
    ]
    assert lost == []


def test_buckets_are_frozen() -> None:
    assert text.bucket("tacit", 14) == oracle.string_hash("tacit") & 16383 == 8579740143910953033 & 16383
    with pytest.raises(ParameterError, match="bits"):
        text.bucket("tacit", 0)


def test_lone_surrogates_separate_words() -> None:
    assert text.valid_text(["a\ud800b", None, "ok"]).to_list()[1:] == [None, "ok"]
    assert text.tokens(text.valid_text(["a\ud800b"])[0]) == ["a", "b"]


STYLE_PATTERNS = {"words": r"[^\s]+", "digits": r"[0-9]", "capitals": r"[A-Z]"}
busy = st.text("aZ 09'é你\u00a0\u2003\x1c\x0b\n.", max_size=60)


@given(st.lists(st.none() | texts | busy, max_size=6), st.integers(1, 5))
def test_words_and_style_are_those_of_the_definition(lines: list[str | None], letters: int) -> None:
    """A word's beginning counts once, in the part of the text where it stands first; numbers are all read as 0."""
    column = StyledTextColumn("text", 6, letters, (2, 3, 7), (0, 1, 2, 4, 1 << 62))
    series = pl.Series("text", lines, dtype=pl.String)
    rows = encode(series.to_frame(), Schema((column,), classes=(0, 1)), None, np.zeros(len(lines), np.int64))
    counts = {name: series.fill_null("").str.count_matches(pattern) for name, pattern in STYLE_PATTERNS.items()}
    for place, line in enumerate(lines):
        first: dict[int, int] = {}
        for at, token in enumerate(text.tokens(re.sub("[0-9]+", "0", line or ""))):
            first.setdefault(text.bucket(token[:letters], 6), sum(at >= border for border in column.borders))
        words = sorted(4 * cell + part for cell, part in first.items())
        bins = [bisect.bisect(column.edges[1:-1], int(counts[name][place])) for name in STYLE]
        expected = words + [column.cells + 5 * which + bin for which, bin in enumerate(bins)]
        assert rows.indices[rows.indptr[place] : rows.indptr[place + 1]].tolist() == expected


@given(st.lists(st.none() | texts | busy, max_size=6), st.lists(texts, max_size=3))
def test_the_features_of_a_text_depend_on_it_alone(lines: list[str | None], others: list[str]) -> None:
    schema = style_schema((0, 1), bits=14)

    def features(texts: list[str | None]) -> list[list[int]]:
        frame = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String)})
        rows = encode(frame, schema, None, np.zeros(len(texts), np.int64))
        return [rows.indices[low:high].tolist() for low, high in itertools.pairwise(rows.indptr)]

    alone = [features([line])[0] for line in lines]
    assert features([*others, *lines, *others])[len(others) : len(others) + len(lines)] == alone


def test_features_of_styled_texts_have_names() -> None:
    schema = style_schema((0, 1), bits=4)
    names = schema.feature_names()
    assert len(set(names)) == schema.n_features == 5 * 16 + 3 * 12
    assert names[7] == "text: bucket 1 in part 2"
    assert names[80:82] == ["words in [0, 1)", "words in [1, 2)"]
    assert names[-1] == "capitals: missing"
