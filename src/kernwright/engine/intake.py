"""What a person hands in - paths, names, key=value - as facts."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError, unknown_name
from kernwright.core.guidance import Guidance
from kernwright.core.jobs import EvalJob
from kernwright.core.model import ModelSpec
from kernwright.core.note import Pack
from kernwright.core.plan import PLANS, Plan
from kernwright.core.ports import ProblemSource
from kernwright.core.problem import Problem, Rules, Scalar
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.core.spec import ELSEWHERE, Memory, OperatorSpec, RunSpec
from kernwright.languages import TABLE as LANGUAGES
from kernwright.platforms import TABLE as PLATFORMS
from kernwright.problems import TABLE as PROBLEMS
from kernwright.problems.file import PRECISIONS
from kernwright.problems.sources import read_candidate
from kernwright.search.operators import TABLE as OPERATORS
from kernwright.store.disk import made_writable

from . import methods
from .chosen_models import asked_last, models_of, one_at_a_time
from .shelves import packs_of
from .targets import here, target_of
from .written import language_of, recognise

HOME = "KERNWRIGHT_HOME"
OWN_KERNELS = "own-kernels"
_CHOICES = {"vendor_libraries": ("allowed", "forbidden"), "precision": PRECISIONS}


def home_of(home: str | Path | None) -> Path:
    """The folder of runs and caches: as given, else `$KERNWRIGHT_HOME`, else `./.kernwright`."""
    return Path(home or os.environ.get(HOME) or ".kernwright").absolute()


def writable_home(home: str | Path | None) -> Path:
    """The same, made where it is not there.

    Raises:
        UserError: it cannot be written.
    """
    return made_writable(home_of(home))


def problem_of(path: str | Path, rules: Mapping[str, Scalar] | None = None) -> Problem:
    """The problem at a path, or of `SOURCE:ID`, with some of its rules replaced.

    Raises:
        UserError: there is none, or a rule or its value is unknown.
    """
    problem = _problem(str(path))
    require_rules(rules or {})
    changed: dict[str, object] = dict(rules or {})
    return replace(problem, rules=replace(problem.rules, **changed)) if changed else problem  # type: ignore[arg-type]


def _problem(path: str) -> Problem:
    name, colon, id = path.partition(":")
    by_name = colon and name.isidentifier() and not Path(path).exists()
    source: ProblemSource = resolve(reference("problems", PROBLEMS, name if by_name else "file"))()
    return source.load(id if by_name else path)


def require_rules(rules: Mapping[str, Scalar]) -> None:
    """Raises UserError for a rule, or a value of one, that is unknown."""
    known = [f.name for f in fields(Rules)]
    for name, value in rules.items():
        if name not in known:
            raise unknown_name("rule", name, known)
        if name in _CHOICES and value not in _CHOICES[name]:
            raise UserError(f"The rule {name!r} cannot be {value!r}; it is one of: {', '.join(_CHOICES[name])}.")
        if name not in _CHOICES and not isinstance(value, bool):
            raise UserError(f"The rule {name!r} is true or false; it cannot be {value!r}.")


def candidate_of(
    path: str | Path, target: str, language: str | None = None, *, here: bool = True, named: Sequence[str] = ()
) -> Candidate:
    """The candidate at a path, in a language that can be built here; in any language unless `here`.

    Languages from outside are recognised where they are `named`.

    Raises:
        UserError: it cannot be read, or its language does not work on this machine.
    """
    if language is not None:
        reference("languages", LANGUAGES, language)
    candidate = read_candidate(Path(path), language, partial(recognise, named=named))
    if not here:
        return candidate
    support = language_of(candidate.language).supports(target)
    if not support.ok:
        raise UserError(f"{path} cannot be built here: {support.reason}")
    return candidate


def target_for(path: str | Path, target: str | None, language: str | None = None) -> str:
    """Where the candidate at a path is to be judged: as named, else the first target that its language suits.

    That may be one that is not here: the candidate is then built, and emulated where something can do that.

    Raises:
        UserError: it cannot be read, or the target is unknown.
    """
    if language is not None:
        reference("languages", LANGUAGES, language)
    written = language_of(read_candidate(Path(path), language, recognise).language)
    return target_of(target, absent=True, suits=lambda each: written.supports(each).ok)


def plan_of(name: str, threads: int = 1, *, here: bool = True) -> Plan:
    """The plan of this name, with a number of threads.

    Raises:
        UserError: there is no such plan, or the machine, where it is to be timed `here`, has fewer cores.
    """
    if name not in PLANS:
        raise unknown_name("plan", name, PLANS)
    if not here and threads >= 1:
        return replace(PLANS[name], threads=threads)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not 1 <= threads <= cores:
        raise UserError(
            f"{threads} threads cannot be timed here; give a number from 1 to {cores}, the cores there are."
        )
    return replace(PLANS[name], threads=threads)


def spec_of(settings: Mapping[str, object]) -> RunSpec:
    """A run's settings by name; `plan` and `confirm_plan` may be a plan's name, with `threads` beside them, and
    `models` names, `knowledge` folders.

    A `method`, by name or path, says what is not given. A run for a target that only another machine has is judged
    there, by jobs.

    Raises:
        UserError: a setting is unknown, or its value is, or the executor cannot reach the target.
    """
    method = settings.get("method")
    given = dict(settings) if method is None else methods.applied(methods.load(str(method)), settings)
    threads, target, executor = (given.pop(name, None) for name in ("threads", "target", "executor"))
    if isinstance(folders := given.get("knowledge"), list | tuple):
        given["knowledge"] = (*(f for f in folders if isinstance(f, Pack)), *packs_of(_paths(folders)))
    if given.get("memory") is not None:
        remembering(given)
    if named := given.get("models"):
        models = models_of([m for m in cast(Sequence[ModelSpec | str], named) if isinstance(m, str)])
        models = (*(m for m in cast(Sequence[ModelSpec | str], named) if isinstance(m, ModelSpec)), *models)
        operators = tuple(cast(Sequence[OperatorSpec], given.get("operators") or ()))
        greedy = (given.get("policy") or "greedy") == "greedy" and not given.get("policy_settings")
        given |= {"models": models, "operators": asked_last(operators, models, greedy=greedy)}
        if settings.get("proposals_in_flight") is None and one_at_a_time(models):
            given["proposals_in_flight"] = 1
    known = [f.name for f in fields(RunSpec)]
    for name in given:
        if name not in known:
            raise unknown_name("setting of a run", name, [*known, "threads"])
    where = target_of(cast(str | None, target), absent=True)
    present = where in here()
    if not present and executor not in (None, ELSEWHERE):
        raise UserError(
            f"{where!r} is not on this machine, so the executor {executor!r} has nothing to run on; leave it out, and "
            "have the run judged where the target is: kernwright jobs"
        )
    for name, default in (("plan", "quick"), ("confirm_plan", "full")):
        if isinstance(plan := given.get(name, default), str):
            given[name] = plan_of(plan, cast(int | None, threads) or 1, here=present)
    given = {name: value for name, value in given.items() if value is not None}
    if executor is not None or not present:
        given["executor"] = executor or ELSEWHERE
    spec = replace(RunSpec(target=where), **given)
    require_settings(spec)
    return spec


def _paths(folders: Iterable[object]) -> list[str]:
    return [str(folder) for folder in folders if not isinstance(folder, Pack)]


def remembering(given: dict[str, Any]) -> None:
    """Check what a run is to remember; where that is nothing, its guidance tells nothing of it either.

    Raises:
        UserError: there is no such memory.
    """
    if given["memory"] not in get_args(Memory):
        raise UserError(f"The memory {given['memory']!r} is none; it is one of: {', '.join(get_args(Memory))}.")
    if given["memory"] == "off":
        guidance = given.get("guidance") or Guidance()
        given["guidance"] = replace(guidance, memory="none", failures=0, insights=0, mended=0)


def require_settings(spec: RunSpec) -> None:
    """Raises UserError for a setting that its operator or policy does not know, before a run is made."""
    methods.require_policy(spec.policy, spec.policy_settings)
    for operator in spec.operators:
        kind = resolve(reference("operators", OPERATORS, operator.name))
        known = [p.name for p in signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
        hints = get_type_hints(kind.__init__)
        for setting, value in operator.settings.items():
            if setting not in known:
                raise unknown_name(f"setting of operator {operator.name!r},", setting, known or ["(it has none)"])
            methods.require_value(f"operator {operator.name!r}", setting, value, hints.get(setting, Any))


def job_of(
    problem: Problem, candidate: Candidate, target: str, plan: Plan, home: Path, champion: Candidate | None = None
) -> EvalJob:
    """One evaluation."""
    return EvalJob(
        problem=problem,
        candidate=candidate,
        target=target,
        plan=plan,
        language=reference("languages", LANGUAGES, candidate.language),
        platform=reference("platforms", PLATFORMS, target.partition(":")[0]),
        home=str(home),
        champion=champion,
        champion_language=reference("languages", LANGUAGES, champion.language) if champion else "",
    )


def settings_of(texts: Sequence[str], what: str) -> dict[str, Scalar]:
    """`key=value` texts, each of which may hold several with commas between; a value may hold commas too.

    Raises:
        UserError: one has no `=`.
    """
    return {key: scalar(text) for key, text in texts_of(texts, what).items()}


def texts_of(texts: Sequence[str], what: str) -> dict[str, str]:
    """The same as they were written."""
    found: dict[str, str] = {}
    for text in (part for each in texts for part in re.split(r",(?=\s*\w+=)", each)):
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UserError(f"{what} {text!r} should look like key=value.")
        found[key.strip()] = value.strip()
    return found


def operator_spec(name: str, texts: Mapping[str, str]) -> OperatorSpec:
    """An operator with settings as they were written: what is a text to it stays one, such as a command `true`.

    Raises:
        UserError: there is no such operator.
    """
    hints = get_type_hints(resolve(reference("operators", OPERATORS, name)).__init__)
    return OperatorSpec(
        name=name, settings={key: text if hints.get(key) is str else scalar(text) for key, text in texts.items()}
    )


def rules_of(texts: Sequence[str]) -> dict[str, Scalar]:
    """Rules as `key=value`, or `own-kernels` for `vendor_libraries=forbidden`."""
    found: dict[str, Scalar] = {}
    for text in (part.strip() for each in texts for part in each.split(",")):
        if text == OWN_KERNELS:
            found["vendor_libraries"] = "forbidden"
        elif "=" in text:
            found |= settings_of([text], "The rule")
        else:
            raise unknown_name("rule", text, [OWN_KERNELS, *(f"{f.name}=..." for f in fields(Rules))])
    return found


def scalar(text: str) -> Scalar:
    """A bool, a number, or the text itself."""
    if text.lower() in ("true", "yes", "false", "no"):
        return text.lower() in ("true", "yes")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
