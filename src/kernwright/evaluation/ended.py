"""The end of a participant, with what became of it."""

from kernwright.core.outcome import Outcome


class Ended(Exception):
    """A participant came to an end; `outcome` says which."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.kind)
        self.outcome = outcome
