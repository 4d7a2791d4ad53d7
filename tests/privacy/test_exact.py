"""An exact statistic does not show itself, by accident or by habit; the gate alone opens it."""

from __future__ import annotations

import copy
import inspect
import io
import json
import logging
import math
import operator
import pickle
import pprint
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import Budget, Ledger, ParameterError, PrivacyError, Unit
from tacit.privacy import gate
from tacit.privacy._seal import open_exact
from tacit.privacy.exact import Exact
from tacit.privacy.mechanisms import DiscreteGaussian, DiscreteLaplace, Selection, TopK
from tacit.privacy.unit import Bound, Sensitivity

#: Numbers that nothing else in a message or a traceback would show.
SECRETS = [7_310_001, 7_310_002, 7_310_003]


def sealed(values: Any = SECRETS, dtype: Any = np.int64) -> Exact:
    return Exact(
        np.array(values, dtype=dtype),
        sensitivity=Sensitivity.of_row_counts(Bound(rows=1, ones=1)),
        unit=Unit.row(),
        query="how many",
        version="v1",
    )


def shows(text: object) -> bool:
    return "731000" in str(text)


SHOWING: dict[str, Callable[[Exact], Any]] = {
    "repr": repr,
    "str": str,
    "f-string": lambda x: f"{x}",
    "f-string with repr": lambda x: f"{x!r}",
    "format": lambda x: format(x, ""),
    "percent": lambda x: "%s" % x,  # noqa: UP031 - one of the ways to show a value
    "percent d": lambda x: "%d" % x,  # noqa: UP031 - one of the ways to show a value
    "inside a list": lambda x: str([x]),
    "inside a dict": lambda x: repr({"counts": x}),
    "pprint": pprint.pformat,
    "iteration": iter,
    "list": list,
    "tuple": tuple,
    "unpacking": lambda x: [*x],
    "sum": sum,
    "max": max,
    "sorted": sorted,
    "reversed": reversed,
    "membership": lambda x: SECRETS[0] in x,
    "index": lambda x: x[0],
    "slice": lambda x: x[:],
    "len": len,
    "int": int,
    "float": float,
    "complex": complex,
    "round": round,
    "operator.index": operator.index,
    "math.floor": math.floor,
    "bool": bool,
    "not": operator.not_,
    "equal": lambda x: x == SECRETS[0],
    "equal to another": lambda x: x == sealed(),
    "not equal": lambda x: x != SECRETS[0],
    "less": lambda x: x < 10**9,
    "less or equal": lambda x: x <= 10**9,
    "greater": lambda x: x > 0,
    "greater or equal": lambda x: x >= 0,
    "hash": hash,
    "add": lambda x: x + 0,
    "add to an array": lambda x: np.zeros(3, dtype=np.int64) + x,
    "multiply an array": lambda x: x * np.ones(3, dtype=np.int64),
    "np.asarray": np.asarray,
    "np.array": np.array,
    "np.array of objects": lambda x: np.array(x, dtype=object).tolist()[0],
    "np.sum": np.sum,
    "np.add": lambda x: np.add(x, 0),
    "np.save": lambda x: np.save(io.BytesIO(), x),
    "memoryview": memoryview,
    "bytes": bytes,
    "pickle": pickle.dumps,
    "pickle, oldest protocol": lambda x: pickle.dumps(x, protocol=0),
    "pickle inside a list": lambda x: pickle.dumps([x]),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "json": json.dumps,
    "json with default=str": lambda x: json.dumps(x, default=str),
    "vars": vars,
    "getstate": lambda x: x.__getstate__(),
    "reduce": lambda x: x.__reduce__(),
}


@pytest.mark.parametrize("way", SHOWING)
def test_no_ordinary_way_shows_the_values(way: str) -> None:
    """Each raises, and its message holds nothing private."""
    with pytest.raises((PrivacyError, TypeError)) as caught:
        SHOWING[way](sealed())
    assert not shows(caught.value)


REFUSED = (
    "repr, str, f-string, format, pickle, copy, deepcopy, np.asarray, np.array, iteration, list, index, len, int, "
    "float, operator.index, bool, equal, not equal, less, less or equal, greater, greater or equal"
)


@pytest.mark.parametrize("way", REFUSED.split(", "))
def test_the_refusal_says_where_to_go(way: str) -> None:
    with pytest.raises(PrivacyError, match=r"Pass it through the gate \(tacit.privacy.gate.release\)"):
        SHOWING[way](sealed())


