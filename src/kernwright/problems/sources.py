"""Text files that a person hands in: read with a size cap, and every mistake is a sentence."""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.errors import UserError

LARGEST_BYTES = 4 << 20
"""Generated kernels reach a few hundred kilobytes; anything beyond this is not source text."""


def read_text(path: Path, what: str) -> str:
    """The text of a file; `what` names its part in the message, as in 'problem file'.

    Raises:
        UserError: there is no such file, it cannot be read, is none, is too large, or is not UTF-8 text.
    """
    if path == Path():
        raise UserError(f"An empty path, or '.', is a folder; give the path of the {what} itself.")
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; give the path of the {what} itself.")
        if path.exists() and not path.is_file():  # a pipe would be waited for, and a device may have no end
            raise UserError(f"{path} is a pipe, a socket or a device; give the path of a {what}.")
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
        if len(data) > LARGEST_BYTES:
            raise UserError(f"{path} is too large; a {what} may have at most {LARGEST_BYTES:,} bytes.")
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"There is no file {path}; give the path of the {what}.") from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path} is not UTF-8 text (byte {error.start} cannot be read); save the {what} as UTF-8."
        ) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; check the path and its permissions.") from None
    if "\0" in text:
        raise UserError(f"{path} holds a zero byte, so it is not text; save the {what} as UTF-8.")
    return text


def read_candidate(path: Path, language: str | None, recognise: Callable[[Mapping[str, str]], str]) -> Candidate:
    """A candidate from its Python file and every file beside it that this file names in a call `load("...")`.

    `recognise` gets name -> text and answers with a language's name; it is asked only where `language` is None.
    A file that does not parse is read alone: that it does not parse is the judge's verdict to give.

    Raises:
        UserError: a file cannot be read, is not beside the main file, or the main file is not a `.py` file.
    """
    text = read_text(path, "candidate file")
    if path.suffix != ".py":
        raise UserError(
            f"{path} is not a Python file; a candidate is a .py file with class ModelNew or def kernel, which can "
            f"load({path.name!r}) from beside it."
        )
    files = [SourceFile(name=path.name, text=text)]
    for name in _loaded(text):
        if Path(name).name != name:
            raise UserError(f"{path} loads {name!r}; put that file beside it and name it without folders.")
        if name != path.name and not (path.parent / name).exists():
            raise UserError(f"{path} loads {name!r}, but there is no such file beside it; put it into {path.parent}.")
        if name != path.name:
            files.append(SourceFile(name=name, text=read_text(path.parent / name, "source file")))
    total = sum(len(file.text.encode()) for file in files)
    if total > LARGEST_BYTES:
        raise UserError(f"{path} and what it loads have {total:,} bytes; at most {LARGEST_BYTES:,} are read.")
    chosen = language if language is not None else recognise({file.name: file.text for file in files})
    return Candidate(language=chosen, files=tuple(files))


def _loaded(text: str) -> list[str]:
    """File names in `load("...")` calls, each once, in order. A string that holds source text is no name."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "load" and node.args
    ]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    names = [call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)]
    return list(dict.fromkeys(n for n in names if isinstance(n, str) and "\n" not in n and Path(n).suffix))
