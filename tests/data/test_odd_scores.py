"""Whether scores are refused is decided by the type that is declared for them, and no odd one is told."""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.data.scores import Scores
from tacit.errors import ParameterError
from tacit.privacy._seal import open_exact
from tacit.privacy.grid import CELLS

SIGNALLING = {"f8": 0x7FF00000000007A2, "f4": 0x7F8007A2, "f2": 0x7C01}  # the first is how R writes a missing number


def below(y: Any, s: Any, **options: Any) -> list[int]:
    """Negatives in the lowest cell and above it, then positives."""
    given: dict[str, Any] = {"pos_label": 1, "score_range": (0.0, 1.0), "unit": tacit.Unit.row(), "seed": 1} | options
    cuts = np.array([0, 1, CELLS])
    return open_exact(Scores(y, s, **given).counts((cuts, cuts))).tolist()


def signalling(count: int, place: int, kind: str = "f8") -> Any:
    scores = np.full(count, 0.5, dtype=kind)
    scores.view(f"u{scores.itemsize}")[place] = SIGNALLING[kind]
    return scores


@pytest.mark.parametrize("kind", SIGNALLING)
@pytest.mark.parametrize("made", [np.asarray, pl.Series, pd.Series])
def test_a_score_that_signals_is_the_lowest(kind: str, made: Callable[[Any], Any]) -> None:
    """What np.fmax makes of it depends on how many scores there are, and on where it stands among them."""
    if kind == "f2" and made is pl.Series and not hasattr(pl, "Float16"):
        pytest.skip("Polars has no numbers of 16 bits here")
    for count in (1, 2, 3, 8, 16, 17, 33, 65):
        for place in {0, count // 2, count - 1}:
            s = made(signalling(count, place, kind))
            for span in ((0.0, 1.0), (-10.0, 0.6)):
                assert below([0] * count, s, score_range=span) == [1, count - 1, 0, 0]


@pytest.mark.parametrize("kind", SIGNALLING)
def test_a_number_that_signals_is_no_warning(kind: str, recwarn: pytest.WarningsRecorder) -> None:
    odd, y = signalling(9, 4, kind), np.arange(9) % 2
    assert below(y, odd) == [1, 4, 0, 4]
    assert below(odd, [0.5] * 9, pos_label=0.5) == [0, 1, 0, 8]
    unit = tacit.Unit.user("who", 3)
    assert sum(below(y, odd, unit=unit, persons=y)) == 6
    assert not recwarn.list


NUMBERS, LONG = [0.25, 0.5], 2**60


class Dead:
    """Raises whatever it is asked, as a weak reference does to what is gone."""

    @property
    def __class__(self) -> Any:
        raise ReferenceError


PAIRS: dict[str, tuple[Any, Any]] = {
    "text of pandas": (pd.Series([0.25, 0.5]), pd.Series(["0.25", "0.5", "?"])),
    "text of Polars": (pl.Series([0.25, 0.5]), pl.Series(["0.25", "0.5", "?"])),
    "text of Arrow": (pa.array([0.25, 0.5]), pa.array(["0.25", "0.5", "?"])),
    "text of numpy": (np.array(["0.25", "0.5"]), np.array(["0.25", "0.5", "?"])),
    "categories": (pl.Series(["0.25", "0.5"], dtype=pl.Categorical), pd.Series(["0.25", "0.5", "?"], dtype="category")),
    "all masked": (np.ma.array(NUMBERS, mask=True), np.ma.array([*NUMBERS, 0.5], mask=[True, True, False])),
    "none, masked": (np.ma.array([]), np.ma.array([0.5])),
    "long and masked": (
        np.ma.array([LONG, 1], mask=[True, False]),
        np.ma.array([0, 1, LONG], mask=[True, False, False]),
    ),
    "all missing": (pd.Series(pd.arrays.SparseArray([np.nan])), pd.Series(pd.arrays.SparseArray([np.nan, 0.5]))),
    "none, sparse": (pd.Series(pd.arrays.SparseArray([], dtype=float)), pd.Series(pd.arrays.SparseArray([0.5]))),
    "long and sparse": (pd.Series(pd.arrays.SparseArray([0, 1])), pd.Series(pd.arrays.SparseArray([0, 1, LONG]))),
    "none of pandas": (pd.Series([], dtype=object), pd.Series([0.5], dtype=object)),
    "a deque": (deque([0.25, 0.5]), deque([0.25, 0.5, "?"])),
    "roots": (np.emath.sqrt([0.25, 0.5]), np.emath.sqrt([0.25, 0.5, -1.0])),
    "complex of pandas": (pd.Series([0.25, 0.5]), pd.Series([0.25, 0.5, 1j])),
    "bytes of numpy": (np.array([0.25, 0.5]), np.array([0.25, 0.5, b"?"])),
    "objects of Polars": (pl.Series([0.25, 0.5]), pl.Series([0.25, 0.5, b"?"], dtype=pl.Object)),
    "bytes": (pa.array([b"0.25", b"0.5"]), pa.array([b"0.25", b"0.5", b"?"])),
    "what cannot be asked": ([Fraction(1, 4), 0.5], [Fraction(1, 4), 0.5, Dead()]),
}


@pytest.mark.parametrize(("few", "more"), PAIRS.values(), ids=PAIRS)
def test_one_more_score_refuses_no_other(few: Any, more: Any) -> None:
    """One "?" made a column one of text, which was refused; so was a column that is masked as a whole."""
    found = [np.array(below([1] * len(scores), scores, score_range=(0.0, 2.0))) for scores in (few, more)]
    assert np.abs(found[1] - found[0]).sum() == len(more) - len(few)


DECLARED: list[Any] = [
    np.array([], dtype="M8[s]"),
    np.array([1], dtype="m8[s]"),
    np.array([(1, 2)], dtype="i4,i4"),
    pd.Series(pd.to_datetime(["2020-01-01"])).dt.tz_localize("UTC"),
    pl.Series([dt.date(2020, 1, 1)]),
    pl.Series([], dtype=pl.Duration),
    pl.Series([[1.0]]),
    pa.array([dt.date(2020, 1, 1)]),
]


@pytest.mark.parametrize("scores", DECLARED, ids=lambda scores: str(getattr(scores, "dtype", "Arrow")))
def test_a_column_declared_as_something_else_is_refused_with_any_rows_and_none(scores: Any) -> None:
    for part in (scores, scores[:0]):
        with pytest.raises(ParameterError, match="'y_score' parameter of roc_curve must be real numbers"):
            below([1] * len(part), part)


def test_one_more_label_refuses_no_other() -> None:
    """One complex label made an array of complex ones, which was refused."""
    for labels in (np.array([0, 1, 1]), np.array([0, 1, 1, 1j]), np.array([0, 1, 1, b"?"])):
        assert below(labels, np.full(len(labels), 0.5)) == [0, len(labels) - 2, 0, 2]


def test_numbers_are_read_where_numpy_is_told_to_raise() -> None:
    with np.errstate(all="raise"):
        assert below([1] * 3, np.array([0.5, 5e-324, 1.7e308]), score_range=(0.0, 2.0)) == [0, 0, 1, 2]
        assert below([1] * 2, signalling(2, 0, "f4")) == [0, 0, 1, 1]
        tacit.split(np.array([[5e-324], [np.inf]]), signalling(2, 0, "f4"))
