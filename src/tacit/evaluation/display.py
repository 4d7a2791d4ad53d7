"""Curves for people: drawn by matplotlib, or as a small table. Public side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import MissingExtraError
from tacit.privacy.release import html_table

if TYPE_CHECKING:
    from tacit.evaluation.curve import RocCurve
    from tacit.evaluation.metrics import Band


def axes(ax: Any) -> Any:
    """The given axes, or new ones."""
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
    label = f"AUC {curve.auc:.3f} ({first:.3f} to {last:.3f})"
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
    area = "unknown: a class is too small" if curve.unknown else f"{curve.auc:.3f} ({low:.3f} to {high:.3f}, 95 %)"
    return html_table(
        [
            ("private ROC curve", f"positive: {curve.pos_label}"),
            ("area under it", area),
            ("price", f"ε = {receipt['epsilon']:g}, δ = {receipt['delta']:g}, unit: {receipt['unit']}"),
            ("status", receipt["status"]),
        ]
    )
