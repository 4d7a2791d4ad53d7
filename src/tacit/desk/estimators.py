"""What all estimators share at the desk: scikit-learn's interface in all its versions, and checks of what comes in.

Sees raw private input, and looks at its public shape alone: what values are odd is decided by rule on the private side.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import validation
from sklearn.utils.validation import check_is_fitted

from tacit.data.features import as_numbers
from tacit.data.series import as_doubles, as_series, check_collected, frame_of_arrow, listed
from tacit.desk.checks import check_classes
from tacit.desk.cluster import table_visit
from tacit.desk.counts import Visit
from tacit.desk.parts import Named, row_widths
from tacit.desk.schemas import matrix_schema
from tacit.errors import asked_of, bad_parameter
from tacit.privacy.release import Receipt

Fit = TypeVar("Fit", bound=Callable[..., Any])

_NUMBER = (int, float, np.integer, np.floating, np.bool_)


def names_epsilon(fit: Fit) -> Fit:
    """Have a fit whose epsilon is too small for its noise refused by the estimator's name and that epsilon.

    numpy keeps silent during a fit, also where the caller made its warnings errors: they would tell of rows.
    """

    @functools.wraps(fit)
    def named(self: Any, *args: Any, **kwargs: Any) -> Any:
        with asked_of(type(self).__name__, self.epsilon), np.errstate(all="ignore"):
            return fit(self, *args, **kwargs)

    return cast(Fit, named)


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of estimators that are fitted from releases; ``fit`` sets ``receipt_``.

    Its subclasses have the parameters ``epsilon``, ``delta``, ``classes``, ``account`` and ``random_state``.
    """

    receipt_: Receipt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # a rule of the private side: NaN counts as absent, an error would tell
        tags.target_tags.required = True
        tags.non_deterministic = self._draws_anew()
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The same tags for scikit-learn 1.5."""
        return {
            "X_types": ["2darray", "sparse"],
            "allow_nan": True,
            "requires_y": True,
            "non_deterministic": self._draws_anew(),
        }

    def _draws_anew(self) -> bool:
        return getattr(self, "random_state", None) is None

    def _matrix_visit(self, X: Any, y: Any, persons: Any) -> Visit:
        """Take a binary matrix to the desk."""
        owner = type(self).__name__
        classes = check_classes(owner, self.classes)
        named = Named.of(X)
        X = matrix_input(self, named.rows, reset=True)
        labels = label_input(self, X, y)
        return self._visit(named.seen(X, column_names(self)), labels, matrix_schema(X.shape[1], classes), persons)

    def _visit(self, X: Any, y: Any, schema: Any, persons: Any) -> Visit:
        """Take input of a public description to the desk."""
        named = Named.of(X)
        return table_visit(
            named.rows,
            y,
            schema,
            owner=type(self).__name__,
            epsilon=self.epsilon,
            delta=self.delta,
            account=self.account,
            random_state=self.random_state,
            persons=persons,
            version=named.version,
            view=named.view,
        )


def matrix_input(estimator: Any, X: Any, *, reset: bool, dtype: str | None = "numeric", as_it_is: bool = False) -> Any:
    """Check the public shape of a matrix; CSR stays sparse. Values are judged by rule on the private side.

    With ``as_it_is`` only the number and names of the columns are looked at, and nothing is converted.
    """
    owner = type(estimator).__name__
    if dtype is not None:
        X = _of_numbers(X, owner)
    kind = getattr(X, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind == "c":  # scikit-learn's error would quote the matrix
        raise bad_parameter(owner, "X", "a matrix of real numbers", "complex ones", "Complex data not supported.")
    if not as_it_is and _dimensions(X) != 2:
        remedy = (
            "Reshape your data, with .reshape(-1, 1) if it has a single feature, or .reshape(1, -1) if it is one row."
        )
        raise bad_parameter(owner, "X", "a matrix, rows × features", f"{_dimensions(X)} dimension(s)", remedy)
    if dtype is not None and getattr(X, "dtype", None) == np.longdouble:
        X = as_doubles(X)  # coins are made of these: what they do not tell apart must not be read apart
    rules = {"accept_sparse": "csr", "dtype": dtype, "ensure_min_samples": 0 if reset else 1}
    if hasattr(validation, "validate_data"):
        rules |= {"ensure_all_finite": False, "skip_check_array": as_it_is}
        return validation.validate_data(estimator, X, reset=reset, **rules)
    rules |= {"force_all_finite": False, "cast_to_ndarray": not as_it_is}  # scikit-learn 1.5
    return estimator._validate_data(X, reset=reset, **rules)


def column_names(estimator: Any) -> list[str] | None:
    """The names of the columns that an estimator was fitted on, if they have any: public."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _of_numbers(X: Any, owner: str) -> Any:
    """A matrix with numbers alone: a cell that is none becomes NaN, which counts as absent. An error would tell it."""
    if sp.issparse(X):
        return X
    X = known_frame(X)
    if isinstance(X, pl.DataFrame):
        return X.select(pl.Series(column.name, as_numbers(column, ())[0]) for column in X.get_columns())
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        if all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in X.dtypes):
            return X
        columns = [X.iloc[:, place] for place in range(X.shape[1])]
        return type(X)(_numbers(columns, len(X)), columns=X.columns, index=X.index)
    array = as_array(X, owner)
    if array.dtype.kind in "biufc" or array.ndim != 2:
        return array
    return _numbers([array[:, place] for place in range(array.shape[1])], len(array))


