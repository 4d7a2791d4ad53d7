"""Published data sets for trying tacit out, read from the user's own folder and checked byte for byte.

Nothing is fetched and nothing is bundled: a file that is missing is an error that names its publisher and its SHA-256.
These sets are public, so loaders return rows and labels in the open; on private data use :mod:`tacit.data.sources`.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.data import published
from tacit.data.columns import Value
from tacit.data.descriptions import SURVEY_CODES, adult_schema, diabetes_schema, survey_schema
from tacit.data.generator import generate_text
from tacit.data.published import DatasetError
from tacit.data.schema import Schema
from tacit.errors import bad_parameter
from tacit.privacy.unit import Unit

__all__ = [
    "PAPER_ARTICLES",
    "PAPER_TWEETS",
    "Dataset",
    "DatasetError",
    "generate_text",
    "load_adult",
    "load_diabetes",
    "load_reuters",
    "load_sms",
    "load_survey",
    "load_twitter",
]

PAPER_TWEETS = 7_304
PAPER_ARTICLES = 6_906


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A published data set in memory.

    Attributes
    ----------
    name : str
    data : polars.Series of texts, polars.DataFrame, or scipy CSR array of 0 and 1
        The rows; ``texts``, ``frame`` and ``matrix`` return the same with its type checked.
    labels : array of integers
        One of ``classes`` for each row.
    class_names : tuple of str
        What the classes mean, in the same order.
    description : str
        Publisher, licence and whatever was done to the file.
    schema : Schema
        A public description of the rows, with hashed words, bins and categories from the publisher's code book. Labels
        are not one of its columns: pass them as ``y``.
    """

    name: str
    data: pl.Series | pl.DataFrame | sp.csr_array
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    description: str
    schema: Schema

    def __post_init__(self) -> None:
        self.labels.flags.writeable = False

    @property
    def classes(self) -> tuple[Value, ...]:
        """The public labels, to be passed on as ``classes=``."""
        return self.schema.classes

    @property
    def unit(self) -> Unit:
        """Whose presence is worth hiding: a row, or the person behind several."""
        return self.schema.unit

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the binary features that the schema makes of a row."""
        return tuple(self.schema.feature_names())

    @property
    def texts(self) -> pl.Series:
        """The texts of a text data set."""
        if isinstance(self.data, pl.Series):
            return self.data
        raise self._wrong_kind("texts")

    @property
    def frame(self) -> pl.DataFrame:
        """The columns of a table; texts come as one column named ``text``."""
        if isinstance(self.data, pl.DataFrame):
            return self.data
        if isinstance(self.data, pl.Series):
            return self.data.to_frame("text")
        raise self._wrong_kind("columns")

    @property
    def matrix(self) -> sp.csr_array:
        """The binary features of a sparse data set."""
        if isinstance(self.data, pl.Series | pl.DataFrame):
            raise self._wrong_kind("a sparse matrix")
        return self.data

    def _wrong_kind(self, wanted: str) -> TypeError:
        return TypeError(f"The data set {self.name!r} holds {type(self.data).__name__}, not {wanted}.")

    @property
    def target(self) -> NDArray[np.int64]:
        """The labels, as scikit-learn's data sets call them."""
        return self.labels

    def __iter__(self) -> Iterator[Any]:
        """Rows and labels, for ``X, y = load_sms()``."""
        return iter((self.data, self.labels))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        names = ", ".join(f"{code} = {name}" for code, name in zip(self.classes, self.class_names, strict=True))
        return f"<Dataset {self.name}: {len(self):,} rows, labels {names}, unit {self.unit}>"


