from __future__ import annotations

import gzip
import hashlib
import os
import shutil
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import tacit
from tacit.data import datasets, published
from tacit.data.bounding import Bounding
from tacit.data.generator import ROWS_PER_BATCH
from tacit.data.sources import open_source
from tacit.data.statistics import count
from tacit.privacy._seal import open_exact

BESIDE = Path(__file__).parents[3] / "shared" / "data"
ABSENT = "no published data: set TACIT_DATA to their folder, or put it at ../shared/data beside the project"


@pytest.fixture(scope="session")
def folder() -> Path:
    home = Path(os.environ.get(published.VARIABLE) or BESIDE)
    if not home.is_dir():
        pytest.skip(ABSENT)
    return home


def counts(data: datasets.Dataset) -> tuple[int, ...]:
    return tuple(np.bincount(data.labels, minlength=len(data.classes)).tolist())


def test_sms_has_the_published_counts(folder: Path) -> None:
    sms = datasets.load_sms(folder=folder)
    assert len(sms) == len(sms.texts) == 5_574
    assert counts(sms) == (4_827, 747)
    assert sms.class_names == ("ham", "spam")
    assert sms.texts.null_count() == 0
    assert pl.DataFrame({"label": sms.labels, "text": sms.texts}).n_unique() == 5_171
    assert sum(not text.isascii() for text in sms.texts) == 483
    assert sms.frame.columns == ["text"]


def test_tweets_have_the_published_counts(folder: Path) -> None:
    tweets = datasets.load_twitter(folder=folder)
    assert counts(tweets) == (199_581, 200_419)
    assert np.bincount(tweets.labels[:100_000]).tolist() == [49_943, 50_057]
    assert np.bincount(tweets.labels[:200_000]).tolist() == [99_857, 100_143]
    assert tweets.texts.n_unique() == 392_549
    assert tweets.texts.null_count() == 0
    assert (tweets.texts.str.len_bytes() != tweets.texts.str.len_chars()).sum() == 3_607
    assert tweets.texts.str.contains("USER", literal=True).sum() == 184_860


def test_a_prefix_of_the_tweets_is_a_prefix(folder: Path) -> None:
    paper, longer = datasets.load_twitter("paper", folder=folder), datasets.load_twitter(10_000, folder=folder)
    assert len(paper) == datasets.PAPER_TWEETS == 7_304
    assert paper.texts.equals(longer.texts.head(7_304))
    assert np.array_equal(paper.labels, longer.labels[:7_304])


@pytest.mark.parametrize(
    ("subset", "expected"),
    [("train", (9_603 - 2_877, 2_877)), ("test", (3_299 - 1_087, 1_087)), ("paper", (3_453, 3_453))],
)
def test_reuters_has_the_published_counts(folder: Path, subset: str, expected: tuple[int, int]) -> None:
    assert counts(datasets.load_reuters(subset, folder=folder)) == expected  # type: ignore[arg-type]


def test_reuters_as_a_whole(folder: Path) -> None:
    articles = published.read_articles(folder)
    assert [article.number for article in articles] == list(range(1, 21_579))
    assert sum(bool(article.body) for article in articles) == 19_043
    assert sum(article.earn for article in articles) == 3_987
    assert sum(article.indexed for article in articles) == 13_476
    assert articles[0].title == "BAHIA COCOA REVIEW"
    assert "&lt;" not in "".join(article.text for article in articles)


def test_adult_has_the_published_counts_in_both_forms(folder: Path) -> None:
    for part, expected, missing, ones in (
        ("train", (24_720, 7_841), 2_399, 451_592),
        ("test", (12_435, 3_846), 1_221, 225_731),
    ):
        raw = datasets.load_adult(part, folder=folder)  # type: ignore[arg-type]
        binary = datasets.load_adult(part, "binary", folder=folder)  # type: ignore[arg-type]
        assert counts(raw) == counts(binary) == expected
        assert np.array_equal(raw.labels, binary.labels)
        assert raw.frame.shape[1] == 14
        assert raw.frame.select(pl.any_horizontal(pl.all().is_null())).to_series().sum() == missing
        assert binary.matrix.shape == (sum(expected), 123)
        assert binary.matrix.nnz == ones
        assert set(binary.matrix.data.tolist()) == {1}


