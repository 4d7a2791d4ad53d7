from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.support import postgres

# Laws are checked without a stopwatch: a slow machine is not a broken law. Failures are shrunk, not explained.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
settings.register_profile("tacit", deadline=None, phases=_PHASES)
settings.load_profile("tacit")

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A real PostgreSQL server."""
    programs = postgres.find_programs()
    if programs is None:
        pytest.skip(postgres.NO_SERVER)
    running = postgres.Server(programs)
    yield running
    running.stop()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str | None]:
    """Make the URL of a ledger that does not exist yet, for each kind of store."""
    return url_maker(request.param, request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def new_durable_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Make the URL of a ledger that does not exist yet, for each store that outlives a process."""
    return url_maker(request.param, request, tmp_path)  # type: ignore[return-value]


def url_maker(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str | None]:
    if kind == "memory":
        return lambda: None
    if kind == "sqlite":
        return lambda: f"sqlite:///{tmp_path}/ledger{next(_NUMBERS)}.db"
    running: postgres.Server = request.getfixturevalue("server")
    return lambda: running.create(f"ledger{next(_NUMBERS)}")
