"""Problems from a PyTorch file, read without executing it."""

import ast
import difflib
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from kernwright.core.candidate import module_level
from kernwright.core.errors import UserError
from kernwright.core.problem import Problem, Rules, Tolerance, Workload

from .sources import read_text

PRECISIONS = ("strict_float32", "tf32", "float64", "float32", "float16", "bfloat16")
DECLARATIONS = ("NAME", "WORKLOADS", "TOLERANCE", "RULES", "BACKWARD", "ENTRY")
_ABSENT = object()


class File:
    """A Python file with `class Model`, `get_inputs` and, where the constructor takes arguments, `get_init_inputs`.

    The literals of `DECLARATIONS` are optional. Without WORKLOADS the file has one workload, `default`, which is
    KernelBench's form. The id of a problem is its path.
    """

    name = "file"

    def ids(self) -> Iterable[str]:
        """Nothing: any path may be given."""
        return ()

    def load(self, id: str) -> Problem:
        """The problem in the file at this path.

        Raises:
            UserError: the file cannot be read, is not Python, or does not hold a problem.
        """
        path = Path(id)
        return problem_in(path, read_text(path, "problem file"))


def problem_in(path: Path, text: str) -> Problem:
    """The problem that this text states; `path` names it in every message and, without NAME, gives its name.

    Raises:
        UserError: the text is not Python, or does not hold a problem.
    """
    module = _Module(path, _parse(path, text))
    entry = _text(module, "ENTRY", "Model")
    if entry not in module.names:
        classes = ", ".join(module.classes) or "no class at all"
        if {"ModelNew", "kernel"} & set(module.names):
            raise UserError(
                f"{path} defines no {entry} but what a candidate does, ModelNew or kernel. The problem's file comes "
                "first, the candidate's after it."
            )
        raise UserError(
            f"{path} defines no {entry}; its classes: {classes}. Name the module class Model, or say "
            'ENTRY = "<its name>".'
        )
    if "get_inputs" not in module.names:
        raise UserError(f"{path} has no get_inputs; add a function that returns the list of forward's inputs.")
    backward = module.literal("BACKWARD", False)
    if not isinstance(backward, bool):
        raise UserError(f"{path}: BACKWARD is {backward!r}; it must be True or False.")
    return Problem(
        name=_text(module, "NAME", path.stem),
        source=text,
        workloads=_workloads(module),
        entry=entry,
        tolerance=_tolerance(module),
        rules=_rules(module),
        backward=backward,
        origin=str(path),
    )


def name_in(text: str) -> str | None:
    """What a text that states a problem calls it; None where it has the name of its file.

    Raises:
        UserError: the text is not Python, or that is no literal.
    """
    path = Path("problem.py")
    name = _Module(path, _parse(path, text)).literal("NAME", None)
    return None if name is None else str(name)


@dataclass(frozen=True, slots=True)
class _Signature:
    """What a function can be given by keyword."""

    accepted: tuple[str, ...]
    required: tuple[str, ...]
    anything: bool


class _Module:
    """What can be said of a file from its syntax tree."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path = path
        self.names: set[str] = set()
        self.classes: list[str] = []
        self._values: dict[str, ast.expr] = {}
        self._functions: dict[str, ast.FunctionDef] = {}
        for node in module_level(tree.body):
            self._add(node)

    def _add(self, node: ast.stmt) -> None:
        match node:
            case ast.ClassDef(name=name):
                self.classes.append(name)
                self.names.add(name)
            case ast.FunctionDef(name=name):
                self._functions[name] = node
                self.names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                self.names.update(alias.asname or alias.name for alias in aliases)
            case ast.Assign(targets=targets, value=value):
                for name in (t.id for t in targets if isinstance(t, ast.Name)):
                    self._values[name] = value
                    self.names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._values[name] = value
                self.names.add(name)
            case _:
                pass

    def literal(self, name: str, default: Any) -> Any:
        """The literal assigned to a module-level name.

        Raises:
            UserError: what is assigned is not a literal.
        """
        if name not in self._values:
            if name in self.names:
                raise self.mistake(f"{name} is taken by something else; it must be a literal, {name} = ...")
            return default
        node = self._values[name]
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise UserError(
                f"{self.path}, line {node.lineno}: {name} must be a literal (numbers, strings, lists, dictionaries), "
                "so that it can be read without running the file."
            ) from None

    def signature(self, name: str) -> _Signature | None:
        """None where the name is no function defined here, so that nothing can be said."""
        if name not in self._functions:
            return None if name in self.names else _Signature((), (), False)
        a = self._functions[name].args
        positional = [arg.arg for arg in (*a.posonlyargs, *a.args)]
        keyword = [arg.arg for arg in a.kwonlyargs]
        required = positional[: len(positional) - len(a.defaults)]
        required += [k for k, default in zip(keyword, a.kw_defaults, strict=True) if default is None]
        accepted = tuple(name for name in (*positional, *keyword) if name not in {p.arg for p in a.posonlyargs})
        return _Signature(accepted, tuple(required), a.kwarg is not None)

    def mistake(self, sentence: str) -> UserError:
        """An error that begins with the file's path."""
        return UserError(f"{self.path}: {sentence}")


