"""Receipts: read-only, equal by content, and JSON wherever they stand."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

import tacit

FIELDS = {"mechanism": "discrete Laplace", "epsilon": 1.0, "noise": {"scale": "1"}, "δ": None}
RECEIPT = tacit.Receipt(FIELDS)


def test_a_receipt_is_json_wherever_it_stands() -> None:
    assert json.loads(json.dumps(RECEIPT)) == FIELDS
    assert json.loads(json.dumps({"receipts": [RECEIPT]}, indent=1)) == {"receipts": [FIELDS]}
    curve = tacit.roc_curve([0, 1] * 50, [0.2, 0.8] * 50, epsilon=1.0, random_state=0)
    assert json.loads(json.dumps(curve.receipt)) == curve.receipt.to_dict()


def test_a_receipt_is_a_mapping_that_equals_its_content() -> None:
    assert isinstance(RECEIPT, Mapping)
    assert dict(RECEIPT) == FIELDS == RECEIPT
    assert list(RECEIPT) == list(FIELDS)
    for twin in (copy.copy(RECEIPT), copy.deepcopy(RECEIPT), pickle.loads(pickle.dumps(RECEIPT))):
        assert type(twin) is tacit.Receipt
        assert twin == RECEIPT
    assert repr(RECEIPT).split()[:2] == ["mechanism", "discrete"]


def _assign(receipt: Any) -> None:
    receipt["epsilon"] = 0.1


def _delete(receipt: Any) -> None:
    del receipt["epsilon"]


def _merge(receipt: Any) -> None:
    receipt |= {"epsilon": 0.1}


@pytest.mark.parametrize(
    "change",
    [
        _assign,
        _delete,
        _merge,
        lambda receipt: receipt.update(epsilon=0.1),
        lambda receipt: receipt.pop("epsilon"),
        lambda receipt: receipt.popitem(),
        lambda receipt: receipt.setdefault("new", 1),
        lambda receipt: receipt.clear(),
    ],
)
def test_a_receipt_is_read_only(change: Any) -> None:
    receipt = tacit.Receipt(FIELDS)
    with pytest.raises(TypeError, match="read-only"):
        change(receipt)
    assert receipt == FIELDS
    changed = receipt.to_dict()
    changed["noise"]["scale"] = "2"
    assert receipt == FIELDS