def test_tools_that_swallow_errors_show_nothing_either(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Logging prints what went wrong and goes on; pytest and reprlib print a place-holder."""
    statistic = sealed()
    logger = logging.getLogger("test_exact")
    handler = logging.StreamHandler(stream := io.StringIO())
    logger.addHandler(handler)
    logger.propagate = False
    try:
        logger.warning("counts: %s", statistic)
        logger.warning("counts: %r", [statistic])
    finally:
        logger.removeHandler(handler)
    from _pytest._io.saferepr import saferepr

    seen = [stream.getvalue(), *capfd.readouterr(), caplog.text, saferepr(statistic), saferepr([statistic])]
    seen.append(reprlib.Repr().repr_instance(statistic, 3))
    assert "Exact" in "".join(seen)
    assert not any(map(shows, seen))


def test_a_walk_over_its_attributes_shows_nothing() -> None:
    """As an editor's completion, a debugger's tree or inspect.getmembers would do it."""
    statistic = sealed()
    names = [name for name in dir(statistic) if not (name.startswith("__") and name.endswith("__"))]
    assert "shape" in names
    found = [getattr(statistic, name) for name in names]
    found += [value for _, value in inspect.getmembers(statistic, lambda member: isinstance(member, np.ndarray))]
    assert not any(isinstance(value, np.ndarray) for value in found)
    assert not any(shows(value) for value in found)


def test_what_is_public_can_be_read() -> None:
    statistic = sealed(np.arange(6).reshape(2, 3))
    assert statistic.shape == (2, 3)
    assert statistic.query == "how many"
    assert statistic.version == "v1"
    assert statistic.unit == Unit.row()
    assert statistic.sensitivity.l1 == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32, bool, complex, object, "U8", "datetime64[s]"])
def test_anything_but_integers_is_refused_without_being_shown(dtype: Any) -> None:
    with pytest.raises(ParameterError, match="must hold integers") as caught:
        sealed(dtype=dtype)
    assert not shows(caught.value)
    assert "round to a public grid" in str(caught.value)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
def test_all_kinds_of_integers_are_kept_exactly(dtype: Any) -> None:
    largest = min(np.iinfo(dtype).max, np.iinfo(np.int64).max)
    assert open_exact(sealed([0, 1, largest], dtype)).tolist() == [0, 1, largest]


def test_integers_beyond_64_bits_with_a_sign_are_refused() -> None:
    with pytest.raises(ParameterError, match="64-bit") as caught:
        sealed([2**63], np.uint64)
    assert "9223372036854775808" not in str(caught.value)


def test_the_seal_holds_a_copy() -> None:
    """What the caller does to its array afterwards does not change the statistic."""
    values: NDArray[np.int64] = np.array(SECRETS)
    statistic = Exact(
        values, sensitivity=Sensitivity.of_row_counts(Bound(1, 1)), unit=Unit.row(), query="how many", version="v1"
    )
    values[:] = 0
    assert open_exact(statistic).tolist() == SECRETS


@pytest.mark.parametrize(
    ("mechanism", "shape"),
    [(DiscreteLaplace(5.0), (3,)), (DiscreteGaussian(5.0, 1e-6), (3,)), (Selection(5.0), (1,)), (TopK(5.0, 2), (2,))],
)
def test_the_gate_opens_it(mechanism: Any, shape: tuple[int, ...]) -> None:
    """Noise at ε = 5 moves counts of seven millions by a few units; selections return indices."""
    account = Ledger.open().account("survey", budget=Budget(10.0, 1e-5))
    released = gate.release(account, sealed(), mechanism)
    assert released.values.shape == shape
    if shape == (3,):
        assert np.abs(released.values - np.array(SECRETS)).max() < 1000
    else:
        assert set(released.values.tolist()) <= {0, 1, 2}
    assert released.receipt["query"] == "how many"
    assert 4.9 < account.spent.epsilon <= 5.0


def test_the_gate_takes_nothing_that_is_not_sealed() -> None:
    account = Ledger.open().account("survey", budget=Budget(1.0))
    with pytest.raises(PrivacyError, match="sensitivity nobody has derived"):
        gate.release(account, np.array(SECRETS), DiscreteLaplace(1.0))  # type: ignore[arg-type]
    assert account.spent.epsilon == 0


@pytest.mark.parametrize("name", ["sensitivity", "unit", "query", "version", "shape", "_Sealed__open", "other"])
def test_nothing_about_it_can_be_changed(name: str) -> None:
    """Who could shrink the sensitivity could shrink the noise."""
    statistic = sealed()
    with pytest.raises(PrivacyError, match="cannot be changed"):
        setattr(statistic, name, None)
    with pytest.raises(PrivacyError, match="cannot be removed"):
        delattr(statistic, name)