def test_diabetes_has_the_published_counts(folder: Path) -> None:
    stays = datasets.load_diabetes(folder=folder)
    assert counts(stays) == (101_766 - 11_357, 11_357)
    assert counts(datasets.load_diabetes("any", folder=folder)) == (54_864, 101_766 - 54_864)
    assert stays.unit == tacit.Unit.user("patient_nbr", 1)
    frame = stays.frame
    assert frame.width == 49
    assert "readmitted" not in frame.columns
    assert frame["patient_nbr"].n_unique() == 71_518
    assert frame.group_by("patient_nbr").len()["len"].max() == 40
    missing = {name: number for name, number in frame.null_count().row(0, named=True).items() if number}
    assert missing == {
        "weight": 98_569,
        "medical_specialty": 49_949,
        "payer_code": 40_256,
        "race": 2_273,
        "diag_3": 1_423,
        "diag_2": 358,
        "diag_1": 21,
    }
    assert frame["max_glu_serum"].value_counts(sort=True)["max_glu_serum"][0] == "None"
    assert frame["insulin"].str.contains("\r").sum() == 0


def test_survey_has_46_features_and_the_known_auc() -> None:
    survey = datasets.load_survey("binary")
    answers = datasets.load_survey()
    assert survey.matrix.shape == (6_366, 46)
    assert survey.feature_names[:2] == ("rate_marriage=1", "rate_marriage=2")
    assert len(survey.feature_names) == 46
    assert (survey.matrix.sum(axis=1) == 8).all()
    assert answers.frame.shape == (6_366, 8)
    assert survey.labels.mean() == pytest.approx(0.3225, abs=1e-4)
    auc = cross_val_score(LogisticRegression(), survey.matrix, survey.labels, scoring="roc_auc", cv=5).mean()
    assert auc == pytest.approx(0.756, abs=0.01)


def counted(data: datasets.Dataset) -> tuple[np.ndarray, np.ndarray]:
    rule = Bounding(data.schema.n_features, data.unit, seed=1)
    counts = count(open_source(data.data, data.schema, y=data.labels, version="test"), rule)
    return open_exact(counts.features), open_exact(counts.labels)


def test_every_schema_fits_its_rows(folder: Path) -> None:
    for data in (datasets.load_survey(), datasets.load_survey("binary"), datasets.load_sms(folder=folder)):
        features, labels = counted(data)
        assert labels.tolist() == np.bincount(data.labels).tolist()
        assert features.sum() > 7 * labels.sum()
    for data in (datasets.load_adult(folder=folder), datasets.load_diabetes(folder=folder)):
        features, labels = counted(data)
        others = [place for place, name in enumerate(data.schema.feature_names()) if name.endswith(": other")]
        shares = features[:, others].sum(axis=0) / labels.sum()
        assert shares.max() < 1e-3  # the code books name all values, but for gender "Unknown/Invalid" of 3 stays
    assert labels.sum() == 71_518


def test_survey_without_statsmodels_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(tacit.MissingExtraError, match=r"pip install \"tacit\[demo\]\""):
        datasets.load_survey()


