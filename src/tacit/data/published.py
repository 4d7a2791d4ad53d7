"""The published files behind :mod:`tacit.data.datasets`: where they lie, who publishes them, what they must hash to."""

from __future__ import annotations

import gzip
import hashlib
import html
import importlib.util
import io
import os
import re
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from tacit.data.errors import SourceError
from tacit.errors import MissingExtraError

VARIABLE = "TACIT_DATA"
A9A_FEATURES = 123
ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)


class DatasetError(SourceError):
    """A published file is missing, or is not the published one."""


@dataclass(frozen=True, slots=True)
class File:
    """One published file: its name, the SHA-256 of its uncompressed bytes, and who publishes it."""

    name: str
    sha256: str
    publisher: str


_UCI = "UCI Machine Learning Repository"
_ADULT_HOME = f"{_UCI}, dataset 2, doi:10.24432/C5XW20"
LIBSVM = "the LIBSVM data sets of C.-C. Chang and C.-J. Lin, National Taiwan University, doi:10.1145/1961189.1961199"
SMS = File(
    "SMSSpamCollection",
    "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
    f"{_UCI}, dataset 228, doi:10.24432/C5CC84",
)
TWEETS = File(
    "sentiment140_400k.csv",
    "d3f2ea5e3f8fd3d16997391ae0ab4c5a2738dbd9ce2a47cf5f2bd1b168ccc62f",
    "the public repository voidisnull/sentiment140_translator (chunks 1 to 40 of its 160, one after the other); the "
    "tweets are those of A. Go, R. Bhayani, L. Huang, Stanford University, 2009, who have no DOI for them",
)
REUTERS = File(
    "reuters21578.tar.gz",
    "b9f3dfa9691a57bfac8d55c0fde314e12cdb6a2ad66bebf3f61c9b8883ad2be3",
    f"D. D. Lewis, Distribution 1.0, or {_UCI}, dataset 137, doi:10.24432/C52G6M",
)
ADULT = {
    "train": File("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", _ADULT_HOME),
    "test": File("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", _ADULT_HOME),
}
A9A = {
    "train": File("a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906", LIBSVM),
    "test": File("a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9", LIBSVM),
}
DIABETES = File(
    "diabetic_data.csv",
    "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97",
    f"{_UCI}, dataset 296, doi:10.24432/C5230J",
)
SURVEY = File(
    "fair.csv",
    "fd5f3f094a34fc35ca346a14c359e046ed27843038d6921efcd50a7ab21f6af0",
    "statsmodels, as datasets.fair",
)


def read(file: File, folder: str | Path | None) -> bytes:
    """Return the uncompressed bytes of a published file, checked against their SHA-256.

    The file may lie in the folder as it is published or as its gzip.
    """
    home = _home(file, folder)
    plain, packed = home / file.name, home / f"{file.name}.gz"
    if plain.is_file():
        content = plain.read_bytes()
    elif packed.is_file():
        try:
            content = gzip.decompress(packed.read_bytes())
        except (OSError, EOFError, zlib.error):
            raise DatasetError(f"{packed} is no whole gzip file. {_source(file)}", file=str(packed)) from None
    else:
        raise DatasetError(f"{file.name} (or {packed.name}) is not in the folder {home}. {_source(file)}")
    _check(file, content, hashlib.sha256(content).hexdigest(), home)
    return content


def read_survey() -> bytes:
    """Return Fair's survey as statsmodels carries it, without the time it takes to import statsmodels."""
    spec = importlib.util.find_spec("statsmodels")
    if spec is None or spec.origin is None:
        raise MissingExtraError(
            "load_survey reads a survey that statsmodels carries, and statsmodels is not installed. "
            'Run: pip install "tacit[demo]"'
        )
    return read(SURVEY, Path(spec.origin).parent / "datasets" / "fair")


@dataclass(frozen=True, slots=True)
class Article:
    """One article of Reuters-21578."""

    number: int
    split: str
    indexed: bool
    topics: tuple[str, ...]
    title: str
    body: str

    @property
    def earn(self) -> bool:
        """Whether it is about earnings."""
        return "earn" in self.topics

    @property
    def text(self) -> str:
        """Title and body, parted by a line end."""
        return f"{self.title}\n{self.body}".strip()


def read_articles(folder: str | Path | None) -> list[Article]:
    """Return all 21,578 articles; the archive may be packed in any way, its 22 SGML members must be the published ones.

    The SHA-256 is that of the members ``reut2-000.sgm`` to ``reut2-021.sgm``, one after the other.
    """
    home = _home(REUTERS, folder)
    path = home / REUTERS.name
    if not path.is_file():
        raise DatasetError(f"{REUTERS.name} is not in the folder {home}. {_source(REUTERS)}")
    try:
        unpacked = io.BytesIO(gzip.decompress(path.read_bytes()))
        with tarfile.open(fileobj=unpacked) as archive:
            members = {Path(member.name).name: member for member in archive.getmembers() if member.isfile()}
            names = sorted(name for name in members if re.fullmatch(r"reut2-0\d\d\.sgm", name))
            parts = [archive.extractfile(members[name]) for name in names]
            content = b"".join(part.read() for part in parts if part is not None)
    except (OSError, EOFError, zlib.error, tarfile.TarError):
        raise DatasetError(f"{path} is no whole tar.gz archive. {_source(REUTERS)}") from None
    _check(REUTERS, content, hashlib.sha256(content).hexdigest(), home)
    # Not XML: control characters as references, no root element. Latin-1, as the distribution says.
    pattern = re.compile(r"<REUTERS ([^>]*)>(.*?)</REUTERS>", re.DOTALL)
    return [_article(head, article) for head, article in pattern.findall(content.decode("latin-1"))]


def _article(head: str, content: str) -> Article:
    attributes = dict(re.findall(r'(\w+)="([^"]*)"', head))
    topics = re.findall(r"<D>(.*?)</D>", _element("TOPICS", content))
    return Article(
        number=int(attributes["NEWID"]),
        split=attributes["LEWISSPLIT"],
        indexed=attributes["TOPICS"] == "YES",
        topics=tuple(topics),
        title=html.unescape(_element("TITLE", content)),
        body=html.unescape(_element("BODY", content)),
    )


def _element(name: str, content: str) -> str:
    found = re.search(f"<{name}>(.*?)</{name}>", content, re.DOTALL)
    return found[1] if found else ""


def _home(file: File, folder: str | Path | None) -> Path:
    chosen = os.environ.get(VARIABLE) if folder is None else folder
    if not chosen:
        raise DatasetError(
            f"No folder to read {file.name} from: pass folder=..., or set the environment variable {VARIABLE}. "
            f"{_source(file)}"
        )
    return Path(chosen)


def _source(file: File) -> str:
    what = "its 22 SGML members in order, concatenated" if file is REUTERS else "its uncompressed bytes"
    return f"Published by {file.publisher}. SHA-256 of {what}: {file.sha256}. tacit fetches nothing by itself."


def _check(file: File, content: bytes, digest: str, home: Path) -> None:
    if digest != file.sha256:
        raise DatasetError(
            f"{file.name} in the folder {home} is not the published file: it has {len(content):,} bytes and the "
            f"SHA-256 {digest}. {_source(file)}"
        )
