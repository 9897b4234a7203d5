"""A bundle's bytes: canonical JSON, one spelling for one content. See docs/reference/bundle.md."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from kernwright.core.candidate import Candidate
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.outcome import CheckResult, Evaluation, Samples, Verified
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem
from kernwright.store.codec import decode, encode

from .facts import FORMAT, Bundle, Refused, Sealed, Signature, plain, shown
from .spelling import dumped, require_whole, version_in

LIMIT_BYTES = 16 << 20
PARTS: dict[str, Any] = {
    "candidate": Candidate,
    "checks": tuple[CheckResult, ...],
    "environment": dict[str, str],
    "evaluation": Evaluation,
    "first_samples": tuple[Samples, ...],
    "plan": Plan,
    "problem": Problem,
    "samples": tuple[Samples, ...],
}
"""Each is hashed by itself, so that a refusal can say which was edited."""
KEYS = {"format", "id", "kernwright", "parts", "sha256", "signature"}


def write(bundle: Bundle) -> bytes:
    """The file of an unsigned bundle; the same bundle gives the same bytes.

    Raises:
        UserError: it holds a number that is not finite.
    """
    # Decoded once in between: an integer where a real number belongs becomes one.
    split = _split(bundle).items()
    parts = {name: json.loads(encode(decode(PARTS[name], encode(fact)))) for name, fact in split}
    try:
        return resealed(parts, bundle.kernwright)
    except ValueError:
        raise UserError(
            "This evaluation, or its problem, holds a number that is not finite, and evidence holds finite ones only."
        ) from None


def resealed(parts: Mapping[str, Any], kernwright: str) -> bytes:
    """The file of these parts, whatever they hold; ValueError for numbers that are not finite."""
    texts = {name: dumped(part) for name, part in parts.items()}
    hashes = {name: _sha256(text) for name, text in texts.items()}
    return _assemble(texts, hashes, kernwright, id_of(hashes, kernwright), None)


def with_signature(data: bytes, signature: Signature) -> bytes:
    """The same file, signed; raises Refused as `read`."""
    read(data)
    document = json.loads(data)
    document["signature"] = {"public_key": signature.public_key, "ed25519": signature.ed25519}
    return (dumped(document) + "\n").encode()


def load(path: Path) -> Sealed:
    """The bundle in a file.

    Raises:
        UserError: there is no such file.
        Refused: it is no bundle, or was edited.
    """
    if not path.is_file():
        there = f"{str(path)!r} is no regular file" if path.exists() else f"There is no file {path}"
        raise UserError(f"{there}; `kernwright export RUN` writes a kernel and its bundle.")
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    return read(data)


def read(data: bytes) -> Sealed:
    """The bundle of these bytes, which may be anything.

    Raises:
        Refused: they are no bundle, or what they hold does not have the hashes that they state.
    """
    if len(data) > LIMIT_BYTES:
        raise Refused("file", f"it is larger than {LIMIT_BYTES >> 20} MiB, more than any bundle")
    try:
        return _read(data)
    except RecursionError:
        raise Refused("file", "it is nested deeper than any bundle") from None


def id_of(hashes: Mapping[str, str], kernwright: str) -> str:
    """The identity of a bundle with these parts."""
    return _sha256(dumped({"format": FORMAT, "kernwright": kernwright, "sha256": dict(hashes)}))


def _read(data: bytes) -> Sealed:
    document = _parsed(data)
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise Refused("file", f"it is no bundle of Kernwright's: it is {kind}, and an object was expected")
    if "format" not in document:
        raise Refused("format", "it is no bundle of Kernwright's: it has no field 'format'")
    if document["format"] != FORMAT:
        raise Refused("format", f"its format is {shown(document['format'])}, and this Kernwright reads {FORMAT!r}")
    _require_keys("file", document, KEYS)
    given, hashes, version, id = (document[key] for key in ("parts", "sha256", "kernwright", "id"))
    for name, mapping in (("parts", given), ("sha256", hashes)):
        if not isinstance(mapping, dict):
            raise Refused(name, f"it is {shown(mapping)}, and an object was expected")
        _require_keys(name, mapping, PARTS.keys())
    if not isinstance(version, str) or len(version) > 100:
        raise Refused("kernwright", f"it is {shown(version)}, and a version was expected")
    try:
        texts = {name: dumped(part) for name, part in given.items()}
        spelt = _assemble(texts, hashes, version, id, document["signature"])
    except ValueError:
        raise Refused("file", "it holds a number that is out of range") from None
    if data != spelt:
        raise Refused("file", "it is not spelt as Kernwright writes it, so it was edited")
    for name, text in texts.items():
        if hashes[name] != (found := _sha256(text)):
            raise Refused(name, f"it was edited: its SHA-256 is {found}, and {shown(hashes[name])} was expected")
    if id != (found := id_of(hashes, version)):
        raise Refused("id", f"it is {shown(id)}, and {found} follows from the hashes and the version")
    judge = version_in(given["evaluation"])
    facts = {name: _fact(name, given[name], text, judge) for name, text in texts.items()}
    return Sealed(bundle=_joined(facts, version), id=id, signature=_signature(document["signature"]))


def _parsed(data: bytes) -> Any:
    if not data.strip():
        raise Refused("file", "it is empty; export the kernel again: kernwright export RUN")
    try:
        return json.loads(
            data.decode(),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError:
        raise Refused("file", "it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise Refused("file", f"it is no JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except ValueError:
        raise Refused("file", "it holds an integer of more digits than any bundle") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise Refused("file", f"the key {shown(next(k for k in keys if keys.count(k) > 1))} stands twice in an object")
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise Refused("file", f"it holds {text}, and evidence holds finite numbers only")


def _require_keys(part: str, found: Mapping[str, Any], expected: Any) -> None:
    if missing := sorted(set(expected) - found.keys()):
        raise Refused(part, f"{missing[0]!r} is missing")
    if unknown := sorted(found.keys() - set(expected)):
        raise Refused(part, f"it holds {shown(unknown[0])}, which no bundle has there")


def _fact(name: str, given: Any, text: str, judge: int) -> Any:
    try:
        fact = decode(PARTS[name], text)
    except MachineFault as error:
        raise Refused(name, plain(str(error).removesuffix(" It is damaged."))) from None
    require_whole(name, given, json.loads(encode(fact)), judge)
    return fact


def _signature(given: Any) -> Signature | None:
    if given is None:
        return None
    if not isinstance(given, dict) or given.keys() != {"public_key", "ed25519"}:
        raise Refused("signature", f"it is {shown(given)}, and public_key and ed25519 were expected")
    for name, digits in (("public_key", 64), ("ed25519", 128)):
        value = given[name]
        if not isinstance(value, str) or len(value) != digits or not set(value) <= set("0123456789abcdef"):
            raise Refused("signature", f"its {name} is {shown(value)}, and {digits} hexadecimal digits were expected")
    return Signature(public_key=given["public_key"], ed25519=given["ed25519"])


def _split(bundle: Bundle) -> dict[str, Any]:
    evaluation, outcome = bundle.evaluation, bundle.verified
    timings = replace(outcome.timings, samples=())
    return {
        "candidate": bundle.candidate,
        "checks": evaluation.checks,
        "environment": evaluation.environment,
        "evaluation": replace(
            evaluation, outcome=replace(outcome, timings=timings, first_samples=()), checks=(), environment={}
        ),
        "first_samples": outcome.first_samples,
        "plan": bundle.plan,
        # A bundle goes to other machines, where this one's folders are nobody's business.
        "problem": replace(bundle.problem, origin=Path(bundle.problem.origin).name),
        "samples": outcome.timings.samples,
    }


def _joined(facts: Mapping[str, Any], version: str) -> Bundle:
    evaluation: Evaluation = facts["evaluation"]
    outcome = evaluation.outcome
    if not isinstance(outcome, Verified):
        raise Refused("evaluation", f"the outcome is {outcome.kind}, and a bundle is of a verified one")
    if outcome.timings.samples or outcome.first_samples or evaluation.checks or evaluation.environment:
        raise Refused("evaluation", "it holds samples, checks or an environment, which are parts of their own")
    timings = replace(outcome.timings, samples=facts["samples"])
    return Bundle(
        candidate=facts["candidate"],
        problem=facts["problem"],
        plan=facts["plan"],
        evaluation=replace(
            evaluation,
            outcome=replace(outcome, timings=timings, first_samples=facts["first_samples"]),
            checks=facts["checks"],
            environment=facts["environment"],
        ),
        kernwright=version,
    )


def _assemble(parts: Mapping[str, str], hashes: Any, version: str, id: Any, signature: Any) -> bytes:
    inside = ",".join(f"{json.dumps(name)}:{parts[name]}" for name in sorted(parts))
    return (
        f'{{"format":{dumped(FORMAT)},"id":{dumped(id)},"kernwright":{dumped(version)},'
        f'"parts":{{{inside}}},"sha256":{dumped(hashes)},"signature":{dumped(signature)}}}\n'
    ).encode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
