"""Curves for people: drawn by matplotlib, or as a small table. Public side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import MissingExtraError, bad_parameter
from tacit.privacy.release import html_table

if TYPE_CHECKING:
    from tacit.evaluation.curve import RocCurve
    from tacit.evaluation.metrics import Band


MOST_DIGITS = 12


def shown_area(area: float) -> str:
    """An area with three digits, or with so many that one below 1 is not shown as 1."""
    return f"{area:.{area_digits(area)}f}"


def area_digits(area: float) -> int:
    """How many digits that takes."""
    return next((d for d in range(3, MOST_DIGITS) if area >= 1 or round(area, d) < 1), MOST_DIGITS)


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
        ]
    )