def known_frame(X: Any) -> Any:
    """Frames that scikit-learn does not know, Arrow's, as frames of Polars; all else as it is."""
    check_collected("fit", X)
    return frame_of_arrow(X) if isinstance(X, pa.Table | pa.RecordBatch) else X


def as_array(X: Any, owner: str) -> Any:
    """Rows as an array. An odd cell of a list decides neither on an error nor on the type or the size of the others.

    numpy would give all cells one type, which one of them decides on: beside .5 whole numbers above 2^53 are merged,
    and beside a text all are texts. Each cell of a list of rows is a number of 64 bits here, read by itself; what is no
    number is NaN. An array or a frame, whose type the caller made, stays as it is.
    """
    X = listed(X)
    if not isinstance(X, list | tuple):
        return np.asarray(X)
    widths = row_widths(X)
    if None in widths:  # texts, say
        array = np.empty(len(X), dtype=object)
        for place, row in enumerate(X):
            array[place] = row
        return array
    if len(widths) > 1:
        raise bad_parameter(owner, "X", "a matrix, rows × features", "rows of several lengths")
    if not X:
        return np.asarray(X)
    if all(issubclass(kind, _NUMBER) for row in X for kind in _kinds(row)):
        with suppress(OverflowError), np.errstate(all="ignore"):
            return np.asarray(X, dtype=np.float64)
    cells = [[_number(cell) for cell in row] for row in X]
    return np.array(cells, dtype=np.float64).reshape(len(X), -1)


def _number(cell: Any) -> float:
    """A cell of a list as a number, read by itself."""
    if not isinstance(cell, _NUMBER):
        return float(as_numbers(as_series("X", [cell]), ())[0][0])
    with np.errstate(all="ignore"):
        try:
            return float(cell)
        except OverflowError:  # a whole number beyond 64 bits
            return math.inf if cell > 0 else -math.inf


def _kinds(row: Any) -> set[type]:
    """The types of a row's cells."""
    return {row.dtype.type} if isinstance(row, np.ndarray) else set(map(type, row))


def _numbers(columns: list[Any], n_rows: int) -> Any:
    found = [as_numbers(as_series("X", column), ())[0] for column in columns]
    return np.column_stack(found) if found else np.empty((n_rows, 0))


def _dimensions(values: Any) -> int:
    """How many dimensions something has, by its type alone."""
    shape = getattr(values, "shape", None)
    return 1 if shape is None else len(shape)


def label_input(estimator: Any, X: Any, y: Any) -> Any:
    """Check the labels of an estimator's rows."""
    return check_labels(type(estimator).__name__, X, y)


def check_labels(owner: str, X: Any, y: Any) -> Any:
    """Check that there is one label for each row, without looking at the labels."""
    if y is None:
        raise bad_parameter(owner, "y", "given: it requires y to be passed, but the target y is None", None)
    labels: Any = listed(y) if hasattr(y, "__len__") else np.asarray(y)
    if isinstance(labels, list | tuple):
        labels = flat(labels)
    dimensions = _dimensions(labels)
    if dimensions == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ).",
            DataConversionWarning,
            stacklevel=5,
        )
        labels = _only_column(labels)
    elif dimensions != 1:
        raise bad_parameter(owner, "y", "one-dimensional with one label for each row", f"{dimensions} dimension(s)")
    if len(labels) != (X.shape[0] if hasattr(X, "shape") else len(X)):
        raise bad_parameter(owner, "y", "one-dimensional with one label for each row", "another length")
    return labels


def flat(labels: Any) -> list[Any]:
    """Labels that may each stand in a list of its own."""
    return [label[0] if type(label) in (list, tuple) and len(label) == 1 else label for label in labels]


def _only_column(table: Any) -> Any:
    """The one column of a table in its own type: numpy would make floats of whole numbers beside one gap."""
    table = known_frame(table)
    if isinstance(table, pl.DataFrame):
        return table.to_series()
    return table.iloc[:, 0] if hasattr(table, "iloc") else np.asarray(table).ravel()


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's error if the estimator has not been fitted."""
    check_is_fitted(estimator, "receipt_")
