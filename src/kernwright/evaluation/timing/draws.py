"""Values of the calls that are timed."""

import random
from dataclasses import dataclass

from kernwright.evaluation.probes.probe import Probe
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting


@dataclass(slots=True)
class Draws:
    """Values of the calls of one block."""

    setting: Setting
    rng: random.Random
    kind: str | None
    """In what way they differ from the generator's."""
    gated: bool
    """Whether calls wait behind a gate, where the device has one."""
    probe: Probe | None = None
    """Whose values they are, where they are no draws."""
    at_once: bool = False
    """Whether it is looked at once whether a call changed them: other calls on the same input set may follow."""
    _usual: Values | None = None

    def of(self, *, trusted: bool) -> Values:
        """New ones at every call for what is not the problem's own code: it could remember rows of inputs.

        For all where nothing waits behind a gate: a process that was idle longer finds less in the caches, and making
        values takes time.
        """
        if self.probe is not None:
            self.setting.mixed(self.setting.drawn(self.rng), self.kind, self.rng)  # it takes as long as others do
            return self.probe.case.values
        if not (trusted and self.gated) or self.setting.lean:  # recombining takes several cases at a time
            return self.setting.mixed(self.setting.drawn(self.rng), self.kind, self.rng)
        if self._usual is None:
            self._usual = self.setting.mixed(self.setting.recombined(self.rng), self.kind, self.rng)
        return self._usual