def load_sms(folder: str | Path | None = None) -> Dataset:
    """Load the SMS Spam Collection: 5,574 text messages, 747 of them spam.

    Parameters
    ----------
    folder : path, optional
        Where ``SMSSpamCollection`` (or its gzip) lies. Default: the environment variable ``TACIT_DATA``.

    Notes
    -----
    403 messages repeat an earlier one, so a test message may also be a training message.
    """
    columns = {"label": pl.String, "text": pl.String}
    rows = _read_csv(published.read(published.SMS, folder), columns, separator="\t", quote_char=None)
    description = (
        "SMS Spam Collection v.1: T. A. Almeida, J. M. Gómez Hidalgo, A. Yamakami, ACM DocEng 2011. "
        f"{published.SMS.publisher}. CC BY 4.0."
    )
    labels = _codes(rows["label"] == "spam")
    return Dataset("SMS", rows["text"], labels, ("ham", "spam"), description, Schema.text((0, 1)))


def load_twitter(n: int | Literal["paper"] | None = None, *, folder: str | Path | None = None) -> Dataset:
    """Load tweets of Sentiment140, labelled by the emoticon that was in them.

    Parameters
    ----------
    n : int or "paper", optional
        How many: the rows are in random order, so the first n are a random sample. ``"paper"`` means the first 7,304,
        as many as Stoddard, Chen and Machanavajjhala drew (which ones is not known). Default: all 400,000.
    folder : path, optional
        Where ``sentiment140_400k.csv`` or its gzip lies. Default: the environment variable ``TACIT_DATA``.
    """
    rows = PAPER_TWEETS if n == "paper" else n
    total = 400_000
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= total):
        raise bad_parameter("load_twitter", "n", f"a whole number from 1 to {total:,}, 'paper' or None", n)
    columns = {"label": pl.Int64, "text": pl.String}
    table = _read_csv(published.read(published.TWEETS, folder), columns, n_rows=rows)
    description = (
        "Sentiment140, a uniform 400,000 of its 1,600,000 training tweets, names and links replaced by USER and URL: "
        "A. Go, R. Bhayani, L. Huang, Stanford University, 2009. For research use; do not try to identify authors."
    )
    labels = table["label"].to_numpy().copy()
    return Dataset("TWITTER", table["text"], labels, ("negative", "positive"), description, Schema.text((0, 1)))


