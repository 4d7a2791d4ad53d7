"""A positive control of another library: diffprivlib's LogisticRegression with ``data_norm=100``.

Its regularisation hides the curvature of a row in proportion to the norm of rows, where it grows with the square. It
does not run beside the scikit-learn that tacit uses, so it runs in a Python of its own, where there is one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

from tacit.audit.entries import Entry, Skipped, Target, by_runs
from tacit.privacy.budget import Budget

PYTHON = "TACIT_AUDIT_DIFFPRIVLIB"
"""Names the Python of an environment that has diffprivlib; without it, tacit's own is tried."""

_SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
from diffprivlib.models import LogisticRegression
task = json.load(sys.stdin)
X, y = np.array(task["X"], dtype=float), np.array(task["y"])
found = []
for _ in range(task["runs"]):
    model = LogisticRegression(epsilon=task["epsilon"], data_norm=100.0, fit_intercept=False, C=1.0)
    found.append(float(model.fit(X, y).coef_[0, 0]))
json.dump(found, sys.stdout)
"""

# Rows of zeros tell nothing, but the model wants both classes. One row of norm 100 bends the objective near 0.
_PAIR = ({"X": [[0.0], [0.0]], "y": [0, 1]}, {"X": [[0.0], [0.0], [100.0]], "y": [0, 1, 1]})


@cache
def _python() -> str:
    """A Python that can import it, or the reason why there is none."""
    program = os.environ.get(PYTHON, sys.executable)
    try:
        subprocess.run(
            [program, "-c", "from diffprivlib.models import LogisticRegression"], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        reason = f"{program} cannot import diffprivlib; name a Python that can in {PYTHON}"
        raise Skipped(reason) from None
    return program


def _fit(epsilon: float) -> Target:
    program = _python()

    def sample(data: dict[str, Any], runs: int) -> list[bool]:
        """Whether the coefficient lies where the row bends the objective: within 1/norm of 0."""
        task = json.dumps(data | {"runs": runs, "epsilon": epsilon})
        done = subprocess.run([program, "-c", _SCRIPT], input=task, check=True, capture_output=True, text=True)
        return [abs(value) < 0.01 for value in json.loads(done.stdout)]

    return Target(sample, _PAIR, Budget(epsilon))


CONTROLS: list[Entry] = [
    by_runs("diffprivlib's LogisticRegression, data_norm 100", _fit, runs=20_000, expected="violation", epsilons=(1.0,))
]
