"""The entry: runs a command and turns what it raises into a sentence and an exit code."""

import errno
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

USER, OURS, STOPPED = 2, 1, 130


def main() -> None:
    """`kernwright`, as the shell calls it."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # then whoever read has gone, as they may
            code = code or _failed(error, as_json=False, debug=False)
        # The interpreter's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """One command; its exit code."""
    as_json = "--json" in arguments
    debug = "--debug" in arguments
    try:
        from .app import app

        code = app(args=[a for a in arguments if a != "--debug"], standalone_mode=False, prog_name="kernwright")
    except KeyboardInterrupt:
        code = STOPPED
    except BrokenPipeError:
        return 0
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # Typer's own answer to that is 1
            return 0
        return error.code if isinstance(error.code, int) else OURS
    except Exception as error:
        return _failed(error, as_json=as_json, debug=debug)
    if code == STOPPED:
        return _told("Stopped by Ctrl-C; nothing was left running.", STOPPED, as_json=as_json)
    return code if isinstance(code, int) else 0


def _failed(error: Exception, *, as_json: bool, debug: bool) -> int:
    from kernwright.core.errors import MachineFault, UserError

    from .interruption import Interrupted

    if debug:
        traceback.print_exception(error)
    match error:
        case UserError():
            return _told(str(error), USER, as_json=as_json)
        case MachineFault():
            return _told(str(error), OURS, as_json=as_json)
        case Interrupted():
            return _told(str(error), STOPPED, as_json=as_json)
        case ModuleNotFoundError(name=("torch" | "numpy" | "scipy" | "numba") as name):
            return _told(f"{name} is not installed; pip install 'kernwright[torch]'.", USER, as_json=as_json)
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            where = f" for {error.filename}" if error.filename else ""
            return _told(f"The disk is full{where}; make room and run it again.", OURS, as_json=as_json)
        case MemoryError():
            return _told("There is not enough memory for this on this machine.", OURS, as_json=as_json)
    # Typer brings its own copy of click or uses the installed one, so its errors are known by their shape.
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        if not error.format_message().strip():  # the help was printed: a command that needs another word had none
            return USER
        context = getattr(error, "ctx", None)
        hint = f"; see: {context.command_path} --help" if context is not None else ""
        return _told(error.format_message().rstrip(".") + hint, USER, as_json=as_json)
    if type(error).__name__ == "Abort":
        return _told("Stopped by Ctrl-C; nothing was left running.", STOPPED, as_json=as_json)
    text = f"Kernwright failed: {type(error).__name__}: {error}. Run it again with --debug for the traceback."
    return _told(text, OURS, as_json=as_json)


def _told(sentence: str, code: int, *, as_json: bool) -> int:
    if as_json:
        _print(json.dumps({"error": sentence}), sys.stdout)
    _print(sentence, sys.stderr)
    return code


def _print(text: str, stream: TextIO) -> None:
    """Unless nobody reads it, or there is no room for it."""
    with suppress(OSError):
        print(text, file=stream, flush=True)
