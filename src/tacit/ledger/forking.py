"""What becomes of open ledgers when the process forks (``os.fork``, ``multiprocessing`` with "fork").

A child has a copy of every lock and every connection, but none of the threads that were using them. So a fork waits
until no thread is in the middle of using a ledger, and the child takes over none of the connections.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from typing import Any, Protocol

PATIENCE_SECONDS = 10.0
"""How long a fork waits for other threads. A charge takes milliseconds, but may have to wait for another process."""


class Inherited(Protocol):
    """What a child gets a copy of."""

    turn: Any
    """A lock."""

    def inherit(self, *, torn: bool) -> None:
        """Begin anew in the child. Torn: another thread was in the middle of using the original."""


_known: weakref.WeakValueDictionary[int, Inherited] = weakref.WeakValueDictionary()
_fork = threading.local()


def watch(one: Inherited) -> None:
    """Look after a store whenever the process forks."""
    _known[id(one)] = one


def leak(thing: object) -> None:
    """Keep an object for good. Closing the copy of a connection would end what the parent does with the original."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _before() -> None:
    """Wait for the threads, in one order, so that two forks at once do not wait for each other."""
    _fork.held, _fork.torn = [], []
    end = time.monotonic() + PATIENCE_SECONDS
    for one in filter(None, [reference() for reference in _known.valuerefs()]):
        held = one.turn.acquire(timeout=max(0.0, end - time.monotonic()))
        (_fork.held if held else _fork.torn).append(one)


def _in_parent() -> None:
    for one in _fork.held:
        one.turn.release()
    _fork.held, _fork.torn = [], []


def _in_child() -> None:
    for one in _fork.torn:
        one.turn = threading.RLock()
        one.inherit(torn=True)
    for one in _fork.held:
        one.inherit(torn=False)
    _in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
