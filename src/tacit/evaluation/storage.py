"""Released curves as data: ``curve.json``. Public side; what is read is checked, and nothing in it is executed."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tacit.desk.scores import Binned
from tacit.errors import ModelError
from tacit.evaluation.curve import RocCurve
from tacit.privacy.grid import CELLS
from tacit.privacy.release import Receipt

FORMAT = "tacit-curve"
VERSION = 1

_ARRAYS = ("cuts", "totals")


def curve_to_dict(curve: RocCurve) -> dict[str, Any]:
    """A curve as plain data: the release that it is read from."""
    binned: dict[str, Any] = {}
    for field in fields(Binned):
        value = getattr(curve.release, field.name)
        if field.name == "counts":
            value = [part.tolist() for part in value]
        elif isinstance(value, np.ndarray | tuple):
            value = [int(entry) for entry in value]
        elif isinstance(value, Receipt):
            value = value.to_dict()
        binned[field.name] = value
    label = curve.pos_label.item() if isinstance(curve.pos_label, np.generic) else curve.pos_label
    head = {"format": FORMAT, "version": VERSION, "pos_label": label, "score_range": list(curve.score_range)}
    return head | {"release": binned}


def load_curve(path: str | Path) -> RocCurve:
    """Read a curve back; it is the same to the last bit."""
    place = str(path)
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"The curve file {place!r} cannot be read: {error.strerror}. Check the path.") from None
    except (ValueError, RecursionError):
        raise _unusable(place, "it is not valid JSON") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise _unusable(place, "it is no curve of tacit's. Curves are written by 'tacit run' and 'tacit evaluate'")
    if body.get("version") != VERSION:
        raise _unusable(place, f"it has version {body.get('version')!r}, and this tacit reads {VERSION}")
    try:
        return _curve(body)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unusable(place, f"a part of it is missing or makes no sense ({type(error).__name__})") from None


def _curve(body: dict[str, Any]) -> RocCurve:
    release = dict(body["release"])
    release["counts"] = tuple(np.array(part, dtype=np.int64) for part in release["counts"])
    release |= {name: np.array(release[name], dtype=np.int64) for name in _ARRAYS}
    release["weights"] = tuple(int(weight) for weight in release["weights"])
    release["receipt"] = Receipt(release["receipt"])
    binned = Binned(**release)
    cuts, bins = binned.cuts, len(binned.cuts) - 1
    low, high = (float(end) for end in body["score_range"])
    scales = (binned.noise_scale, binned.totals_scale, binned.level_rate)
    fits = (
        bins >= 2
        and bins & (bins - 1) == 0
        and (cuts[0], cuts[-1]) == (0, CELLS)
        and bool((np.diff(cuts) >= 0).all())
        and [len(part) for part in binned.counts] == [bins, bins]
        and len(binned.totals) == len(binned.weights) == 2
        and min(binned.weights) > 0
        and all(math.isfinite(scale) and scale > 0 for scale in scales)
        and math.isfinite(high - low)
        and low < high
    )
    if not fits:
        raise ValueError
    return RocCurve(binned, (low, high), body["pos_label"])


def _unusable(place: str, why: str) -> ModelError:
    return ModelError(f"The curve file {place!r} cannot be used: {why}.")