def _parse(path: Path, text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise UserError(f"{path} is not Python: line {error.lineno}: {error.msg}; correct that line.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"{path} cannot be parsed as Python: {error}; simplify the file.") from None


def _text(module: _Module, name: str, default: str) -> str:
    value = module.literal(name, default)
    if not isinstance(value, str) or not value.strip():
        raise module.mistake(f"{name} is {value!r}; it must be a string that is not empty.")
    return value


def _table(module: _Module, name: str) -> dict[str, Any] | None:
    value = module.literal(name, _ABSENT)
    if value is _ABSENT:
        return None
    if not isinstance(value, dict) or not all(isinstance(key, str) and key for key in value):
        raise module.mistake(f"{name} must be a dictionary whose keys are names.")
    return value


def _workloads(module: _Module) -> tuple[Workload, ...]:
    table = _table(module, "WORKLOADS")
    if table is None:
        loads = [Workload(name="default")]
    else:
        loads = [_workload(module, name, entry) for name, entry in table.items()]
        if all(load.held_out for load in loads):
            raise module.mistake(
                'WORKLOADS has no workload to time; give at least one without "held_out": True, or leave WORKLOADS '
                "out to use get_inputs() as it stands."
            )
    signatures = {name: module.signature(name) for name in ("get_inputs", "get_init_inputs")}
    for load in loads:
        _check_params(module, load, signatures)
    return tuple(loads)


def _workload(module: _Module, name: str, entry: object) -> Workload:
    where = f"WORKLOADS[{name!r}]"
    if not isinstance(entry, dict) or not all(isinstance(key, str) for key in entry):
        raise module.mistake(f'{where} is {entry!r}; it must be a dictionary such as {{"rows": 64, "weight": 1.0}}.')
    weight, held_out = entry.get("weight", 1.0), entry.get("held_out", False)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not (0 < weight < math.inf):
        raise module.mistake(f"{where} has weight {weight!r}; a weight is a positive number.")
    if not isinstance(held_out, bool):
        raise module.mistake(f"{where} has held_out {held_out!r}; it must be True or False.")
    params = {key: value for key, value in entry.items() if key not in ("weight", "held_out")}
    for key, value in params.items():
        if not isinstance(value, bool | int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
            raise module.mistake(f"{where}[{key!r}] is {value!r}; a parameter is a finite number, a string or a bool.")
    return Workload(name=name, params=params, weight=float(weight), held_out=held_out)


def _check_params(module: _Module, load: Workload, signatures: Mapping[str, _Signature | None]) -> None:
    known = [s for s in signatures.values() if s is not None]
    if len(known) == len(signatures) and not any(s.anything for s in known):
        accepted = {name for s in known for name in s.accepted}
        for key in load.params:
            if key not in accepted:
                raise module.mistake(
                    f"WORKLOADS[{load.name!r}] gives {key!r}, which neither get_inputs nor get_init_inputs takes."
                    + _nearest(key, [*accepted, "weight", "held_out"])
                )
    for function, signature in signatures.items():
        missing = [name for name in (signature.required if signature else ()) if name not in load.params]
        if missing:
            raise module.mistake(
                f"{function} needs {', '.join(missing)}, which workload {load.name!r} does not give; add it to "
                f"WORKLOADS[{load.name!r}], or give the argument a default."
            )


def _tolerance(module: _Module) -> Tolerance:
    table = _known(module, "TOLERANCE", Tolerance)
    for key, value in table.items():
        if key == "reduction":
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise module.mistake(
                    f"TOLERANCE['reduction'] is {value!r}; it must be a whole number above 0, or None."
                )
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise module.mistake(f"TOLERANCE[{key!r}] is {value!r}; it must be a finite number, 0 or more.")
    numbers: dict[str, Any] = {k: v if k == "reduction" else float(v) for k, v in table.items()}
    return Tolerance(**numbers)


def _rules(module: _Module) -> Rules:
    table = _known(module, "RULES", Rules)
    choices = {"vendor_libraries": ("allowed", "forbidden"), "precision": PRECISIONS}
    for key, value in table.items():
        if key in choices:
            if value not in choices[key]:
                raise module.mistake(f"RULES[{key!r}] is {value!r}; it must be one of {', '.join(choices[key])}.")
        elif not isinstance(value, bool):
            raise module.mistake(f"RULES[{key!r}] is {value!r}; it must be True or False.")
    return Rules(**table)


def _known(module: _Module, name: str, fact: type[Rules] | type[Tolerance]) -> dict[str, Any]:
    """The literal table of this name, its keys checked against the fact's fields."""
    table = _table(module, name) or {}
    keys = [f.name for f in fields(fact) if f.default is not MISSING]
    for key in table:
        if key not in keys:
            raise module.mistake(f"{name} has no key {key!r}; it has: {', '.join(keys)}." + _nearest(key, keys))
    return table


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
