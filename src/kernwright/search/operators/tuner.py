"""A search over the knobs that a candidate declares, by Optuna."""

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import product
from typing import Any

from kernwright.core.brief import Brief, Draft, Intent, Proposed, Unusable
from kernwright.core.candidate import Candidate, Knob, knobs_of, with_knobs
from kernwright.core.errors import UserError, missing_extra
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.ports import OperatorContext
from kernwright.core.problem import Scalar

Values = dict[str, Scalar]


class Tuner:
    """Tries settings of the parent's knobs one after the other; the best becomes the child.

    Suggestions depend on the brief's seed and on the trials' scores alone, so that after a resume the same ones come
    and those in the journal are not run again.
    """

    name = "tuner"
    intents: frozenset[Intent] = frozenset({"tune"})
    reads = False
    at_target = True

    def __init__(self, context: OperatorContext, *, trials: int = 12) -> None:
        """`trials` is how many settings are tried for one parent, its own defaults not counted.

        Raises:
            UserError: Optuna is not installed, or `trials` is not positive.
        """
        if find_spec("optuna") is None:
            raise missing_extra("The operator 'tuner'", "tune")
        if trials < 1:
            raise UserError(f"The tuner's trials are {trials}; give at least 1.")
        self._context = context
        self._trials = trials

    async def propose(self, brief: Brief) -> Draft:
        """The parent with other defaults, where some were measured as faster."""
        if not brief.parents:
            return self._unusable("there is no candidate to tune")
        parent = brief.parents[0]
        try:
            knobs = tuple(knob for knob in knobs_of(parent.candidate) if len(knob.values) > 1)
        except UserError as error:
            return self._unusable(f"the knobs of node {parent.node} cannot be read: {error}")
        if not knobs:
            return self._unusable(f"node {parent.node} declares no knobs to choose")
        own = _score(parent.evaluation)
        tried = await self._try(brief, parent.candidate, knobs, own)
        if not tried:
            return self._unusable("the budget was spent before the first trial")
        best, values = max(tried, key=lambda pair: pair[0])
        if best == -math.inf:
            return self._unusable(f"none of {len(tried)} trials gave a kernel that could be measured")
        if best <= own:
            return self._unusable(f"the defaults were already best of {len(tried)} trials")
        changed = {knob.name: values[knob.name] for knob in knobs if not _same(values[knob.name], knob.default)}
        setting = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        gain = "where the defaults gave no measured time" if own == -math.inf else f"{math.exp(best - own):.3f}x"
        return Proposed(
            candidate=self._context.put(with_knobs(parent.candidate, changed)),
            operator=self.name,
            item=f"node {brief.node}",
            summary=f"{setting}: {gain} in the best of {len(tried)} trials; to be measured again on fresh data",
            author="Optuna",
            knobs=tuple(changed),
        )

    async def _try(
        self, brief: Brief, candidate: Candidate, knobs: Sequence[Knob], own: float
    ) -> list[tuple[float, Values]]:
        """Score and values of every setting tried, in order; shorter where the budget ended."""
        chosen = _Suggestions(knobs, self._trials, brief.seed)
        chosen.tell({knob.name: knob.default for knob in knobs}, own)
        tried: list[tuple[float, Values]] = []
        while len(tried) < self._trials and (values := chosen.ask()) is not None:
            evaluation = await self._context.trial(brief.node, with_knobs(candidate, values))
            if evaluation is None:
                break
            score = _score(evaluation)
            chosen.tell(values, score)
            tried.append((score, values))
        return tried

    def _unusable(self, reason: str) -> Unusable:
        return Unusable(operator=self.name, reason=reason)


class _Suggestions:
    """Settings to try, never the same twice: the whole grid in random order where it is small, TPE beyond that."""

    def __init__(self, knobs: Sequence[Knob], trials: int, seed: int) -> None:
        import optuna

        self._knobs = knobs
        self._told: set[tuple[int, ...]] = set()
        self._worst = 0.0
        size = math.prod(len(knob.values) for knob in knobs)
        self._size = size
        self._rng = random.Random(seed)
        self._grid: list[tuple[int, ...]] | None = None
        if size <= trials + 1:
            self._grid = list(product(*(range(len(knob.values)) for knob in knobs)))
            self._rng.shuffle(self._grid)
            return
        # An index instead of the value: Optuna tells 1 and True apart no better than Python does.
        self._space: dict[str, optuna.distributions.BaseDistribution] = {
            knob.name: optuna.distributions.CategoricalDistribution(range(len(knob.values))) for knob in knobs
        }
        with _silent():
            sampler = optuna.samplers.TPESampler(
                seed=seed % 2**32, multivariate=True, n_startup_trials=max(4, trials // 3)
            )
            self._study = optuna.create_study(direction="maximize", sampler=sampler)

    def ask(self) -> Values | None:
        """The next setting; None when all were tried."""
        if len(self._told) >= self._size:
            return None
        index = self._sample() if self._grid is None else next(i for i in self._grid if i not in self._told)
        return {knob.name: knob.values[i] for knob, i in zip(self._knobs, index, strict=True)}

    def tell(self, values: Values, score: float) -> None:
        """What a setting was worth; minus infinity for one that failed."""
        index = tuple(_place(knob, values[knob.name]) for knob in self._knobs)
        self._told.add(index)
        if self._grid is not None:
            return
        import optuna

        # A failure must be worse than all that was measured, and finite, for the sampler to learn from it.
        self._worst = min(self._worst, score) if math.isfinite(score) else self._worst
        value = score if math.isfinite(score) else self._worst - 3.0
        params = {knob.name: i for knob, i in zip(self._knobs, index, strict=True)}
        with _silent():
            trial = optuna.trial.create_trial(params=params, distributions=self._space, value=value)
            self._study.add_trial(trial)

    def _sample(self) -> tuple[int, ...]:
        with _silent():
            for _ in range(20):
                trial = self._study.ask(self._space)
                self._study.tell(trial, state=_fail())
                index = tuple(trial.params[knob.name] for knob in self._knobs)
                if index not in self._told:
                    return index
        while True:
            index = tuple(self._rng.randrange(len(knob.values)) for knob in self._knobs)
            if index not in self._told:
                return index


def _fail() -> Any:
    """A suggestion is only read; its result comes back as a trial of its own, which the sampler then sees."""
    from optuna.trial import TrialState

    return TrialState.FAIL


@contextmanager
def _silent() -> Iterator[None]:
    import warnings

    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(before)


def _place(knob: Knob, value: Scalar) -> int:
    exact = (i for i, v in enumerate(knob.values) if _same(v, value))
    return next(exact, knob.values.index(value) if value in knob.values else 0)


def _same(a: Scalar, b: Scalar) -> bool:
    return type(a) is type(b) and a == b


def _score(evaluation: Evaluation | None) -> float:
    """Log speedup; minus infinity where there is none."""
    timings = timings_of(evaluation.outcome) if evaluation is not None else None
    return math.log(timings.speedup.estimate) if timings is not None else -math.inf
