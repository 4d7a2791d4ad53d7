"""Released curves as data: ``curve.json``. Public side; what is read is checked, and nothing in it is executed."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from tacit.desk.cutting import splits
from tacit.desk.roc_family import Counted
from tacit.desk.scores import Binned
from tacit.errors import ModelError, bad_parameter
from tacit.evaluation.curve import RocCurve
from tacit.evaluation.family import FamilyCurve
from tacit.privacy.grid import CELLS
from tacit.privacy.hierarchy import FORMS, Layout
from tacit.privacy.release import Receipt

FORMAT = "tacit-curve"
VERSION = 1


def curve_to_dict(curve: RocCurve) -> dict[str, Any]:
    """A curve as plain data: the release that it is read from."""
    release = curve.release
    label = curve.pos_label.item() if isinstance(curve.pos_label, np.generic) else curve.pos_label
    head = {"format": FORMAT, "version": VERSION, "pos_label": label, "score_range": list(curve.score_range)}
    return head | {"release": {field.name: _plain(getattr(release, field.name)) for field in fields(release)}}


def save_curve(curve: RocCurve, path: str | Path) -> None:
    """Write a curve as JSON."""
    text = json.dumps(curve_to_dict(curve), ensure_ascii=False, allow_nan=False)
    try:
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise bad_parameter("save", "path", f"writable ({error.strerror})", str(path), "Make room there.") from None


def _plain(value: Any) -> Any:
    """Numbers and words; lists of them; or names with them."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Layout):
        return asdict(value)
    return value.to_dict() if isinstance(value, Receipt) else value


def load_curve(path: str | Path) -> RocCurve:
    """Read a curve that ``curve.save``, `tacit run` or `tacit evaluate` wrote; it is the same to the last bit.

    Parameters
    ----------
    path : str or Path
        The file, or the folder of a run.

    Examples
    --------
    >>> import tempfile, tacit
    >>> curve = tacit.roc_curve([0, 1] * 500, [0.2, 0.7] * 500, epsilon=1.0, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     curve.save(f"{folder}/curve.json")
    ...     tacit.load_curve(f"{folder}/curve.json").auc == curve.auc
    True
    """
    file = Path(path) / "curve.json" if Path(path).is_dir() else Path(path)
    place = str(file)
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"The curve file {place!r} cannot be read: {error.strerror}. Check the path.") from None
    except (ValueError, RecursionError):
        raise _unusable(place, "it is not valid JSON") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        model = isinstance(body, dict) and body.get("format") == "tacit-model"
        what = "it is a model, which tacit.load reads; to compare two models, add their private set as DATA"
        other = "it is no curve of tacit's. Curves are written by curve.save, 'tacit run' and 'tacit evaluate'"
        raise _unusable(place, what if model else other)
    if body.get("version") != VERSION:
        raise _unusable(place, f"it has version {body.get('version')!r}, and this tacit reads {VERSION}")
    try:
        return _curve(body)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unusable(place, f"a part of it is missing or makes no sense ({type(error).__name__})") from None


def _curve(body: dict[str, Any]) -> RocCurve:
    release = dict(body["release"])
    release["cuts"] = np.array(release["cuts"], dtype=np.int64)
    release["receipt"] = Receipt(release["receipt"])
    if release["totals"] is not None:
        release["totals"] = np.array(release["totals"], dtype=np.int64)
    cuts, bins = release["cuts"], len(release["cuts"]) - 1
    low, high = (float(end) for end in body["score_range"])
    fits = (
        bins >= 2
        and (cuts[0], cuts[-1]) == (0, CELLS)
        and bool((np.diff(cuts) >= 0).all())
        and math.isfinite(high - low)
        and low < high
    )
    if not fits:
        raise ValueError
    if "layout" in release:
        return FamilyCurve(_counted(release, bins), (low, high), body["pos_label"])
    return RocCurve(_binned(release, bins), (low, high), body["pos_label"])


def _binned(release: dict[str, Any], bins: int) -> Binned:
    """The release behind a curve of the default method."""
    release["counts"] = tuple(np.array(part, dtype=np.int64) for part in release["counts"])
    even = bins if bins & (bins - 1) == 0 else bins - 2  # in older files all intervals were halved as often
    release["depths"] = np.array(release.get("depths", [even.bit_length() - 1] * even), dtype=np.int64)
    splits(release["depths"])
    release["weights"] = tuple(int(weight) for weight in release["weights"])
    binned = Binned(**release)
    scales = (binned.noise_scale, binned.totals_scale, binned.tied_scale, binned.level_rate)
    fits = (
        bins - len(binned.depths) in (0, 2)
        and (not binned.apart or (binned.cuts[1], binned.cuts[-2]) == (1, CELLS - 1))
        and [len(part) for part in binned.counts] == [bins, bins]
        and len(binned.totals) == len(binned.weights) == 2
        and min(binned.weights) > 0
        and all(math.isfinite(scale) and scale > 0 for scale in scales)
    )
    if not fits:
        raise ValueError
    return binned


def _counted(release: dict[str, Any], bins: int) -> Counted:
    """The release behind a curve of the paper's family."""
    release["layout"] = layout = Layout(**release["layout"])
    release["released"] = np.array(release["released"], dtype=np.int64)
    counted = Counted(**release)
    fits = (
        layout.form in FORMS
        and layout.bins == bins
        and bins & (bins - 1) == 0
        and isinstance(layout.branching, int)
        and layout.branching >= 2
        and counted.released.shape == (2, layout.size)
        and (counted.totals is None or counted.totals.shape == (2,))
        and all(math.isfinite(scale) and scale > 0 for scale in (counted.noise_scale, counted.totals_scale))
    )
    if not fits:
        raise ValueError
    return counted


def _unusable(place: str, why: str) -> ModelError:
    return ModelError(f"The curve file {place!r} cannot be used: {why}.")
