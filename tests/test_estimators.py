"""Every estimator as scikit-learn wants it: its checks, and the few that a private estimator must fail, with reasons.

Runs with the oldest versions too: ``make test-oldest``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import tacit

from .support.estimator_checks import run_checks

ROWS_ARE_PRIVATE = {
    "check_estimators_empty_data_messages": "whether there are rows is private: no row gives a model of noise",
    "check_dtype_object": "whether a cell is odd is private: one that is no number counts as absent",
}
LABELS_ARE_DECLARED = {
    "check_classifiers_regression_target": "labels are not looked at: those outside the declared classes are dropped",
    "check_supervised_y_no_nan": "labels are not looked at: a missing one drops its row by rule",
    "check_classifiers_classes": "classes_ are the declared ones; the check uses texts that were not declared",
}
BINARY = {
    "check_classifier_not_supporting_multiclass": "which labels occur is private: others are dropped, not refused",
}
MANY = {
    "check_classifiers_train": "classes_ are the declared ones; the check uses fewer",
}
REQUIRED = {
    "check_parameters_default_constructible": "what to select is for the user to say: k or a threshold has no default",
}
SCORE_IS_A_PARAMETER = {
    "check_fit_score_takes_y": "'score' is a parameter, of a published name, and no method",
    "check_n_features_in_after_fitting": "'score' is a parameter, as above",
    "check_pipeline_consistency": "'score' is a parameter, as above",
}
CLASSIFIER = ROWS_ARE_PRIVATE | LABELS_ARE_DECLARED
SELECTOR = ROWS_ARE_PRIVATE | SCORE_IS_A_PARAMETER
CHOOSER = SELECTOR | (REQUIRED if sklearn.__version__.startswith("1.5.") else {})  # later versions fill such gaps
SCHEMA = tacit.Schema.from_toml('label = {classes = [0, 1]}\n[columns.a]\nkind = "category"\nvalues = ["u", "v"]\n')

LOUD: dict[str, Any] = {"epsilon": 10.0, "random_state": 0}
ESTIMATORS: dict[str, tuple[Any, dict[str, str]]] = {
    "BernoulliNB": (tacit.BernoulliNB(classes=(0, 1, 2, 3), **LOUD), CLASSIFIER | MANY),
    "LogisticRegression": (tacit.LogisticRegression(**LOUD), CLASSIFIER | BINARY),
    "LogisticRegression, Gaussian": (tacit.LogisticRegression(delta=1e-3, **LOUD), CLASSIFIER | BINARY),
    "BlackBoxClassifier": (
        tacit.BlackBoxClassifier(tacit.BernoulliNB(classes=(0, 1, 2, 3)), classes=(0, 1, 2, 3), **LOUD),
        CLASSIFIER | MANY,
    ),
    "SelectingClassifier": (
        tacit.SelectingClassifier(
            tacit.BernoulliNB(classes=(0, 1, 2, 3), **LOUD), tacit.CountSelector(k=1, classes=(0, 1, 2, 3), **LOUD)
        ),
        CLASSIFIER | MANY,
    ),
    "CountSelector": (tacit.CountSelector(k=1, **LOUD), SELECTOR),
    "CountSelector, two rounds": (tacit.CountSelector(threshold=3.0, rounds=2, **LOUD), SELECTOR),
    "TopKSelector": (tacit.TopKSelector(k=1, **LOUD), CHOOSER),
    "ThresholdSelector": (tacit.ThresholdSelector(threshold=3.0, **LOUD), CHOOSER),
    "ThresholdSelector, no limit": (tacit.ThresholdSelector(threshold=3.0, max_selected=None, **LOUD), CHOOSER),
    "ClusterSelector": (tacit.ClusterSelector(threshold=3.0, n_clusters=2, **LOUD), CHOOSER),
    "TextClassifier": (tacit.TextClassifier(**LOUD), {}),
    "TabularClassifier": (tacit.TabularClassifier(schema=SCHEMA, **LOUD), {}),
}
BY_LUCK = {
    "check_classifiers_one_label": "draws noise without a seed, and at ε = 1 it may drown ten rows of one class",
}
NO_SEED = {  # scikit-learn seeds an estimator by its own random_state, which a chain does not have
    "check_fit_idempotent": "halves without a seed draw their noise anew in each fit",
    "check_classifier_data_not_an_array": "as above: two fits are compared",
    "check_supervised_y_2d": "as above: two fits are compared",
}
AS_THEY_COME: dict[str, tuple[Any, dict[str, str]]] = {
    "BernoulliNB": (tacit.BernoulliNB(), CLASSIFIER | BINARY | BY_LUCK),
    "LogisticRegression": (tacit.LogisticRegression(), CLASSIFIER | BINARY | BY_LUCK),
    "BlackBoxClassifier": (tacit.BlackBoxClassifier(tacit.BernoulliNB()), CLASSIFIER | BINARY | BY_LUCK),
    "SelectingClassifier": (
        tacit.SelectingClassifier(tacit.BernoulliNB(), tacit.CountSelector(k=1)),
        CLASSIFIER | BINARY | BY_LUCK | NO_SEED,
    ),
    "CountSelector": (tacit.CountSelector(k=1), SELECTOR),
    "TopKSelector": (tacit.TopKSelector(k=1), CHOOSER),
    "ThresholdSelector": (tacit.ThresholdSelector(threshold=3.0), CHOOSER),
    "ClusterSelector": (tacit.ClusterSelector(threshold=3.0, n_clusters=2), CHOOSER),
}
"""With ε = 1 and without a seed, which scikit-learn sets where it can."""

NAMES = list(ESTIMATORS)
ON_MATRICES = [name for name in NAMES if name not in ("TextClassifier", "TabularClassifier")]
SELECTORS = [name for name in NAMES if "Selector" in name]

RNG = np.random.default_rng(8)
X = sp.csr_array((RNG.random((400, 6)) < np.array([0.9, 0.05, 0.5, 0.4, 0.05, 0.3])).astype(float))
Y = (X[:, [2]].toarray().ravel() > 0).astype(int)


@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn_s_checks(name: str) -> None:
    estimator, expected = ESTIMATORS[name]
    passed, failed = run_checks(estimator, expected)
    assert not failed
    if name in ON_MATRICES:  # scikit-learn makes no texts, and no tables with a schema, to check with
        assert len(passed) >= 28
    assert not passed & set(expected)


@pytest.mark.parametrize("name", AS_THEY_COME)
def test_scikit_learn_s_checks_of_estimators_as_they_come(name: str) -> None:
    passed, failed = run_checks(*AS_THEY_COME[name])
    assert not failed
    assert len(passed) >= 24  # without a seed of its own, checks that compare two fits are left out


def test_a_chain_is_as_deterministic_as_its_halves() -> None:
    loud, quiet = tacit.BernoulliNB(**LOUD), tacit.BernoulliNB()
    selector = tacit.CountSelector(k=1, **LOUD)
    chains = [tacit.SelectingClassifier(half, selector) for half in (loud, quiet)]
    assert [chain._draws_anew() for chain in chains] == [False, True]


@pytest.mark.parametrize("name", NAMES)
def test_clones_have_the_same_parameters_and_are_not_fitted(name: str) -> None:
    estimator, _ = ESTIMATORS[name]
    copied = clone(estimator)
    assert repr(copied.get_params()) == repr(estimator.get_params())
    with pytest.raises(NotFittedError):
        copied.transform(X) if name in SELECTORS else copied.predict(X)


@pytest.mark.parametrize("name", ON_MATRICES)
def test_a_selector_and_a_classifier_in_a_pipeline(name: str) -> None:
    estimator = clone(ESTIMATORS[name][0])
    if name in SELECTORS:
        pipeline = make_pipeline(estimator, tacit.BernoulliNB(**LOUD))
    else:
        pipeline = make_pipeline(tacit.CountSelector(k=5, **LOUD), estimator)
    pipeline.fit(X, Y)
    assert pipeline.predict(X).shape == (400,)
    assert np.allclose(pipeline.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("name", ON_MATRICES)
def test_feature_names_are_kept_and_checked(name: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.toarray(), columns=[f"word {i}" for i in range(6)])
    estimator = clone(ESTIMATORS[name][0]).fit(frame, Y)
    assert estimator.n_features_in_ == 6
    assert estimator.feature_names_in_.tolist() == list(frame.columns)
    use = estimator.transform if name in SELECTORS else estimator.predict_proba
    use(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        use(frame.rename(columns={"word 0": "other"}))


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_keep_csr_name_their_output_and_write_frames(name: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.toarray(), columns=[f"word {i}" for i in range(6)])
    selector = clone(ESTIMATORS[name][0]).fit(frame, Y)
    kept = frame.columns[selector.get_support()].tolist()
    assert selector.get_feature_names_out().tolist() == kept
    out = selector.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == kept
    sparse = clone(ESTIMATORS[name][0]).fit(X, Y).transform(X)
    assert sp.issparse(sparse)
    assert sparse.format == "csr"


def test_polars_output() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(X.toarray(), schema=[f"word {i}" for i in range(6)])
    selector = tacit.CountSelector(k=2, **LOUD).fit(frame, Y).set_output(transform="polars")
    assert selector.transform(frame).columns == selector.get_feature_names_out().tolist()
