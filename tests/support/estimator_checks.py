"""scikit-learn's own checks of an estimator, with a list of those that must fail, in every version of scikit-learn."""

from __future__ import annotations

import inspect
import warnings
from typing import Any
from unittest import SkipTest

from sklearn.utils.estimator_checks import check_estimator


def run_checks(estimator: Any, expected_failures: dict[str, str]) -> tuple[set[str], set[str]]:
    """Return the names of the checks that passed and of those that failed although none was expected to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "expected_failed_checks" in inspect.signature(check_estimator).parameters:
            options = {"expected_failed_checks": expected_failures, "on_skip": None, "on_fail": None}
            results = check_estimator(estimator, **options)
            passed = {result["check_name"] for result in results if result["status"] == "passed"}
            return passed, {result["check_name"] for result in results if result["status"] == "failed"}
        return _one_by_one(estimator, expected_failures)


def _one_by_one(estimator: Any, expected_failures: dict[str, str]) -> tuple[set[str], set[str]]:
    """The same for scikit-learn 1.5, which has no list of expected failures."""
    passed, failed = set(), set()
    for candidate, check in check_estimator(estimator, generate_only=True):
        name = getattr(check, "func", check).__name__
        try:
            check(candidate)
            passed.add(name)
        except SkipTest:
            continue
        except Exception:
            if name not in expected_failures:
                failed.add(name)
    return passed, failed
