"""A candidate as one file that needs PyTorch and nothing of Kernwright."""

import ast
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kernwright import __version__
from kernwright.core.candidate import Candidate
from kernwright.core.errors import EXTRAS, MachineFault, UserError, missing_extra
from kernwright.core.node import Node
from kernwright.languages.imports import INLINED

from .bundles.header import BEGINNING, header_of
from .reading import RunView, reading

LOADERS = "kernwright.languages."
"""Modules below this whose name ends in `_loader` stand alone, and so can be inlined."""

BUNDLE_SUFFIX = ".bundle.json"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    path: Path
    bundle: Path | None
    """The evidence, where there is any."""
    without: str = ""
    """Why there is no bundle."""


def export(
    home: Path,
    run: str,
    out: Path | None,
    *,
    node: int | None,
    force: bool,
    bundle: Path | None = None,
    keyfile: Path | None = None,
) -> Exported:
    """See `kernwright.api.export`."""
    with reading(home, run) as view:
        chosen = _chosen(view, node, force=force)
        path = out or Path(f"{view.problem.name}_kernel.py")
        if path.is_dir():
            path = path / f"{view.problem.name}_kernel.py"
        beside = bundle or path.with_name(f"{path.stem}{BUNDLE_SUFFIX}")
        data, id, without = _evidence(view, chosen, keyfile, required=bundle is not None or keyfile is not None)
        evidence = f"evidence: {beside.name}, bundle {id}" if data else f"evidence: none. {without}"
        text = stand_alone(view.candidate(chosen), _header(view, chosen, evidence))
    if data and _is_same(path, beside):
        raise UserError(
            f"{beside} is where the kernel goes, and the evidence would overwrite it; give another file with --bundle."
        )
    for each, option in ((path, "-o"), *([(beside, "--bundle")] if data else [])):
        if each.exists() and not force:
            raise UserError(f"{each} is there already; choose another name with {option}, or overwrite with --force.")
    _written(path, text.encode(), "-o")
    if data:
        _written(beside, data, "--bundle")
    return Exported(path, beside if data else None, without)


def _is_same(one: Path, other: Path) -> bool:
    """Whether what is written to one of them is then in the other, by links too."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _evidence(view: RunView, node: Node, keyfile: Path | None, *, required: bool) -> tuple[bytes, str, str]:
    """Bytes and id of the bundle, or why there is none."""
    try:
        # Checking needs scipy, and a kernel can be exported without.
        from .bundles.making import bundle_of, file_of

        return *file_of(bundle_of(view, node), keyfile), ""
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        lacking: Exception = missing_extra("An evidence bundle", EXTRAS[error.name])
    except (UserError, MachineFault) as error:
        lacking = error
    if required:
        raise lacking
    return b"", "", str(lacking)


def _written(path: Path, data: bytes, option: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}; choose another path with {option}.") from None


def stand_alone(candidate: Candidate, header: str = "") -> str:
    """The main file with its loader and the files that it loads inside.

    Raises:
        UserError: the candidate takes more of Kernwright than a loader.
    """
    text = candidate.main.text
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UserError(
            f"The candidate is not Python (line {error.lineno}: {error.msg}), so it cannot stand alone."
        ) from None
    lines = text.splitlines(keepends=True)
    siblings = {file.name: file.text for file in candidate.files[1:]}
    edits: list[tuple[tuple[int, int], tuple[int, int], str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (edit := _named_source(node, siblings)):
            edits.append(edit)
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(LOADERS):
            edits.append((*_span(statement), _inlined(statement, siblings)))
    # From the end, so that the places of what comes before stay true.
    for start, end, new in sorted(edits, reverse=True):
        _replace(lines, start, end, new)
    result = header + "".join(lines)
    _must_stand_alone(result)
    return result


def _chosen(view: RunView, node: int | None, *, force: bool) -> Node:
    champion = view.graph.champion()
    if node is not None:
        chosen = view.node(node)
    elif champion is not None:
        chosen = champion
    else:
        best = view.graph.best()
        if best is None or not force:
            remedy = f"`--force` exports node {best.id}, the best, all the same" if best else "nothing was measured"
            raise UserError(f"Run {view.id} has no verified candidate; {remedy}.")
        chosen = best
    view.candidate(chosen)
    if not chosen.verified and not force:
        state = chosen.evaluation.outcome.kind if chosen.evaluation else "not evaluated"
        raise UserError(f"Node {chosen.id} of run {view.id} is {state}, not verified; --force exports it all the same.")
    return chosen


def _header(view: RunView, node: Node, evidence: str) -> str:
    author = getattr(node.draft, "author", "") or getattr(node.draft, "operator", "")
    origin = f"{BEGINNING}{__version__}: node {node.id} of run {view.id}, by {author}."
    return header_of(origin, evidence, view.problem, view.candidate(node), node.evaluation)


def _named_source(call: ast.Call, siblings: dict[str, str]) -> tuple[tuple[int, int], tuple[int, int], str] | None:
    if not (isinstance(call.func, ast.Name) and call.args):
        return None
    first = call.args[0]
    if isinstance(first, ast.Constant) and first.value in siblings:
        return (*_span(first), f"_SOURCES[{first.value!r}]")
    return None


def _inlined(statement: ast.ImportFrom, siblings: dict[str, str]) -> str:
    module = statement.module or ""
    if not module.endswith("_loader"):
        raise UserError(f"The candidate imports {module}, which is part of Kernwright, so it cannot stand alone.")
    loader = _text_of(module)
    names = "".join(f"{a.asname} = {a.name}\n" for a in statement.names if a.asname and a.asname != a.name)
    sources = "".join(f"    {name!r}: {_literal(text)},\n" for name, text in siblings.items())
    return (
        f"{INLINED}{module}\n{loader.rstrip()}\n{names}"
        + (f"\n_SOURCES = {{\n{sources}}}\n" if siblings else "")
        + "# --- the candidate\n"
    )


def _text_of(module: str) -> str:
    """A module without its docstring, with the modules beside it in the places where it imports from them."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise MachineFault(f"The text of {module} is not there to be inlined; Kernwright is installed incompletely.")
    text = Path(spec.origin).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    for statement in reversed(tree.body):
        if isinstance(statement, ast.ImportFrom) and statement.level == 1:
            beside = f"{module.rpartition('.')[0]}.{statement.module}"
            _replace(lines, *_span(statement), f"# --- from {beside}\n{_text_of(beside).rstrip()}")
    first = tree.body[1] if ast.get_docstring(tree) is not None else tree.body[0]
    return "".join(lines[first.lineno - 1 :])


def _literal(text: str) -> str:
    text = text if text.endswith("\n") else text + "\n"  # the loader takes a text of one line for a file's name
    if '"""' in text or text.endswith(('"', "\\")) or "\r" in text:
        return repr(text)
    return f'r"""{text}"""'


def _span(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno - 1, node.col_offset), (node.end_lineno - 1, node.end_col_offset)


def _replace(lines: list[str], start: tuple[int, int], end: tuple[int, int], new: str) -> None:
    # Columns of a syntax tree count bytes.
    head = lines[start[0]].encode()[: start[1]].decode()
    tail = lines[end[0]].encode()[end[1] :].decode()
    lines[start[0] : end[0] + 1] = [head + new + tail] + [""] * (end[0] - start[0])


def _must_stand_alone(text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            if name.partition(".")[0] == "kernwright":
                raise UserError(
                    f"The candidate imports {name} inside a function or as a whole, so it cannot stand alone; write "
                    f"`from {name} import load` at module level."
                )
