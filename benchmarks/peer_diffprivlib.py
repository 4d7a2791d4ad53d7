"""diffprivlib's classifiers beside ours on SMS: accuracy, time and memory of a fit.

    TACIT_DATA=folder python benchmarks/peer_diffprivlib.py [--quick] [--json] [--peer-python /path/to/python]

diffprivlib 0.6.6 cannot be imported with a recent scikit-learn. So it runs in an environment of its own: the one of
``--peer-python``, or one that is made in a temporary folder with scikit-learn 1.5 and thrown away. Every word of the
messages is a feature; its Naive Bayes is told that features lie in [0, 1], its logistic regression that rows have norm
4, and ours is told nothing. Ours runs in a process of its own as well, so that peak memory can be compared. With
``--json`` the last line is a flat object of ratios, diffprivlib's time and memory over ours and our accuracy over
diffprivlib's.

``peer(python, data, epsilons)`` runs diffprivlib alone, for other benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

PACKAGES = ("diffprivlib==0.6.6", "scikit-learn>=1.5,<1.6")
NORM = 4.0
Result = dict[str, dict[str, float]]


def make_environment(folder: Path) -> Path:
    """Install diffprivlib into an environment in this folder and return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, *PACKAGES], check=True, stderr=subprocess.DEVNULL)
    return python


def split(matrix: Any, labels: Any, folder: Path) -> Path:
    """Write nine tenths for training and one for testing where another process reads them."""
    order = np.random.default_rng(0).permutation(len(labels))
    cut = len(order) * 9 // 10
    path = folder / "data"
    path.mkdir()
    for name, ids in (("train", order[:cut]), ("test", order[cut:])):
        sp.save_npz(path / f"{name}.npz", sp.csr_matrix(matrix[ids]))
        np.save(path / f"{name}.npy", np.asarray(labels)[ids])
    return path


def peer(python: Path | str, data: Path, epsilons: Sequence[float]) -> Result:
    """Accuracy, seconds and peak memory in MB of diffprivlib's models, for each of several ε."""
    return _run(python, "peer", data, epsilons)


def _run(python: Path | str, side: str, data: Path, epsilons: Sequence[float]) -> Result:
    found: Result = {}
    for model in ("naive_bayes", "logistic"):
        command = [str(python), __file__, "--side", side, "--model", model, "--data", str(data)]
        command += ["--epsilons", ",".join(map(str, epsilons))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found |= json.loads(done.stdout.splitlines()[-1])
    return found


def _models(side: str, epsilon: float) -> dict[str, Callable[[], Any]]:
    """Our models, or diffprivlib's; either side imports only its own library."""
    if side == "ours":
        import tacit

        return {
            "naive_bayes": lambda: tacit.BernoulliNB(epsilon),
            "logistic": lambda: tacit.LogisticRegression(epsilon),
        }
    from diffprivlib.models import GaussianNB, LogisticRegression

    return {
        "naive_bayes": lambda: GaussianNB(epsilon=epsilon, bounds=(0, 1)),
        "logistic": lambda: LogisticRegression(epsilon=epsilon, data_norm=NORM, max_iter=300),
    }


def work(side: str, model: str, data: Path, epsilons: Sequence[float]) -> None:
    """Fit in this process, once for each ε, and print what it took."""
    warnings.simplefilter("ignore")
    parts = {name: (sp.load_npz(data / f"{name}.npz"), np.load(data / f"{name}.npy")) for name in ("train", "test")}
    if side == "peer":
        parts = {name: (matrix.toarray(), labels) for name, (matrix, labels) in parts.items()}
    found: Result = {}
    for epsilon in epsilons:
        estimator = _models(side, epsilon)[model]()
        began = time.perf_counter()
        estimator.fit(*parts["train"])
        seconds = time.perf_counter() - began
        accuracy = 100 * float((estimator.predict(parts["test"][0]) == parts["test"][1]).mean())
        peak = _peak_megabytes()
        found[f"{model}_{epsilon}"] = {"accuracy": accuracy, "seconds": seconds, "megabytes": peak}
    print(json.dumps(found))


def _peak_megabytes() -> float:
    """This process's own peak: getrusage would inherit the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def compare(python: Path, data: Path, epsilons: Sequence[float]) -> dict[str, float]:
    """Print both sides and return ratios."""
    ratios: dict[str, float] = {}
    ours, theirs = _run(sys.executable, "ours", data, epsilons), peer(python, data, epsilons)
    for name, mine in ours.items():
        other = theirs[name]
        for side, result in (("tacit", mine), ("diffprivlib", other)):
            print(
                f"  {name:<16} {side:<12} accuracy {result['accuracy']:5.1f} %   fit {result['seconds']:8.3f} s   "
                f"peak {result['megabytes']:6,.0f} MB",
                flush=True,
            )
        ratios[f"{name}_time"] = round(other["seconds"] / mine["seconds"], 2)
        ratios[f"{name}_memory"] = round(other["megabytes"] / mine["megabytes"], 2)
        ratios[f"{name}_accuracy"] = round(mine["accuracy"] / other["accuracy"], 4)
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description="diffprivlib's classifiers beside ours on SMS.")
    parser.add_argument("--quick", action="store_true", help="500 words, one ε")
    parser.add_argument("--json", action="store_true", help="last line: ratios as JSON")
    parser.add_argument(
        "--peer-python",
        default=os.environ.get("TACIT_AUDIT_DIFFPRIVLIB"),
        help="an interpreter that has diffprivlib (default: $TACIT_AUDIT_DIFFPRIVLIB, or one that is made for this)",
    )
    parser.add_argument("--epsilons", default=None)
    parser.add_argument("--side", choices=("ours", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    epsilons = [float(e) for e in (options.epsilons or ("1.0" if options.quick else "1.0,0.1")).split(",")]
    if options.side:
        work(options.side, options.model, options.data, epsilons)
        return

    from sklearn.feature_extraction.text import CountVectorizer

    from tacit.data import datasets

    messages = datasets.load_sms()
    vectorizer = CountVectorizer(binary=True, max_features=500 if options.quick else None)
    matrix = vectorizer.fit_transform(messages.texts.to_list()).astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        python = Path(options.peer_python) if options.peer_python else make_environment(Path(folder) / "peer")
        print(f"SMS: {matrix.shape[0]:,} rows, {matrix.shape[1]:,} words, one tenth held out")
        ratios = compare(python, split(matrix, messages.labels, Path(folder)), epsilons)
    if options.json:
        print(json.dumps(ratios))


if __name__ == "__main__":
    main()
