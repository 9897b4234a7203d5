"""Candidates that compile themselves with `torch.utils.cpp_extension`: built in the build stage, found by runners.

PyTorch would build again, as it keeps absolute paths and a runner's folder is another one.
"""

import hashlib
import inspect
import os
import re
import shutil
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

BEFORE = "before.py"
"""Among the artefacts: what a runner imports before the candidate."""
_BEFORE = """\
from pathlib import Path

from kernwright.languages.cuda_extension import find_builds

find_builds(Path(__file__).parent)
"""
_IRRELEVANT = {"verbose", "build_directory"}


def keep_builds(artifacts: Path, target: str, workdir: Path) -> None:
    """From now on, PyTorch's extensions are built in `workdir` for `target`, and kept in `artifacts`."""
    os.environ["TORCH_EXTENSIONS_DIR"] = str(workdir / "torch_extensions")
    if architecture := re.search(r"sm_(\d+)(\d\w?)$", target):
        os.environ["TORCH_CUDA_ARCH_LIST"] = f"{architecture[1]}.{architecture[2]}"
    (artifacts / BEFORE).write_text(_BEFORE)

    def keep(original: Callable[..., Any], arguments: dict[str, Any], place: Path) -> Any:
        result = original(**arguments)
        built = Path(getattr(result, "__file__", None) or _path_of(arguments["name"]))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built, place)
        return result

    _replace(artifacts, keep)


def find_builds(artifacts: Path) -> None:
    """From now on, PyTorch's extensions are those in `artifacts`; one that is not there is an error."""

    def find(original: Callable[..., Any], arguments: dict[str, Any], place: Path) -> Any:
        if not place.exists():
            name = original.__name__
            raise RuntimeError(f"this {name}() did not run in the build stage; call it at module level, same arguments")
        if not arguments.get("is_python_module", True):
            import torch

            torch.ops.load_library(str(place))  # type: ignore[no-untyped-call]
            return str(place)
        spec = spec_from_file_location(arguments["name"], place)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    _replace(artifacts, find)


def _replace(artifacts: Path, answer: Callable[[Callable[..., Any], dict[str, Any], Path], Any]) -> None:
    from torch.utils import cpp_extension

    def replacement(original: Callable[..., Any]) -> Callable[..., Any]:
        def loading(*args: Any, **kwargs: Any) -> Any:
            arguments = dict(inspect.signature(original).bind(*args, **kwargs).arguments)
            key = _key(original.__name__, arguments, str(artifacts.parent))
            return answer(original, arguments, artifacts / "extensions" / key / f"{arguments['name']}.so")

        return loading

    for name in ("load", "load_inline"):
        setattr(cpp_extension, name, replacement(getattr(cpp_extension, name)))


def _key(function: str, arguments: dict[str, Any], scratch: str) -> str:
    """The same in every scratch folder."""
    files = arguments.get("sources", [])
    texts = [Path(path).read_text() for path in ([files] if isinstance(files, str) else files)]
    rest = sorted((name, value) for name, value in arguments.items() if name not in _IRRELEVANT)
    return hashlib.sha256(repr((function, texts, rest)).replace(scratch, "").encode()).hexdigest()[:32]


def _path_of(name: str) -> Path:
    return next(Path(os.environ["TORCH_EXTENSIONS_DIR"]).glob(f"{name}*/{name}*.so"))
