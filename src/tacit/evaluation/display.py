"""Curves for people: drawn by matplotlib, or as a small table. Public side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import MissingExtraError, bad_parameter
from tacit.privacy.release import html_table

if TYPE_CHECKING:
    from tacit.evaluation.curve import RocCurve
    from tacit.evaluation.metrics import Band


MOST_DIGITS = 5
MANY_AT_ENDS = 0.3  # of the rows: predictions of 0 and 1 do, and scores that are cut off by their range
WIDE = 0.4  # an interval of an area


def shown_area(area: float) -> str:
    """An area with three digits, or with more where one below 1 would be shown as 1; beyond five it is next to 1."""
    shown = f"{area:.{area_digits(area)}f}"
    return f">{1 - 10**-MOST_DIGITS:.{MOST_DIGITS}f}" if area < 1 <= float(shown) else shown


def area_digits(area: float) -> int:
    """How many digits that takes."""
    return next((d for d in range(3, MOST_DIGITS) if area >= 1 or round(area, d) < 1), MOST_DIGITS)


def curve_notes(curve: RocCurve) -> list[str]:
    """What a release tells of questions that a curve should raise."""
    low, high = curve.auc_interval()
    notes = []
    if curve.share_at_ends > MANY_AT_ENDS:
        first, last = (f"{end:g}" for end in curve.score_range)
        notes.append(
            f"about {curve.share_at_ends:.0%} of the rows score {first} or {last}, the ends of score_range: if the "
            "model does not do so, the range does not fit its scores, or they are no numbers"
        )
    if curve.unknown:
        notes.append(
            f"a class is too small to be told from an empty one: is the positive label, {curve.pos_label!r}, spelt as "
            "in the data? Or are rows or ε too few?"
        )
    elif high - low > WIDE:
        notes.append("rows times ε are too few to tell much")
    return notes


def axes(ax: Any) -> Any:
    """The given axes, or new ones."""
    if ax is not None and not hasattr(ax, "fill_between"):
        raise bad_parameter("plot", "ax", "axes of matplotlib, or None for new ones", ax)
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("Drawing needs matplotlib: pip install matplotlib.") from error
    return pyplot.subplots()[1] if ax is None else ax


def plot_roc(curve: RocCurve, ax: Any = None, *, level: float = 0.95) -> Any:
    """Draw the curve and its simultaneous band; returns the axes."""
    ax = axes(ax)
    low, high = curve.band(level)
    first, last = curve.auc_interval(level)
    receipt = curve.receipt
    ax.fill_between(curve.fpr, low, high, alpha=0.2, linewidth=0, label=f"{100 * level:.0f} % band")
    area = f"{shown_area(curve.auc)} ({shown_area(first)} to {shown_area(last)})"
    label = "AUC unknown: a class is too small" if curve.unknown else f"AUC {area}"
    ax.plot(curve.fpr, curve.tpr, label=label)
    ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
    ax.set(xlabel="False-positive rate", ylabel="True-positive rate", xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
    note = "" if receipt["status"] == "private" else f" ({receipt['status']})"
    ax.set_title(f"ROC curve, ε = {receipt['epsilon']:g}{note}", fontsize="medium")
    ax.legend(loc="lower right", fontsize="small")
    return ax


def plot_band(band: Band, ax: Any = None) -> Any:
    """Draw a curve with its pointwise interval; returns the axes."""
    ax = axes(ax)
    (line,) = ax.plot(band.x, band.y)
    ax.fill_between(band.x, band.low, band.high, alpha=0.2, linewidth=0, color=line.get_color())
    ax.set(xlabel=band.x_label, ylabel=band.y_label)
    return ax


def roc_html(curve: RocCurve) -> str:
    """A small table for notebooks."""
    low, high = curve.auc_interval()
    receipt = curve.receipt
    area = f"{shown_area(curve.auc)} ({shown_area(low)} to {shown_area(high)}, 95 %)"
    area = "unknown: a class is too small" if curve.unknown else area
    return html_table(
        [
            ("private ROC curve", f"positive: {curve.pos_label}"),
            ("area under it", area),
            ("price", f"ε = {receipt['epsilon']:g}, δ = {receipt['delta']:g}, unit: {receipt['unit']}"),
            ("status", receipt["status"]),
            *(("note", note) for note in curve.notes),
        ]
    )
