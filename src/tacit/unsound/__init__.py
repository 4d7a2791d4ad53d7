"""NOT PRIVATE: the algorithms of the paper, and of those it builds on, as they were written down.

For research on public data: `tacit.paper` reproduces the paper with them, and `tacit.audit` shows that it catches them.
Nothing else may import this room. Its functions take exact arrays and a numpy generator and return plain arrays: no
gate, no account, no receipt. In each of them ``epsilon`` is the loss that is *claimed* for the result, and the
docstring says why the claim is wrong. The sound forms are `tacit.CountSelector`, `tacit.ThresholdSelector`,
`tacit.ClusterSelector`, `tacit.BernoulliNB`, `tacit.LogisticRegression` and `tacit.roc_curve`; `docs/errata.md` has the
counterexamples.
"""

from __future__ import annotations

from tacit.unsound.clusters import cluster_selection
from tacit.unsound.counts import erm_logistic, perturbed_scores, uncut_counts
from tacit.unsound.roc import (
    data_thresholds,
    fixed_space,
    laplace_counts,
    privelet_counts,
    rates,
    recursive_medians,
)
from tacit.unsound.testing import (
    noisy_cut,
    private_threshold_testing,
    svt_releasing_compared_noise,
    svt_threshold_noise_only,
)

__all__ = [
    "cluster_selection",
    "data_thresholds",
    "erm_logistic",
    "fixed_space",
    "laplace_counts",
    "noisy_cut",
    "perturbed_scores",
    "private_threshold_testing",
    "privelet_counts",
    "rates",
    "recursive_medians",
    "svt_releasing_compared_noise",
    "svt_threshold_noise_only",
    "uncut_counts",
]
