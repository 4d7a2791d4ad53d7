"""Laws are checked without a stopwatch, for a slow machine is no broken law, and failures are not explained at length."""

from hypothesis import Phase, settings

_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
settings.register_profile("tacit", deadline=None, phases=_PHASES)
settings.load_profile("tacit")
