"""Which language a file is written in follows from what it imports, not from what it mentions."""

import pytest

from kernwright.engine.written import recognise

BODY = "\n\ndef kernel(x):\n    return x\n"
LOADER = "kernwright.languages."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("import torch, triton", "triton"),
        ("import os; import triton", "triton"),
        ("import torch, triton, triton.language as tl", "triton"),
        ("import triton.language as tl", "triton"),
        ("from triton import jit", "triton"),
        ("try:\n    import torch, \\\n        triton\nexcept ImportError:\n    triton = None", "triton"),
        ("import importlib\ntl = importlib.import_module('triton.language')", "triton"),
        ("from .triton import jit", "torch"),
        ("import tritonclient", "torch"),
        ("import torch  # not triton", "torch"),
        ('"""Adds.\n\nfrom triton this differs in that\nimport triton is not in it.\n"""\nimport torch', "torch"),
        (f"import torch, {LOADER}cpp_loader as loader", "cpp"),
        (f"from {LOADER[:-1]} import cpp_loader", "cpp"),
        (f'"""Without {LOADER}cpp_loader."""\nimport torch', "torch"),
        (f"import torch; from {LOADER}cuda_loader import load", "cuda"),
        (f"import torch  # {LOADER}cuda_loader is slower", "torch"),
        ('"""As cpp_extension with cuda_sources."""\nimport torch', "torch"),
        ("from torch.utils import cpp_extension as e\nS = '__global__ void k() {}'", "cuda"),
        (f"# --- the loader, from {LOADER}cuda_loader\nimport os", "cuda"),  # what an export has in place of the import
        (f"# --- the loader, from {LOADER}cpp_loader\nimport os", "cpp"),
    ],
)
def test_the_import_decides(text: str, language: str) -> None:
    assert recognise({"main.py": text + BODY}) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("import torch, triton\ndef kernel(x:", "triton"),
        ("import os; import triton\ndef kernel(x:", "triton"),
        (f"from {LOADER}cuda_loader import load\ndef kernel(x:", "cuda"),
        ("import torch  # not triton\ndef kernel(x:", "torch"),
        ("import triton\0", "triton"),
    ],
)
def test_a_file_that_does_not_parse_is_taken_by_its_text(text: str, language: str) -> None:
    assert recognise({"main.py": text}) == language