@pytest.mark.parametrize(
    ("load", "file"),
    [
        (datasets.load_sms, published.SMS),
        (datasets.load_twitter, published.TWEETS),
        (datasets.load_reuters, published.REUTERS),
        (datasets.load_adult, published.ADULT["train"]),
        (datasets.load_diabetes, published.DIABETES),
    ],
)
def test_a_missing_file_says_where_to_get_it(load, file: published.File, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(datasets.DatasetError) as missing:
        load(folder=tmp_path)
    for needed in (file.name, str(tmp_path), file.publisher, file.sha256):
        assert needed in str(missing.value)
    monkeypatch.delenv(published.VARIABLE, raising=False)
    with pytest.raises(datasets.DatasetError, match=r"folder=.*TACIT_DATA"):
        load()


def test_the_folder_comes_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(published.VARIABLE, str(folder))
    assert len(datasets.load_sms()) == len(datasets.load_sms(folder)) == 5_574


def test_plain_and_packed_files_are_read_alike(folder: Path, tmp_path: Path) -> None:
    packed, plain = tmp_path / "packed", tmp_path / "plain"
    packed.mkdir()
    plain.mkdir()
    content = (folder / "SMSSpamCollection").read_bytes()
    (packed / "SMSSpamCollection.gz").write_bytes(gzip.compress(content))
    shutil.copy(folder / "SMSSpamCollection", plain)
    assert datasets.load_sms(folder=packed).texts.equals(datasets.load_sms(folder=plain).texts)


def test_a_changed_or_broken_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "SMSSpamCollection").write_bytes(b"ham\thello\n")
    digest = hashlib.sha256(b"ham\thello\n").hexdigest()
    with pytest.raises(datasets.DatasetError, match=f"not the published file.*{digest}"):
        datasets.load_sms(folder=tmp_path)
    (tmp_path / "adult.data.gz").write_bytes(gzip.compress(b"x" * 1000)[:-12])
    with pytest.raises(datasets.DatasetError, match="no whole gzip file"):
        datasets.load_adult(folder=tmp_path)
    (tmp_path / "reuters21578.tar.gz").write_bytes(gzip.compress(b"not a tar"))
    with pytest.raises(datasets.DatasetError, match=r"no whole tar\.gz archive"):
        datasets.load_reuters(folder=tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        lambda: datasets.load_twitter(0),
        lambda: datasets.load_twitter(400_001),
        lambda: datasets.load_twitter(True),
        lambda: datasets.load_reuters("half"),  # type: ignore[arg-type]
        lambda: datasets.load_adult("validation"),  # type: ignore[arg-type]
        lambda: datasets.load_adult(form="csv"),  # type: ignore[arg-type]
        lambda: datasets.load_diabetes(">30"),  # type: ignore[arg-type]
        lambda: datasets.load_survey("dense"),  # type: ignore[arg-type]
        lambda: datasets.generate_text(0),
        lambda: datasets.generate_text(10, mean_words=0.5),
        lambda: datasets.generate_text(10, positive=1.0),
    ],
)
def test_bad_parameters_are_named(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(tacit.ParameterError, match="parameter of"):
        call()


def test_a_dataset_shows_itself_briefly_and_knows_its_kind() -> None:
    survey = datasets.load_survey()
    assert repr(survey) == "<Dataset SURVEY: 6,366 rows, labels 0 = no affair, 1 = affair, unit row>"
    rows, labels = survey
    assert rows is survey.data
    assert labels is survey.labels is survey.target
    with pytest.raises(TypeError, match="not texts"):
        _ = survey.texts
    with pytest.raises(TypeError, match="not a sparse matrix"):
        _ = survey.matrix
    with pytest.raises(TypeError, match="not columns"):
        _ = datasets.load_survey("binary").frame
    with pytest.raises(ValueError, match="read-only"):
        survey.labels[0] = 1


def test_generated_text_is_zipfian_leaning_and_continues() -> None:
    batches = list(datasets.generate_text(60_000, seed=3))
    assert [len(batch.texts) for batch in batches] == [ROWS_PER_BATCH, 60_000 - ROWS_PER_BATCH]
    shorter = next(datasets.generate_text(1_000, seed=3))
    assert shorter.texts.equals(batches[0].texts.head(1_000))
    assert not shorter.texts.equals(next(datasets.generate_text(1_000, seed=4)).texts)
    words = list(chain.from_iterable(batches[0].texts.str.split(" ")))
    assert len(words) / ROWS_PER_BATCH == pytest.approx(13, rel=0.02)
    frequency = pl.Series(words).value_counts(sort=True)["count"]
    # Zipf: the tenth word is 10^1.05 = 11 times rarer than the first, give or take what leans to a class.
    assert 8 < frequency[0] / frequency[9] < 16
    labels = batches[0].labels
    leaning = batches[0].texts.str.split(" ").list.contains("ca").to_numpy()  # the second word of the vocabulary
    assert leaning[labels == 1].mean() > 1.5 * leaning[labels == 0].mean()


def test_generated_words_are_distinct() -> None:
    from tacit.data.generator import _spell

    assert len({_spell(number) for number in range(100_000)}) == 100_000
