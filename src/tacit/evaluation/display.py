"""Pictures of curves. Public side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import MissingExtraError

if TYPE_CHECKING:
    from tacit.evaluation.curve import RocCurve


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
