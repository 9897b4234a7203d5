"""Facts to JSON and back. Pydantic is the only codec; the facts themselves do not know it."""

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, SchemaValidator
from pydantic_core import to_json as to_json_bytes

from kernwright.core.candidate import Candidate
from kernwright.core.errors import MachineFault
from kernwright.core.events import Event

T = TypeVar("T")


def encode(fact: object) -> bytes:
    """JSON that `decode` turns into an equal fact, Infinity and NaN included.

    They are written as the constants `Infinity` and `NaN`: as text, an infinite setting could not be told
    from the text "Infinity". Half of a surrogate pair, which UTF-8 cannot hold, becomes its escape in plain text.
    """
    return _json(fact, "constants")


def to_json(fact: object) -> bytes:
    """Strict JSON for programs other than Kernwright: Infinity and NaN are the texts "Infinity" and "NaN"."""
    return _json(fact, "strings")


def decode(type: type[T], data: bytes | str) -> T:
    """The fact of this type (a class, or a union of classes told apart by `kind`).

    Raises:
        MachineFault: the bytes are no such fact.
    """
    try:
        return _validator(type).validate_json(data)  # type: ignore[no-any-return, arg-type]
    except ValidationError as error:
        raise _damaged(getattr(type, "__name__", None) or str(type), error) from error


def encode_event(event: Event) -> bytes:
    """The journal's form of an event."""
    return encode(event)


def decode_event(data: bytes | str) -> Event:
    """The event; raises MachineFault where the text is none."""
    try:  # not by `decode`: a journal is read in one go, and its calls are a tenth of the time
        return _validator(Event).validate_json(data)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _damaged("Event", error) from error


def encode_candidate(candidate: Candidate) -> bytes:
    """The blob of a candidate; the same candidate always has the same blob."""
    return encode(candidate)


def decode_candidate(data: bytes) -> Candidate:
    """The candidate of a blob; raises MachineFault where the bytes are none."""
    return decode(Candidate, data)


def _damaged(name: str, error: ValidationError) -> MachineFault:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the top"
    return MachineFault(f"The stored {name} cannot be read: at {where}, {first['msg']}. It is damaged.")


def _json(fact: object, inf_nan: Any) -> bytes:
    try:
        return to_json_bytes(fact, inf_nan_mode=inf_nan)
    except PydanticSerializationError:
        plain = TypeAdapter(Any).dump_python(fact)
        return to_json_bytes(_without_surrogates(plain), inf_nan_mode=inf_nan)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(v) for v in value]
    return value


@cache
def _validator(type: Any) -> SchemaValidator:
    schema: Any = TypeAdapter(type).core_schema
    definitions = {part["ref"]: part for part in schema.get("definitions", ())}
    return SchemaValidator(_keyed(schema, definitions))


def _keyed(part: Any, definitions: dict[str, Any]) -> Any:
    """The schema with every union of classes that have a `kind` decoded by one look at the `kind`.

    Left as it is, pydantic tries all members: four times slower for a journal, and an error names all of them.
    """
    if isinstance(part, list):
        return [_keyed(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "union":
        kinds = [_kind(choice, definitions) for choice in part["choices"]]
        if all(kinds):
            choices = dict(zip(kinds, part["choices"], strict=True))
            part = {"type": "tagged-union", "discriminator": "kind", "choices": choices}
    return {key: _keyed(item, definitions) for key, item in part.items()}


def _kind(choice: Any, definitions: dict[str, Any]) -> str | None:
    if isinstance(choice, dict) and choice.get("type") == "definition-ref":
        choice = definitions[choice["schema_ref"]]
    if not isinstance(choice, dict) or choice.get("type") != "dataclass":
        return None
    for field in choice["schema"].get("fields", ()):
        if field["name"] == "kind":
            literal = field["schema"]
            while literal["type"] == "default":
                literal = literal["schema"]
            return str(literal["expected"][0]) if literal["type"] == "literal" else None
    return None
