"""Methods by name or path, read from TOML and checked, and what they make of a run's settings."""

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from kernwright.core.brief import REMARKS, Intent
from kernwright.core.errors import UserError, unknown_name
from kernwright.core.guidance import Guidance
from kernwright.core.problem import Scalar
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.core.spec import MOST_IN_FLIGHT, Budget
from kernwright.search import methods
from kernwright.search.operators.rendering import variants
from kernwright.search.policies import TABLE as POLICIES
from kernwright.search.policies.bounds import MOST

DEFAULT = methods.DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPolicy:
    """A policy by name, with its settings."""

    name: str
    settings: dict[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodBudget:
    """What a run spends unless it is told otherwise."""

    proposals: int = 45
    in_flight: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One file: the policy, what it asks for, what the operator is told."""

    title: str
    summary: str
    source: str
    """Where it was published; of a variant, which."""
    intents: tuple[Intent, ...]
    policy: MethodPolicy
    guidance: Guidance
    repairs: int = 0
    budget: MethodBudget = MethodBudget()
    deviations: tuple[str, ...] = ()
    """Where it is not what was published, or says more than that."""
    name: str = ""
    """The file's, without `.toml`."""


def names() -> Sequence[str]:
    """Of every method that comes with Kernwright."""
    return methods.names()


def load(name: str) -> Method:
    """The method of this name, or in the file at this path.

    Raises:
        UserError: there is none, or a key of the file is missing, unknown or not what it should be.
    """
    if name in methods.names():
        return parsed(methods.text(name), name, name)
    path = Path(name)
    if path.suffix != ".toml":
        unknown = unknown_name("method", name, methods.names())
        raise UserError(f"{unknown} A file of your own is named by its path, which ends in .toml.")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The method {name} cannot be read: {error}; give a TOML file.") from None
    return parsed(text, path.stem, name)


def parsed(text: str, name: str, where: str) -> Method:
    """The method that a file's text is; `where` is what errors call the file.

    Raises:
        UserError: it is none.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"The method {where} is no TOML: {error}.") from None
    _require_known(table, Method, where, ())
    if "name" in table:
        raise UserError(f"The method {where} has the key 'name'; its name is the file's, so leave it out.")
    try:
        method: Method = TypeAdapter(Method).validate_python({**table, "name": name})
    except ValidationError as error:
        raise _refused(error, where) from None
    _require_sense(method, where)
    return method


def applied(method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a run by this method; what is given explicitly comes before what the method says.

    A budget that is given replaces the method's, and another policy its settings.
    """
    policy = given.get("policy") or method.policy.name
    settings = dict(method.policy.settings) if policy == method.policy.name else {}
    own: dict[str, Any] = {
        "intents": method.intents,
        "guidance": method.guidance,
        "repairs": method.repairs,
        "proposals_in_flight": method.budget.in_flight,
        "budget": Budget(proposals=method.budget.proposals),
    }
    explicit = {key: value for key, value in given.items() if value is not None and value != Budget()}
    settings |= given.get("policy_settings") or {}
    return own | explicit | {"method": method.name, "policy": policy, "policy_settings": settings}


def require_policy(name: str, settings: Mapping[str, Any], where: str = "") -> None:
    """Raises UserError for a policy that is none, or a setting that it does not know or whose value it cannot have;
    `where` is the method that says so."""
    at = f"The method {where}: policy." if where else ""
    try:
        kind = resolve(reference("policies", POLICIES, name))
    except UserError as error:
        raise UserError(f"{at}name: {error}" if at else str(error)) from None
    if not (inspect.isclass(kind) and callable(getattr(kind, "pick", None))):
        raise UserError(f"{at and at + 'name: '}{name!r} is no policy, which is a class with pick(view, n, rng).")
    hints = get_type_hints(kind.__init__, include_extras=True)
    known = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for key, value in settings.items():
        if key not in known:
            unknown = unknown_name(f"setting of policy {name!r},", key, known or ["(it has none)"])
            raise UserError(f"{at}settings: {unknown}" if at else str(unknown))
        require_value(f"policy {name!r}", key, value, hints.get(key, Any), at)
    if (fault := _refused_by(kind, settings)) is not None:
        of = (key for key, value in settings.items() if _refused_by(kind, {key: value}) is not None)
        if (culprit := next(of, None)) is None:
            raise UserError(f"{at}settings: {fault}" if at else f"The policy {name!r}: {fault}")
        said = f"{at}settings.{culprit} is" if at else f"The setting {culprit!r} of policy {name!r} is"
        raise UserError(f"{said} {settings[culprit]!r}: {fault}")


def _refused_by(kind: Any, settings: Mapping[str, Any]) -> UserError | None:
    """What the policy itself says of its settings: some, such as another policy's name, no annotation holds."""
    try:
        kind(**settings)
    except UserError as error:
        return error
    except TypeError:
        pass  # a policy of somebody's own that needs a setting
    return None


def require_value(of: str, key: str, value: object, hint: Any, at: str = "") -> None:
    """Raises UserError where a setting of `of` cannot have the value; `at` is where a file says it."""
    try:
        TypeAdapter(hint).validate_python(value, strict=True)
    except ValidationError as bad:
        said = f"{at}settings.{key} is" if at else f"The setting {key!r} of {of} is"
        raise UserError(f"{said} {value!r}; {_expected(bad)}.") from None


def _require_known(table: Mapping[str, Any], kind: Any, where: str, at: tuple[str, ...]) -> None:
    """A key that nobody reads would be a setting that quietly does not hold."""
    hints = get_type_hints(kind)
    for key, value in table.items():
        if key not in hints:
            known = sorted(set(hints) - {"name"} if kind is Method else hints)
            error = unknown_name("key", ".".join((*at, key)), known)
            raise UserError(f"The method {where}: {error}")
        if is_dataclass(hints[key]) and isinstance(value, dict):
            _require_known(value, hints[key], where, (*at, key))


def _require_sense(method: Method, where: str) -> None:
    require_policy(method.policy.name, method.policy.settings, where)
    limits = {
        "repairs": (method.repairs, 0, MOST),
        "budget.proposals": (method.budget.proposals, 1, MOST),
        "budget.in_flight": (method.budget.in_flight, 1, MOST_IN_FLIGHT),
        **{f"guidance.{name}": (getattr(method.guidance, name), 0, MOST) for name in _counts()},
    }
    for key, (number, least, most) in limits.items():
        if number < least:
            raise UserError(f"The method {where}: {key} is {number}; it must be {least} or more.")
        if number > most:
            raise UserError(f"The method {where}: {key} is {number}; it must be {most} or less.")
    if not 0 <= method.guidance.memory_rate <= 1:
        raise UserError(
            f"The method {where}: guidance.memory_rate is {method.guidance.memory_rate}; it is a share, from 0 to 1."
        )
    known = {*get_args(Intent), *filter(None, (variant for _, variant in variants()))}
    for kind in method.guidance.knowledge_for:
        if kind not in known and ":" not in method.policy.name:
            raise UserError(
                f"The method {where}: guidance.knowledge_for: {unknown_name('intent or variant', kind, known)}"
            )
    if "start" not in method.intents:
        said = f"is {list(method.intents)}, without 'start'" if method.intents else "is empty"
        raise UserError(f"The method {where}: intents {said}; name at least 'start', with which every search begins.")
    if remarks := sorted(REMARKS.intersection(method.intents)):
        raise UserError(
            f"The method {where}: intents has {remarks[0]!r}, which makes no kernel; leave it out, and ask for it by "
            f"kernwright {remarks[0]} RUN."
        )


def _counts() -> list[str]:
    return [f.name for f in fields(Guidance) if f.type in (int, "int")]


def _refused(error: ValidationError, where: str) -> UserError:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return UserError(f"The method {where} has no {key!r}; every method needs it.")
    return UserError(f"The method {where}: {key} is {first['input']!r}; {_expected(error)}.")


def _expected(error: ValidationError) -> str:
    return error.errors(include_url=False)[0]["msg"].replace("Input should be", "it should be")
