"""Draw the pictures of the guide "Reading a private ROC curve": ``python examples/roc_pictures.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn import metrics

import tacit


def made_up(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Made-up labels and probabilities."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    return y, 1 / (1 + np.exp(-rng.normal(2 * y - 1.5)))


def main(folder: Path) -> list[Path]:
    """Draw all pictures and return where they are."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, n, epsilons in (("roc-epsilon", 700, (1.0, 0.25, 0.1)), ("roc-size", 20_000, (1.0, 0.25, 0.1))):
        y, scores = made_up(n)
        true_fpr, true_tpr, _ = metrics.roc_curve(y, scores)
        figure, axes = pyplot.subplots(1, len(epsilons), figsize=(11, 4), layout="constrained")
        for ax, epsilon in zip(axes, epsilons, strict=True):
            tacit.roc_curve(y, scores, epsilon=epsilon, random_state=1).plot(ax)
            ax.plot(true_fpr, true_tpr, color="black", linewidth=0.7, linestyle="--", label="not private")
            ax.legend(loc="lower right", fontsize="x-small")
            ax.set_title(f"{n:,} rows, ε = {epsilon:g}", fontsize="medium")
        made.append(folder / f"{name}.svg")
        figure.savefig(made[-1], metadata={"Date": None})
        pyplot.close(figure)
    return made


if __name__ == "__main__":
    for path in main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/guide/pictures")):
        print(path)
