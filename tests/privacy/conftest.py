"""Laws are checked without a stopwatch: a slow machine is not a broken law. Failures are shrunk, not explained."""

from hypothesis import Phase, settings

_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
settings.register_profile("tacit", deadline=None, phases=_PHASES)
settings.load_profile("tacit")
