"""From names in a spec to objects."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_args

from kernwright.core.brief import Intent
from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError, unknown_name
from kernwright.core.jobs import EvalJob
from kernwright.core.model import ModelSpec
from kernwright.core.plan import Plan
from kernwright.core.ports import Executor, Fitness, Inbox, Model, Operator, OperatorContext, Policy
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.core.secrets import require_keyless, scrubbed
from kernwright.core.spec import MOST_IN_FLIGHT, OperatorSpec, Profiling, RunSpec
from kernwright.languages import TABLE as LANGUAGES
from kernwright.models import PROVIDER
from kernwright.models import TABLE as MODELS
from kernwright.platforms import TABLE as PLATFORMS
from kernwright.search.fitness import TABLE as FITNESSES
from kernwright.search.operators import TABLE as OPERATORS
from kernwright.search.picking import Picking
from kernwright.search.policies import TABLE as POLICIES

from .answers import Answers
from .calling import Calls, Worst, record
from .chain import Chain
from .evaluations import Evaluations
from .executors import TABLE as EXECUTORS
from .executors.guarded import guarded
from .journal import Journal
from .lease import share
from .loop import Loop
from .profiles import Profiles
from .second_opinion import SecondOpinion
from .written import recognise

Say = Callable[[str], None]
LLM = "llm"
"""The operator that asks the run's models."""


def check(spec: RunSpec) -> None:
    """Raises UserError for a name that nothing answers to, or a key, before anything is written."""
    reference("policies", POLICIES, spec.policy)
    reference("fitnesses", FITNESSES, spec.fitness)
    reference("executors", EXECUTORS, spec.executor)
    if not spec.elsewhere:
        reference("platforms", PLATFORMS, _platform(spec.target))
    if not spec.operators:
        raise UserError("A run needs at least one operator; name one of: " + ", ".join(sorted(OPERATORS)) + ".")
    for operator in spec.operators:
        reference("operators", OPERATORS, operator.name)
        for name, value in operator.settings.items():
            require_keyless(str(value), f"The setting {name!r} of operator {operator.name!r}")
    for model in spec.models:
        require_keyless(f"{model.name} {model.base_url}", "What is said of a model")
    if any(operator.name == LLM for operator in spec.operators) and not spec.models:
        raise UserError(f"The operator {LLM!r} needs a model to ask; name one with --model PROVIDER:NAME.")
    for model in spec.models:
        model_of(model)
    policy_of(spec)
    for operator in spec.operators:
        if not (spec.elsewhere and at_target(operator)):
            operator_of(operator, idle())
    for name in spec.languages:
        reference("languages", LANGUAGES, name)
    for name in ("proposals_in_flight", "evaluations_in_flight"):
        if not 1 <= getattr(spec, name) <= MOST_IN_FLIGHT:
            raise UserError(f"{name} is {getattr(spec, name)}; it must be at least 1, and at most {MOST_IN_FLIGHT}.")
    if spec.profiles not in get_args(Profiling):
        raise unknown_name("way to look at survivors", spec.profiles, get_args(Profiling))
    if spec.repairs < 0:
        raise UserError(f"repairs is {spec.repairs}; it must be 0 or more.")


def policy_of(spec: RunSpec) -> Policy:
    """The run's policy with its settings, and with what holds for every policy around it."""
    policy: Policy = _made(
        "policy", resolve(reference("policies", POLICIES, spec.policy)), spec.policy, spec.policy_settings
    )
    return Picking(policy, intents=spec.intents, repairs=spec.repairs)


def fitness_of(spec: RunSpec) -> Fitness:
    """The run's fitness."""
    fitness: Fitness = resolve(reference("fitnesses", FITNESSES, spec.fitness))()
    return fitness


def job_of(journal: Journal, home: Path, candidate: Candidate, plan: Plan) -> EvalJob:
    """The job of evaluating a candidate under a plan."""
    target, champion = journal.spec.target, _rival(journal, candidate, plan)
    return EvalJob(
        problem=journal.problem,
        candidate=candidate,
        target=target,
        plan=plan,
        champion=champion,
        champion_language=reference("languages", LANGUAGES, champion.language) if champion else "",
        language=reference("languages", LANGUAGES, candidate.language),
        platform=reference("platforms", PLATFORMS, _platform(target)),
        home=str(home),
        failed_baselines=dict(journal.graph.failed_baselines),
    )


def _rival(journal: Journal, candidate: Candidate, plan: Plan) -> Candidate | None:
    """The verified best so far, which runs beside another candidate when that is confirmed."""
    node = journal.graph.champion() if plan.process_sets else None
    if node is None or node.candidate is None:
        return None
    rival = journal.candidate(node.candidate)
    return None if rival.id == candidate.id else rival


@asynccontextmanager
async def executor_of(spec: RunSpec, home: Path, say: Say) -> AsyncIterator[Executor]:
    """The run's executor; nothing that it started is left afterwards."""
    kind = resolve(reference("executors", EXECUTORS, spec.executor))
    executor: Executor = kind(spec.evaluator, str(home), spec.evaluations_in_flight, say)
    try:
        yield executor
    finally:
        await executor.close()


