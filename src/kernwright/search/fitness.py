"""What an evaluation is worth."""

import math

from kernwright.core.outcome import Evaluation, timings_of

TABLE = {
    "log_speedup": "kernwright.search.fitness:LogSpeedup",
}


class LogSpeedup:
    """Natural logarithm of the speedup over the faster baseline."""

    name = "log_speedup"

    def score(self, evaluation: Evaluation) -> float | None:
        """None for whatever was not measured."""
        timings = timings_of(evaluation.outcome)
        if timings is None or not 0 < timings.speedup.estimate < math.inf:
            return None
        return math.log(timings.speedup.estimate)
