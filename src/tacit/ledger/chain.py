"""Entries of the journal and the hash chain that ties them together. Append-only; nothing here touches storage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tacit.errors import TamperedLedgerError

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Row:
    """One entry as it is stored. ``body`` is canonical JSON text, hashed as it stands."""

    account: str
    seq: int
    at: str
    kind: str
    body: str
    prev: str
    hash: str

    @property
    def fields(self) -> dict[str, Any]:
        """The body, parsed."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


def canonical(body: dict[str, Any]) -> str:
    """Write JSON in the one form that is hashed."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def link(account: str, last_seq: int, last_hash: str, kind: str, body: dict[str, Any]) -> Row:
    """Make the entry that follows the last one."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    text = canonical(body)
    seq = last_seq + 1
    return Row(account, seq, at, kind, text, last_hash, _hash(account, seq, at, kind, text, last_hash))


def check_links(account: str, rows: Iterable[Row], last_seq: int = 0, last_hash: str = GENESIS) -> tuple[int, str]:
    """Follow the chain from a known point; raise if an entry was edited, removed, inserted or reordered."""
    for row in rows:
        true_hash = _hash(row.account, row.seq, row.at, row.kind, row.body, row.prev)
        if row.account != account or row.seq != last_seq + 1 or row.prev != last_hash or row.hash != true_hash:
            raise tampered(account, last_seq + 1)
        last_seq, last_hash = row.seq, row.hash
    return last_seq, last_hash


def tampered(account: str, seq: int) -> TamperedLedgerError:
    """Say where the chain breaks, and what to do."""
    return TamperedLedgerError(
        f"The ledger of account {account!r} was changed from outside: its chain breaks at entry {seq}. "
        "Nothing is charged or released until this is settled: restore the ledger from a backup, "
        "or open a new ledger and count everything released so far as spent."
    )


def _hash(account: str, seq: int, at: str, kind: str, body: str, prev: str) -> str:
    parts = "".join(f"{len(part.encode())}:{part}" for part in (prev, account, str(seq), at, kind, body))
    return hashlib.sha256(parts.encode()).hexdigest()
