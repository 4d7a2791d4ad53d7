from __future__ import annotations

import os
from pathlib import Path

import pytest

ABSENT = "no published data: set TACIT_DATA to their folder, or put it at ../shared/data beside the project"


@pytest.fixture(scope="session")
def folder() -> str:
    """The folder of the published data sets."""
    for place in (os.environ.get("TACIT_DATA"), Path(__file__).parents[3] / "shared" / "data"):
        if place and (Path(place) / "SMSSpamCollection").exists():
            return str(place)
    pytest.skip(ABSENT)
