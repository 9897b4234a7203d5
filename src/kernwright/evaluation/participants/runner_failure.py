"""How a runner can fail the judge. Whenever one of these is raised, every process of that runner is dead."""


class RunnerFailure(Exception):
    """`reason` is a sentence fragment for the reader; `log` the tail of what the runner printed."""

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.log = log


class RunnerDied(RunnerFailure):
    """It ended on its own: a signal, or an exit."""


class RunnerOverdue(RunnerFailure):
    """It did not answer within `limit_s`."""

    def __init__(self, limit_s: float, log: str = "") -> None:
        super().__init__(f"no answer within {limit_s:g} s", log)
        self.limit_s = limit_s


class RunnerBabble(RunnerFailure):
    """It broke the protocol: too long, malformed, out of turn, or a closed socket."""


class RunnerHog(RunnerFailure):
    """The watchdog struck: memory, or processes and threads."""
