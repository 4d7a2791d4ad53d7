"""Laws are checked without a stopwatch: a slow machine is not a broken law."""

from hypothesis import settings

settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")
