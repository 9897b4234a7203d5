"""Triton's complaints about a kernel, with the reason first and the place in the file."""

from collections.abc import Iterator, Sequence

from triton.compiler.errors import CompilationError

from kernwright.core.candidate import SourceFile


class DoesNotCompile(Exception):
    """A kernel was refused; the first line says why and where, the others show the source with a caret."""


def explained(error: Exception, files: Sequence[SourceFile]) -> Exception:
    """The same complaint as a reader wants it, with its traceback; whatever is no complaint of Triton's comes back."""
    if type(error) is RuntimeError and (notes := getattr(error, "__notes__", ())):
        return DoesNotCompile("\n".join((*notes, str(error)))).with_traceback(error.__traceback__)
    if not isinstance(error, CompilationError):
        return error
    chain = list(_chain(error))
    innermost = chain[-1]
    reason = str(innermost.error_message or innermost.__cause__ or "a kernel is not valid").strip()
    places = (place for each in reversed(chain) if (place := _place(each, files)))
    told = "\n\ncalled from ".join(str(each).strip() for each in reversed(chain))
    return DoesNotCompile(f"{reason.splitlines()[0]} ({next(places, 'in a kernel')})\n{told}").with_traceback(
        error.__traceback__
    )


def _chain(error: BaseException | None) -> Iterator[CompilationError]:
    """From the launched kernel to the function in which it went wrong."""
    while isinstance(error, CompilationError):
        yield error
        error = error.__cause__


def _place(error: CompilationError, files: Sequence[SourceFile]) -> str | None:
    """Where in these files; the complaint counts lines from the function's `def`."""
    line = getattr(error.node, "lineno", 1)
    first = error.src.lstrip().partition("\n")[0] if error.src else ""
    for file in files:
        if first and (at := file.text.find(first)) >= 0:
            return f"{file.name}, line {file.text.count(chr(10), 0, at) + line}"
    return None