def load_reuters(
    subset: Literal["paper", "train", "test", "labelled"] = "paper",
    *,
    topic: str = "earn",
    folder: str | Path | None = None,
) -> Dataset:
    """Load Reuters-21578 as a task with two classes: is an article about earnings (topic ``earn``) or not.

    Parameters
    ----------
    subset : {"paper", "train", "test", "labelled"}, default "paper"
        ``"train"`` and ``"test"`` are the ModApte split (9,603 and 3,299 articles), ``"labelled"`` all 13,476 articles
        that the indexers saw (``TOPICS="YES"``), and ``"paper"`` a corpus of the paper's size, 6,906, see below.
    topic : str, default "earn"
        Another topic of the collection, such as ``"acq"``. Which articles a subset has does not depend on it.
    folder : path, optional
        Where ``reuters21578.tar.gz`` lies. Default: the environment variable ``TACIT_DATA``.

    Notes
    -----
    Stoddard, Chen and Machanavajjhala say of their corpus that it has 6,906 articles, sampled, about one half of them
    on earnings; they do not say which. No attribute of the collection gives that number. ``"paper"`` takes 3,453 of
    either class from the labelled articles that have a body: those whose ``SHA-256("reuters/" + NEWID)`` is smallest,
    in the order of NEWID.

    The text is the title, a line end and the body, with HTML entities decoded; articles without either are empty.
    """
    choices = ("paper", "train", "test", "labelled")
    if subset not in choices:
        raise bad_parameter("load_reuters", "subset", f"one of {choices}", subset)
    articles = [article for article in published.read_articles(folder) if article.indexed]
    if subset == "paper":
        articles = _balanced([article for article in articles if article.body], PAPER_ARTICLES // 2)
    elif subset != "labelled":
        articles = [article for article in articles if article.split == subset.upper()]
    texts = pl.Series("text", [article.text for article in articles], dtype=pl.String)
    labels = np.array([topic in article.topics for article in articles], dtype=np.int64)
    description = (
        f"Reuters-21578, Distribution 1.0 ({subset}): {published.REUTERS.publisher}. "
        "© Reuters Ltd., for research purposes only."
    )
    return Dataset("REUTERS", texts, labels, ("other", topic), description, Schema.text((0, 1)))


def load_adult(
    part: Literal["train", "test"] = "train",
    form: Literal["raw", "binary"] = "raw",
    *,
    folder: str | Path | None = None,
) -> Dataset:
    """Load the census data "Adult": is an income above 50,000 dollars a year.

    Parameters
    ----------
    part : {"train", "test"}, default "train"
        32,561 or 16,281 persons, as published.
    form : {"raw", "binary"}, default "raw"
        ``"raw"``: 14 columns, missing values as nulls. ``"binary"``: the 123 binary features known as a9a, as a sparse
        matrix, 11 to 14 of them in a row. Both have the same rows in the same order.
    folder : path, optional
        Where ``adult.data`` and ``adult.test``, or ``a9a`` and ``a9a.t``, or the gzip of each lie. Default: the
        environment variable ``TACIT_DATA``.
    """
    for name, value, choices in (("part", part, ("train", "test")), ("form", form, ("raw", "binary"))):
        if value not in choices:
            raise bad_parameter("load_adult", name, f"one of {choices}", value)
    description = f"Adult (Census Income): B. Becker, R. Kohavi, 1996. {published.ADULT[part].publisher}. CC BY 4.0."
    data: pl.DataFrame | sp.csr_array
    schema = adult_schema()
    if form == "binary":
        from sklearn.datasets import load_svmlight_file

        matrix, target = load_svmlight_file(
            io.BytesIO(published.read(published.A9A[part], folder)), n_features=published.A9A_FEATURES
        )
        data = sp.csr_array(matrix.astype(np.int8))
        labels = _codes(target > 0)
        names = [f"a9a_{number}" for number in range(1, published.A9A_FEATURES + 1)]
        schema = Schema.matrix(published.A9A_FEATURES, (0, 1), names=names)
        description += f" As 123 binary features by J. Platt, 1998, from {published.LIBSVM}."
    else:
        table = _adult_table(published.read(published.ADULT[part], folder))
        labels = _codes(table["income"].str.starts_with(">50K"))
        data = table.drop("income")
    return Dataset("ADULT", data, labels, ("<=50K", ">50K"), description, schema)


def load_diabetes(
    outcome: Literal["<30", "any"] = "<30", *, max_rows: int = 1, folder: str | Path | None = None
) -> Dataset:
    """Load 101,766 hospital stays of 71,518 diabetes patients: was the patient readmitted.

    A row is a stay, not a person: the unit is the patient (column ``patient_nbr``, up to 40 stays).

    Parameters
    ----------
    outcome : {"<30", "any"}, default "<30"
        Readmitted within 30 days (11.2 % of the stays), or at all (46.1 %).
    max_rows : int, default 1
        Bound on the stays of a patient, for the unit. All stays are returned: bounding them comes later.
    folder : path, optional
        Where ``diabetic_data.csv`` or its gzip lies. Default: the environment variable ``TACIT_DATA``.

    Notes
    -----
    Columns are read as text, except counts and identifiers. ``?`` is read as missing; ``None`` in ``max_glu_serum`` and
    ``A1Cresult`` means "not measured" and is a value.
    """
    if outcome not in ("<30", "any"):
        raise bad_parameter("load_diabetes", "outcome", "'<30' or 'any'", outcome)
    counts = re.compile(r"encounter_id|patient_nbr|time_in_hospital|num_.*|number_.*")
    table = pl.read_csv(io.BytesIO(published.read(published.DIABETES, folder)), infer_schema=False, null_values=["?"])
    table = table.with_columns(pl.col(name).cast(pl.Int64) for name in table.columns if counts.fullmatch(name))
    stays = table["readmitted"]
    labels = _codes(stays == "<30" if outcome == "<30" else stays != "NO")
    names = ("later or not", "within 30 days") if outcome == "<30" else ("not readmitted", "readmitted")
    description = (
        "Diabetes 130-US Hospitals 1999-2008: B. Strack et al., BioMed Research International 2014, 781670. "
        f"{published.DIABETES.publisher}. CC BY 4.0. De-identified by the providers."
    )
    schema = diabetes_schema(Unit.user("patient_nbr", max_rows))
    return Dataset("DIABETES", table.drop("readmitted"), labels, names, description, schema)


def load_survey(form: Literal["answers", "binary"] = "answers") -> Dataset:
    """Load Fair's survey of 6,366 married women: has she had an affair (32 % have).

    Parameters
    ----------
    form : {"answers", "binary"}, default "answers"
        ``"answers"``: eight questions as columns of answer codes. ``"binary"``: one feature for each of the 46 public
        answer codes, as a sparse matrix with 8 ones in a row.

    Notes
    -----
    The file comes with statsmodels, so this works offline: ``pip install "tacit[demo]"``.

    Examples
    --------
    >>> load_survey("binary").matrix.shape
    (6366, 46)
    """
    if form not in ("answers", "binary"):
        raise bad_parameter("load_survey", "form", "'answers' or 'binary'", form)
    table = pl.read_csv(io.BytesIO(published.read_survey()), infer_schema=False)
    labels = _codes(table["affairs"].cast(pl.Float64) > 0)
    answers = table.select(list(SURVEY_CODES))
    description = (
        "Affairs: R. Fair, A Theory of Extramarital Affairs, Journal of Political Economy, 1978; the survey of Redbook "
        "magazine, as carried by statsmodels with the author's permission."
    )
    data: pl.DataFrame | sp.csr_array = answers
    schema = survey_schema()
    if form == "binary":
        pairs = [(column, code) for column, codes in SURVEY_CODES.items() for code in codes]
        schema = Schema.matrix(len(pairs), (0, 1), names=[f"{column}={code}" for column, code in pairs])
        hits = np.column_stack([answers[column] == code for column, code in pairs])
        data = sp.csr_array(hits.astype(np.int8))
    return Dataset("SURVEY", data, labels, ("no affair", "affair"), description, schema)


def _codes(positive: object) -> NDArray[np.int64]:
    return np.asarray(positive, dtype=bool).astype(np.int64)


def _read_csv(content: bytes, columns: Mapping[str, type[pl.DataType]], **options: object) -> pl.DataFrame:
    """Read a file without a header; a line ends with a line feed alone, and no string means "missing"."""
    return pl.read_csv(io.BytesIO(content), has_header=False, schema=columns, eol_char="\n", **options)  # type: ignore[arg-type]


def _adult_table(content: bytes) -> pl.DataFrame:
    """Read ``adult.data`` or ``adult.test``: the latter opens with a comment, and both end with an empty line."""
    lines = content.rstrip(b"\n").replace(b", ", b",")
    text = dict.fromkeys(published.ADULT_COLUMNS, pl.String)
    table = _read_csv(lines, text, comment_prefix="|", null_values=["?"])
    numbers = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
    return table.with_columns(pl.col(numbers).cast(pl.Int64))


def _balanced(articles: list[published.Article], each: int) -> list[published.Article]:
    """Take the same number of either class, by a hash of the article's number, and keep their order."""

    def draw(article: published.Article) -> bytes:
        return hashlib.sha256(f"reuters/{article.number}".encode()).digest()

    kept = []
    for earn in (False, True):
        kept += sorted((article for article in articles if article.earn == earn), key=draw)[:each]
    return sorted(kept, key=lambda article: article.number)
