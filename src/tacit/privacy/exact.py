"""Exact statistics: the last thing on the private side, sealed until the gate opens it.

An :class:`Exact` may be handed around freely, but it does not show itself: no ``repr``, no pickle, no array, no item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ParameterError, PrivacyError
from tacit.privacy.unit import Sensitivity, Unit


def _refuse(_self: Sealed, *_: object, **__: object) -> NoReturn:
    raise PrivacyError(
        "An exact statistic of private data cannot be shown, stored or converted. "
        "Pass it through the gate (tacit.privacy.gate.release), which adds noise and charges the account."
    )


def _set(sealed: Sealed, **attributes: Any) -> None:
    for name, value in attributes.items():
        object.__setattr__(sealed, name, value)


class Sealed:
    """What all exact statistics have in common: public attributes, and private contents that do not show."""

    __slots__ = ("__open", "query", "sensitivity", "unit", "version")

    sensitivity: Sensitivity
    unit: Unit
    query: str
    version: str

    def __init__(
        self, contents: Callable[[], Any], sensitivity: Sensitivity, unit: Unit, query: str, version: str
    ) -> None:
        # Contents are behind a call, so that a debugger's tree of attributes does not show them.
        _set(self, _Sealed__open=contents, sensitivity=sensitivity, unit=unit, query=query, version=version)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise PrivacyError(f"The {name!r} of an exact statistic cannot be changed: noise and price depend on it.")

    def __delattr__(self, name: str) -> NoReturn:
        raise PrivacyError(f"The {name!r} of an exact statistic cannot be removed.")

    __repr__ = __str__ = _refuse
    __format__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse
    __array__ = __iter__ = __getitem__ = __len__ = __int__ = __float__ = __index__ = __bool__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __copy__ = __deepcopy__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class Exact(Sealed):
    """An exact integer statistic of private data, with the sensitivity that its bounds imply.

    Parameters
    ----------
    values : array of integers
        Any shape; the shape itself must follow from public quantities alone.
    sensitivity : Sensitivity
    unit : Unit
        The unit for which the sensitivity holds.
    query : str
        What was counted, in public words; part of the receipt.
    version : str
        Which version of the data was counted; equal versions and queries mean equal values.

    Attributes
    ----------
    shape : tuple of int
        Public, as all attributes are.
    """

    __slots__ = ("shape",)

    shape: tuple[int, ...]

    def __init__(self, values: NDArray[Any], *, sensitivity: Sensitivity, unit: Unit, query: str, version: str) -> None:
        kept = _whole(values)
        super().__init__(lambda: kept, sensitivity, unit, query, version)
        _set(self, shape=kept.shape)


class ExactKeys(Sealed):
    """Exact counts of keys that are private themselves, such as the words of private texts.

    Not even how many keys there are is public: only a mechanism that hides it, partition selection, may open it.

    Parameters
    ----------
    keys : list of str
        Different from each other.
    counts : array of integers
        How often each occurs; at least 1.
    sensitivity, unit, query, version : as for :class:`Exact`
    """

    __slots__ = ()

    def __init__(
        self,
        keys: Sequence[str],
        counts: NDArray[Any],
        *,
        sensitivity: Sensitivity,
        unit: Unit,
        query: str,
        version: str,
    ) -> None:
        names, kept = tuple(keys), _whole(counts)
        if kept.shape != (len(names),) or len(set(names)) < len(names) or (kept < 1).any():
            raise ParameterError(
                "Exact counts of keys need one count of at least 1 for each of several different keys."
            )
        super().__init__(lambda: (names, kept), sensitivity, unit, query, version)


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ParameterError(
            f"An exact statistic must hold integers, so that exact noise applies. Got dtype {array.dtype}. "
            "Count, or round to a public grid first and derive the sensitivity of the rounded values."
        )
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ParameterError("An exact statistic must fit into 64-bit signed integers.")
    return array.astype(np.int64)
