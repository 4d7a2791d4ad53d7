from __future__ import annotations

from hypothesis import settings

# How long an example takes depends on who else uses the machine; correctness does not.
settings.register_profile("data", deadline=None)
settings.load_profile("data")
