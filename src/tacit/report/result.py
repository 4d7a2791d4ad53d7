"""What a workflow leaves. Public side: everything in it was released and may be published."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tacit.evaluation.curve import RocCurve
from tacit.privacy.release import Receipt
from tacit.report.files import save_result
from tacit.report.summary import Summary


@dataclass(frozen=True, slots=True)
class Result:
    """What a workflow leaves: everything in it may be published.

    Attributes
    ----------
    model : fitted classifier
    curve : RocCurve
    receipt : Receipt
        What it cost in all, by part and by step, and how that adds up.
    report : str
        One HTML page.
    features : list of (name, weight), heaviest first; empty for a model without weights
    summary : Summary
        The numbers of the report.
    """

    model: Any
    curve: RocCurve
    receipt: Receipt
    report: str
    features: list[tuple[str, float]]
    summary: Summary

    def save(self, folder: str | Path) -> list[Path]:
        """Write model, report, receipt, curve and features into a folder that is new or empty; returns the files."""
        return save_result(self, folder)

    def __repr__(self) -> str:
        cost = f"ε = {self.receipt['epsilon']:g}" + (
            f", δ = {self.receipt['delta']:g}" if self.receipt["delta"] else ""
        )
        return f"<Result of {type(self.model).__name__}: {self.curve!r}, {cost}, {self.receipt['status']}>"

    def _repr_html_(self) -> str:
        frame = "width:100%;height:46em;border:1px solid #8888;border-radius:6px"
        return f'<iframe sandbox srcdoc="{escape(self.report)}" style="{frame}"></iframe>'
