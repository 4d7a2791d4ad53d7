"""Small drawings as inline SVG, without a script: a plot with axes in which numbers show on hovering. Public side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

SIZE = 440
LEFT, RIGHT, TOP, BOTTOM = 66, 18, 14, 52
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

Points = Sequence[tuple[float, float]]


class Square:
    """A plot of shares against shares, both from 0 to 1.

    Parameters
    ----------
    name : str
        Names the drawing within the page, so that its title and description can be found.
    title, description : str
        What somebody who does not see the drawing is told.
    x_label, y_label : str
    """

    def __init__(self, name: str, title: str, description: str, x_label: str, y_label: str) -> None:
        self._parts = [
            f'<svg class="plot" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-labelledby="{name}-title {name}-text">',
            f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-text">{escape(description)}</desc>',
        ]
        self._axes(x_label, y_label)

    def _axes(self, x_label: str, y_label: str) -> None:
        low, high = self._at(0, 0), self._at(1, 1)
        for tick in TICKS:
            x, y = self._at(tick, tick)
            text = f"{100 * tick:.0f} %" if tick else "0"
            self._parts.append(
                f'<path class="grid" d="M{x:.1f} {high[1]:.1f}V{low[1]:.1f}M{low[0]:.1f} {y:.1f}H{high[0]:.1f}"/>'
                f'<text class="tick" x="{x:.1f}" y="{low[1] + 18:.1f}" text-anchor="middle">{text}</text>'
                f'<text class="tick" x="{low[0] - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
            )
        middle = (low[0] + high[0]) / 2
        self._parts.append(
            f'<text class="axis" x="{middle:.1f}" y="{SIZE - 8}" text-anchor="middle">{escape(x_label)}</text>'
            f'<text class="axis" transform="translate(14 {(low[1] + high[1]) / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text>'
        )

    @staticmethod
    def _at(x: float, y: float) -> tuple[float, float]:
        return LEFT + x * (SIZE - LEFT - RIGHT), SIZE - BOTTOM - y * (SIZE - TOP - BOTTOM)

    def _path(self, points: Iterable[tuple[float, float]]) -> str:
        return "L".join(f"{x:.1f} {y:.1f}" for x, y in (self._at(*point) for point in points))

    def line(self, points: Points, kind: str) -> None:
        """Draw a line; ``kind`` is its class in the style sheet."""
        self._parts.append(f'<path class="{kind}" d="M{self._path(points)}"/>')

    def area(self, low: Points, high: Points, kind: str) -> None:
        """Fill what lies between two lines."""
        self._parts.append(f'<path class="{kind}" d="M{self._path([*low, *reversed(high)])}Z"/>')

    def whisker(self, x: float, low: float, high: float) -> None:
        """Draw an interval as an upright line."""
        (left, bottom), (_, top) = self._at(x, low), self._at(x, high)
        self._parts.append(f'<path class="whisker" d="M{left:.1f} {bottom:.1f}V{top:.1f}"/>')

    def label(self, x: float, y: float, text: str, *, angle: float = 0.0) -> None:
        """Write a word into the plot."""
        left, top = self._at(x, y)
        self._parts.append(
            f'<text class="note" transform="translate({left:.1f} {top:.1f}) rotate({angle:g})">{escape(text)}</text>'
        )

    def spot(self, x: float, y: float, text: str, width: float, *, shown: bool = False) -> None:
        """Add a point that tells its numbers when the pointer is above or below it."""
        left, top = self._at(x, y)
        half = width * (SIZE - LEFT - RIGHT) / 2
        visible = " shown" if shown else ""
        self._parts.append(
            f'<g class="spot{visible}"><title>{escape(text)}</title>'
            f'<rect x="{left - half:.1f}" y="{TOP}" width="{2 * half:.1f}" height="{SIZE - TOP - BOTTOM}"/>'
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="4"/></g>'
        )

    def __str__(self) -> str:
        return "".join(self._parts) + "</svg>"
