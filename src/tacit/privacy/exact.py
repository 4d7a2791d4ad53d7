"""Exact statistics: the last thing on the private side, sealed until the gate opens it.

An :class:`Exact` may be handed around freely, but it does not show itself: no ``repr``, no pickle, no array, no item.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ParameterError, PrivacyError
from tacit.privacy.unit import Sensitivity, Unit


def _refuse(_self: Exact, *_: object, **__: object) -> NoReturn:
    raise PrivacyError(
        "An exact statistic of private data cannot be shown, stored or converted. "
        "Pass it through the gate (tacit.privacy.gate.release), which adds noise and charges the account."
    )


class Exact:
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

    __slots__ = ("__open", "query", "sensitivity", "shape", "unit", "version")

    def __init__(self, values: NDArray[Any], *, sensitivity: Sensitivity, unit: Unit, query: str, version: str) -> None:
        array = np.asarray(values)
        if array.dtype.kind not in "iu":
            raise ParameterError(
                f"An exact statistic must hold integers, so that exact noise applies. Got dtype {array.dtype}. "
                "Count, or round to a public grid first and derive the sensitivity of the rounded values."
            )
        if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise ParameterError("An exact statistic must fit into 64-bit signed integers.")
        kept = array.astype(np.int64)
        self.__open = lambda: kept  # behind a call, so that a debugger's tree of attributes does not show them
        self.shape = kept.shape
        self.sensitivity = sensitivity
        self.unit = unit
        self.query = query
        self.version = version

    __repr__ = __str__ = _refuse
    __format__ = __reduce__ = __reduce_ex__ = __getstate__ = _refuse
    __array__ = __iter__ = __getitem__ = __len__ = __int__ = __float__ = __index__ = __bool__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __copy__ = __deepcopy__ = _refuse
    __hash__ = None  # type: ignore[assignment]
