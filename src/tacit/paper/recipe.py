"""What one cell of a figure on classifiers does: which selection, which model, how much ε for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.paper.corpus import CLAIMED_ONES

Form = Literal["exact", "as written", "sound", "default"]
"""Without privacy; as the paper wrote it, which is not private; its sound form; what tacit does by default."""

NOT_PRIVATE = "as written (NOT PRIVATE)"
LABELS: dict[str, str] = {
    "exact": "no privacy",
    "as written": NOT_PRIVATE,
    "sound": "sound",
    "default": "tacit's default",
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Selection and training.

    Attributes
    ----------
    form : see `Form`
    model : "nb" or "lr"; for the default, "text" or "tabular"
    method : "none", "threshold", "top-k", "cluster", "ptt"; as written also "noisy-cut", "noisy-cut-limit" and "svt";
        sound also "screening"
    score : "tc", "dc", "pi" or "ig"
    size : features wanted; where the form is sound and the method needs a threshold, that public threshold
    epsilon : for everything
    share : part of ε for selection
    most : rows are cut to this many ones; 0: not cut, and as written with noise for the 20 ones that are claimed
    train_most : the same for training alone, where selection does not cut
    parted : whether selection and training see different rows, with all of ε each
    """

    form: Form
    model: str = "nb"
    method: str = "none"
    score: str = "tc"
    size: int = 0
    epsilon: float = 1.0
    share: float = 0.5
    most: int = 0
    train_most: int = 0
    parted: bool = False

    @property
    def selection_epsilon(self) -> float:
        """Loss of the selection."""
        return self.epsilon if self.parted else self.epsilon * self.share

    @property
    def training_epsilon(self) -> float:
        """Loss of the training."""
        return self.epsilon if self.parted or self.method == "none" else self.epsilon * (1 - self.share)

    @property
    def reach(self) -> int:
        """How many ones of a row selection pays for."""
        return self.most or CLAIMED_ONES

    @property
    def training_reach(self) -> int:
        """How many ones of a row training pays for."""
        return self.train_most or self.reach