def model_of(spec: ModelSpec, used: int = 0) -> Model:
    """A model, `used` of whose replies were given before.

    Raises:
        UserError: it cannot be asked: no such provider, no key, no script.
    """
    prefix, colon, rest = spec.name.partition(":")
    if not colon or not prefix or not rest:
        raise UserError(f"The model {scrubbed(spec.name)!r} should look like PROVIDER:NAME, such as openai:NAME.")
    name = reference("models", MODELS, prefix) if ours(prefix) else PROVIDER
    model: Model = resolve(name)(spec, used=used)
    return model


def ours(prefix: str) -> bool:
    """Whether a model's name begins with one of the table or of an entry point, not with a provider's."""
    return prefix in MODELS or any(point.name == prefix for point in entry_points(group="kernwright.models"))


def made_calls(journal: Journal, specs: Sequence[ModelSpec]) -> Calls:
    """Models to be asked for a run; whoever makes them closes them."""
    replies = Counter(call.model for call in journal.graph.calls if call.reply)
    return Calls(journal, [(spec, model_of(spec, replies[spec.name])) for spec in specs])


@asynccontextmanager
async def calls_of(journal: Journal) -> AsyncIterator[Calls]:
    """The run's models, where an operator asks them; their connections are closed afterwards."""
    asking = any(operator.name == LLM for operator in journal.spec.operators)
    calls = made_calls(journal, journal.spec.models if asking else ())
    try:
        yield calls
    finally:
        await calls.close()


def loop_of(
    journal: Journal,
    inbox: Inbox,
    executor: Executor,
    home: Path,
    calls: Calls | None = None,
    say: Say | None = None,
) -> Loop:
    """An engine for this run, which `say`s which briefs wait. To be called inside the event loop."""
    spec, graph, calls = journal.spec, journal.graph, calls or Calls(journal, ())
    answers = Answers(inbox, journal.run, graph, journal.write, say)
    evaluations = Evaluations(journal, executor, fitness_of(spec), partial(job_of, journal, home))
    context = OperatorContext(
        home=home,
        run=journal.run,
        used=frozenset(graph.used_items),
        start=graph.start,
        put=journal.put,
        get=journal.candidate,
        trial=evaluations.trial,
        quiet=partial(share, _platform(spec.target)),
        answers=answers.of,
        ask=calls.ask,
        room=lambda usd: calls.room(Worst(usd=usd, tokens=0)),
        recognise=partial(recognise, named=spec.languages),
        guarded=guarded,
        record=partial(record, journal),
        seeds=graph.seeds,
        knowledge=journal.library,
    )
    operators = [each for each in spec.operators if evaluations.here or not at_target(each)]
    chain = Chain([operator_of(each, context) for each in operators])
    if not evaluations.here:
        graph.exhausted.update(set(get_args(Intent)) - chain.intents)
    asking = spec.guidance.diagnosis_model and any(each.name == LLM for each in spec.operators)
    second = SecondOpinion(calls.ask) if calls is not None and asking else None
    profiles = Profiles(journal, executor, partial(job_of, journal, home), second, wanted=told(spec))
    loop = Loop(journal, policy_of(spec), chain, evaluations, answers, profiles)
    evaluations.allowed = loop.room_for_trial
    return loop


def idle() -> OperatorContext:
    """For operators that are only made, to see whether they can be."""
    return OperatorContext(
        home=Path(),
        run="",
        used=frozenset(),
        start=(),
        put=_unused,
        get=_unused,
        trial=_unused,
        quiet=_unused,
        answers=_unused,
    )


def _unused(*arguments: object) -> Any:
    raise NotImplementedError


def at_target(spec: OperatorSpec) -> bool:
    """Whether the operator works only where the run's target is."""
    return bool(getattr(resolve(reference("operators", OPERATORS, spec.name)), "at_target", False))


def told(spec: RunSpec) -> bool:
    """Whether anybody is told how earlier candidates use the device."""
    kinds = (resolve(reference("operators", OPERATORS, each.name)) for each in spec.operators)
    wanted = (spec.guidance.profile or spec.guidance.diagnosis) and spec.profiles != "none"
    return wanted and any(getattr(kind, "reads", True) for kind in kinds)


def operator_of(spec: OperatorSpec, context: OperatorContext) -> Operator:
    """One operator with its settings."""
    operator: Operator = _made(
        "operator", resolve(reference("operators", OPERATORS, spec.name)), spec.name, spec.settings, context
    )
    return operator


def _made(family: str, kind: Any, name: str, settings: dict[str, Any], *context: OperatorContext) -> Any:
    try:
        return kind(*context, **settings)
    except TypeError as error:
        raise UserError(f"{family} {name!r} does not take the settings {settings!r}: {error}.") from error


def _platform(target: str) -> str:
    return target.partition(":")[0]
