"""What a run leaves in a folder. Public side: releases only.

Texts that come from a description or a user are made safe for where they go: a cell of a CSV file that a spreadsheet
would take for a formula gets an apostrophe in front, and control characters become blanks.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit.errors import bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.privacy.release import Receipt

LEVEL = 0.95
OUTPUTS = ("model.json", "report.html", "features.csv", "receipt.json", "curve.json", "roc.csv", "roc.png")
"""What a run or an evaluation may leave."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_FORMULA = ("=", "+", "-", "@")


def fresh_folder(folder: str | Path, owner: str = "save", name: str = "folder") -> Path:
    """Make a folder, or take an empty one; anything else is refused."""
    path = Path(folder)
    remedy = "Choose another name, or empty it first."
    if path.is_dir() and any(path.iterdir()):
        raise bad_parameter(owner, name, "a folder that is new or empty", str(folder), remedy)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise bad_parameter(owner, name, f"writable ({error.strerror})", str(folder), remedy) from None
    return path


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turn a full disk, or a folder that cannot be written, into an error of ours."""
    try:
        yield
    except OSError as error:
        remedy = "Make room there; asking again costs nothing."
        raise bad_parameter("save", "folder", f"writable ({error.strerror})", str(path), remedy) from None


def save_result(result: Any, folder: str | Path) -> list[Path]:
    """Write what a workflow leaves into a folder that is new or empty."""
    return write_result(result, fresh_folder(folder))


def write_result(result: Any, path: Path) -> list[Path]:
    """Write what a workflow leaves, beside what else was put there since the folder was looked at, such as a ledger."""
    with _writing(path):
        made = _save_model(result, path)
    return [*made, *save_curve(result.curve, result.receipt, path)]


def _save_model(result: Any, path: Path) -> list[Path]:
    made = []
    if result.model.can_be_saved:
        result.model.save(path / "model.json")
        made.append(path / "model.json")
    (path / "report.html").write_text(result.report, encoding="utf-8")
    rows = ([safe_cell(feature), repr(weight)] for feature, weight in result.features)
    write_csv(path / "features.csv", ["feature", "weight"], rows)
    return [*made, path / "report.html", path / "features.csv"]


def save_curve(curve: RocCurve, receipt: Receipt, path: Path) -> list[Path]:
    """Write a curve as numbers and as a picture, and its receipt."""
    low, high = curve.band(LEVEL)
    columns = (curve.fpr, curve.tpr, low, high, curve.thresholds)
    rows = ([repr(float(value)) for value in point] for point in zip(*columns, strict=True))
    with _writing(path):
        (path / "receipt.json").write_text(receipt.to_json(indent=2) + "\n", encoding="utf-8")
        curve.save(path / "curve.json")
        write_csv(path / "roc.csv", ["fpr", "tpr", "tpr_low", "tpr_high", "threshold"], rows)
    draw(path / "roc.png", [("", curve)])
    return [path / name for name in ("receipt.json", "curve.json", "roc.csv", "roc.png")]


def draw(path: Path, curves: Sequence[tuple[str, RocCurve]]) -> None:
    """Draw curves with their bands side by side, without a screen."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(curves), 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    for place, (name, curve) in enumerate(curves):
        axes = curve.plot(figure.add_subplot(1, len(curves), place + 1), level=LEVEL)
        if name:
            axes.set_title(f"{name}: {axes.get_title()}", fontsize="medium")
    with _writing(path):
        figure.savefig(path, dpi=150)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula, on one line.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("two\\nlines")
    ("'=1+1", 'two lines')
    """
    flat = _CONTROL.sub(" ", str(text).encode("utf-8", "replace").decode())
    return f"'{flat}" if flat.lstrip().startswith(_FORMULA) else flat
