"""From raw texts to a private classifier. Public side: sees releases only."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.desk.counts import check_classes
from tacit.desk.parts import Named
from tacit.desk.text import score_texts, text_visit
from tacit.errors import bad_parameter
from tacit.ledger import Account
from tacit.models._base import Floats, PrivateClassifier, check_fitted, names_epsilon
from tacit.models._learner import Learner, log_scores
from tacit.models._words import Prior
from tacit.privacy.unit import check_count


class TextClassifier(PrivateClassifier):
    """The recommended way from raw texts to a private classifier.

    Parameters
    ----------
    epsilon, delta : float
        What one fit costs. ``delta`` above 0 allows Gaussian noise, which helps for texts of more than some ten words.
    classes : sequence, default (0, 1)
        The declared labels; texts with any other are left out.
    public_text : sequence of str, optional
        Public texts of the same kind, without labels: the best help there is, because they tell which words are common
        and which go together. The first 65,536 are read.
    word_list : str, optional
        A language such as ``"en"``: public frequencies of its words (``pip install "tacit[words]"``), and for English
        their tone, praise or blame, too. Beside public texts, which tell frequencies better, the tone alone counts.
    bits : int, default 14
        Words are hashed into 2^bits buckets.
    account : Account, optional
        Who pays; None means a one-off account of exactly this budget.
    random_state : int, optional
        A seed, for simulations: the receipt then says "not private".

    Attributes
    ----------
    classes_ : array
    rules_ : the linear rule for two classes; for more, the public grid of rules, of which ``choice_`` was chosen
    clearness_ : array, one number for each bucket and bin of style
        How far its released sums are from what noise alone would give, in scales of the noise. The style of two
        classes usually has no sums: it is as clear as the rule, the best of many, beats always saying the larger class.
    receipt_ : Receipt

    Examples
    --------
    >>> texts = ["win cash now", "see you at lunch"] * 500
    >>> model = TextClassifier(epsilon=1.0, random_state=0).fit(texts, [1, 0] * 500)
    >>> model.predict(["win cash today", "see you at dinner"]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        classes: Any = (0, 1),
        public_text: Any = None,
        word_list: str | None = None,
        bits: int = 14,
        account: Account | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.public_text = public_text
        self.word_list = word_list
        self.bits = bits
        self.account = account
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return super()._more_tags() | {"X_types": ["string"]}

    @names_epsilon
    def fit(self, X: Any, y: Any, *, persons: Any = None) -> TextClassifier:
        """Learn from private texts.

        Parameters
        ----------
        X : sequence of str
            A missing text has no words.
        y : sequence of labels
        persons : sequence, optional
            Whose each text is, where the account protects persons.
        """
        owner = "TextClassifier"
        classes = check_classes(owner, self.classes)
        if not 4 <= check_count(owner, "bits", self.bits) <= 22:
            raise bad_parameter(owner, "bits", "a whole number from 4 to 22", self.bits)
        prior = self._prior(owner)
        check_public_text(self, X, owner)
        visit = text_visit(
            X,
            y,
            bits=int(self.bits),
            classes=classes,
            owner=owner,
            epsilon=self.epsilon,
            delta=self.delta,
            account=self.account,
            random_state=self.random_state,
            persons=persons,
        )
        learner = Learner(visit, int(self.bits), prior)
        learner.learn()
        self.rules_, self.choice_, self.clearness_ = learner.rules, learner.choice, learner.clearness
        self.classes_ = np.array(classes)
        self.receipt_ = visit.receipt()
        return self

    def _prior(self, owner: str) -> Prior | None:
        if self.public_text is not None:
            return Prior.of_texts(self.public_text, int(self.bits), owner, self.word_list)
        if self.word_list is not None:
            return Prior.of_list(self.word_list, int(self.bits), owner)
        return None

    def _log_scores(self, X: Any) -> Floats:
        check_fitted(self)
        scores = score_texts(X, int(self.bits), self.rules_, "TextClassifier")
        return log_scores(scores, self.rules_, self.choice_, len(self.classes_))


def check_public_text(model: Any, X: Any, owner: str) -> None:
    """Refuse private rows that are said to be public: what is learnt from public texts has no noise.

    Only the very same object is told; a copy of it, or a part, is up to whoever passes it.
    """
    public = getattr(model, "public_text", None)
    if public is not None and (public is X or public is Named.of(X).rows):
        remedy = "They would be learnt from without noise. Take texts that anybody may read."
        raise bad_parameter(owner, "public_text", "other texts than the private ones", "the very same", remedy)
