"""Other weights for a while, on the reference's side and on the candidate's: a result must follow them."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter

import torch

from kernwright.evaluation.ended import Ended
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.footprint import MOST_SHARE, nbytes_of
from kernwright.evaluation.probes.probe import all_finite
from kernwright.evaluation.problem.cases import Case
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.runner.structure import distinct
from kernwright.evaluation.trial import Trial

from .following import called
from .state import state_of
from .together import exchangeable

Change = Callable[[str, torch.Tensor], torch.Tensor]
"""What becomes of a weight, by its name."""
Rule = Callable[[Case, list[torch.Tensor]], Verdict]
LONG_S = 0.25
"""A module whose making takes longer is not made again for each look."""


def reached(trial: Trial) -> list[str]:
    """Weights that can be changed on both sides: of a lean workload, where copies of them need room, as many as there
    is room for."""
    setting = trial.setting
    unmatched = trial.participant.unmatched(setting.index)
    names = [name for name in setting.followed if name not in unmatched]
    most = setting.reference.place.memory_bytes
    if not setting.lean or most is None:
        return names
    names = [name for name in names if not setting.followed[name].together]
    some, room = list[str](), most // MOST_SHARE
    for name in trial.rng.sample(names, len(names)):
        room -= 2 * nbytes_of([setting.state[name]])
        if room >= 0 or not some:
            some.append(name)
    return some


def follows(
    trial: Trial, names: Sequence[str], change: Change, base: Case, label: str, rule: Rule | None = None
) -> Verdict | None:
    """Whether the result follows a change of these weights, by the rule of error or by another; None where the
    problem's code cannot bear it."""
    setting, reweighed = trial.setting, False
    try:
        with _other(setting, names, change) as put_again:  # an oracle is asked for while they are other ones
            new = setting.case(base.values, label, base.seed)
            if not all_finite(new.native):
                return None
            trial.disguise()
            put_again()  # the reference may change its own: an embedding with `max_norm` does
            reweighed = True
            trial.participant.reweigh(setting.index)
            outputs = trial.run(new.values, move=False)
            return trial.judge(outputs, new, partial(rule, new) if rule else None)
    except Ended:
        reweighed = False
        raise
    finally:  # also where memory did not suffice for the comparison
        if reweighed:
            trial.participant.reweigh(setting.index)


def bears(setting: Setting, name: str, change: Change, base: Case) -> bool:
    """Whether results stay numbers while this weight alone is another one."""
    with _other(setting, [name], change):
        return all_finite(setting.case(base.values, "with another weight", base.seed).native)


def renew(setting: Setting, rng: random.Random) -> bool:
    """Take what weights are from another seed from one more, where integers belong together: whoever keeps what it made
    of those of two seeds has not kept what these are. False where these stay as they were."""
    if not any(weight.together for weight in setting.followed.values()):
        return True
    if setting.built_s > LONG_S:
        return False
    begun, values = perf_counter(), setting.bases[0].values
    build = partial(called, setting.reference, setting.workload, setting.init, rng.getrandbits(48), values)
    made = where_possible(setting.reference, build)
    usable = made is not None and exchangeable(setting.model, made[0])
    if made is not None and usable:
        held = {name: distinct(tensor).cpu() for name, tensor in state_of(made[0]).items()}
        for name, weight in setting.followed.items():
            if weight.other is not None:
                setting.followed[name] = replace(weight, other=held[name])
    setting.built_s = perf_counter() - begun
    return usable


@contextmanager
def _other(setting: Setting, names: Sequence[str], change: Change) -> Iterator[Callable[[], None]]:
    """The reference's weights, and the oracle's, while they are changed. What it gives changes them so once more."""
    double = state_of(setting.double) if setting.double is not None else {}
    kept = {name: distinct(setting.state[name]).clone() for name in names}
    others = {name: change(name, weight) for name, weight in kept.items()}

    def put() -> None:
        for name, weight in others.items():
            _put(setting.state[name], weight, double.get(name))

    put()
    try:
        yield put
    finally:
        for name, weight in kept.items():
            _put(setting.state[name], weight, double.get(name))


def _put(weight: torch.Tensor, value: torch.Tensor, wide: torch.Tensor | None) -> None:
    distinct(weight).copy_(value)
    if wide is not None:
        wide.copy_(value)
