"""What is proposed: source files and the knobs that they declare."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from .digest import digest
from .errors import UserError
from .problem import Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One text file; `name` is relative, without directories."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Source of a kernel. The first file is Python and holds `class ModelNew` or `def kernel`."""

    language: str
    files: tuple[SourceFile, ...]

    @property
    def id(self) -> str:
        """Digest of language and files."""
        return digest((self.language, self.files))

    @property
    def main(self) -> SourceFile:
        """The Python file that is imported."""
        return self.files[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A module-level constant that the candidate lets a tuner choose."""

    name: str
    values: tuple[Scalar, ...]
    default: Scalar


@lru_cache(maxsize=1)  # a tree can be large, and what is asked for again is the last
def parsed(text: str) -> ast.Module:
    """Python's tree of a source, not to be changed: whoever reads a reply asks for the same one several times.

    Raises:
        SyntaxError: it is not Python, or so deep that nobody can read it.
    """
    try:
        return ast.parse(text)
    except (RecursionError, MemoryError):
        raise SyntaxError("it is nested too deeply") from None


def entry_of(candidate: Candidate) -> str | None:
    """`ModelNew` or `kernel`, whichever the main file defines at module level; None where neither.

    Raises:
        SyntaxError: the main file is not Python.
    """
    statements = module_level(parsed(candidate.main.text).body)
    return entry_among(name for node in statements for name in names_of(node))


def entry_among(names: Iterable[str]) -> str | None:
    """Which of the two names of an entry is there; `ModelNew` before `kernel`."""
    found = {*names}
    return next((entry for entry in ("ModelNew", "kernel") if entry in found), None)


def module_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that may run at import, in their order: those under `if`, `try`, `with` and the like too, but for what
    stands under `if __name__ == ...`."""
    left = [*body][::-1]
    while left:
        yield (node := left.pop())
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            left += reversed(_inside(node))


def _inside(node: ast.AST) -> list[ast.stmt]:
    """The statements right within one. A chain of `elif` is as deep as it is long, so nothing recurs here."""
    script = isinstance(node, ast.If) and "__name__" in {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
    parts = [getattr(node, part, []) for part in ("body", "handlers", "cases", "orelse", "finalbody")]
    found: list[ast.stmt] = []
    for each in (each for part in parts[script:] for each in part):
        found += [each] if isinstance(each, ast.stmt) else each.body
    return found


def names_of(node: ast.stmt) -> list[str]:
    """The names that a statement gives to something; of an import without `as`, where that is a module, none."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [name for target in targets for name in _targets(target)]
        case ast.AnnAssign(target=target, value=ast.expr()):
            return _targets(target)
        case ast.ImportFrom(names=names):
            return [each.asname or each.name for each in names]
        case ast.Import(names=names):
            return [each.asname for each in names if each.asname]
    return []


def _targets(node: ast.expr) -> list[str]:
    """Names alone, or in tuples and lists; what is put into an object or a table is no name of the module's."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Starred(value=value):
            return _targets(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [name for part in parts for name in _targets(part)]
    return []


def knobs_of(candidate: Candidate) -> tuple[Knob, ...]:
    """The knobs that the main file declares in a literal `KNOBS = {name: [values]}`.

    A file that does not parse, or declares none, has none.

    Raises:
        UserError: `KNOBS` is not a literal, or a knob has no module-level default among its values.
    """
    try:
        constants = _constants(candidate.main.text)
    except SyntaxError:
        return ()
    if "KNOBS" not in constants:
        return ()
    declared = _literal("KNOBS", constants["KNOBS"])
    if not isinstance(declared, dict):
        raise UserError("KNOBS must be a dictionary from a constant's name to the list of its values.")
    knobs = []
    for name, values in declared.items():
        if name not in constants:
            raise UserError(f"KNOBS names {name!r}, but there is no module-level {name} = ... with its default.")
        default = _literal(name, constants[name])
        if isinstance(default, dict) or not isinstance(values, list | tuple) or default not in values:
            raise UserError(f"KNOBS[{name!r}] must be a list that holds the default {default!r}; it is {values!r}.")
        knobs.append(Knob(name=name, values=tuple(values), default=default))
    return tuple(knobs)


def with_knobs(candidate: Candidate, values: Mapping[str, Scalar]) -> Candidate:
    """The same candidate with the module-level defaults of these knobs rewritten.

    Raises:
        UserError: a name is no knob of the candidate, or a value is not among the knob's values.
    """
    known = {knob.name: knob for knob in knobs_of(candidate)}
    for name, value in values.items():
        if name not in known or value not in known[name].values:
            raise UserError(f"{name}={value!r} is not a knob setting of this candidate.")
    lines = candidate.main.text.splitlines(keepends=True)
    for name, node in _constants(candidate.main.text).items():
        if name in values:
            assert node.end_lineno is not None
            first, last = node.lineno - 1, node.end_lineno - 1
            head = lines[first].encode()[: node.col_offset].decode()
            tail = lines[last].encode()[node.end_col_offset :].decode()
            lines[first : last + 1] = [head + repr(values[name]) + tail] + [""] * (last - first)
    main = replace(candidate.main, text="".join(lines))
    return replace(candidate, files=(main, *candidate.files[1:]))


def _constants(text: str) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in parsed(text).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    return found


def _literal(name: str, node: ast.expr) -> Scalar | dict[str, object]:
    try:
        value: Scalar | dict[str, object] = ast.literal_eval(node)
    except ValueError:
        raise UserError(f"{name} must be a literal, so that it can be read without running the file.") from None
    return value
