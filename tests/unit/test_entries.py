"""What a candidate's file offers to be called: found in its text, and made when it is loaded."""

from collections.abc import Sequence
from typing import Any

import pytest

from kernwright.core.candidate import Candidate, SourceFile, entry_of

DEFINED = "def kernel(x):\n        return x\n"


def _entry(text: str) -> str | None:
    return entry_of(Candidate(language="torch", files=(SourceFile(name="main.py", text=text),)))


@pytest.mark.parametrize(
    "text",
    [
        f"try:\n    import numba\n    {DEFINED}except ImportError:\n    pass\n",
        f"try:\n    import numba\nexcept ImportError:\n    {DEFINED}",
        f"try:\n    import numba\nexcept ImportError:\n    pass\nelse:\n    {DEFINED}",
        f"try:\n    import numba\nfinally:\n    {DEFINED}",
        f"if FAST:\n    pass\nelif WIDE:\n    {DEFINED}",
        f"with torch.no_grad():\n    {DEFINED}",
        f"match WIDTH:\n  case 8:\n    {DEFINED}",
        "kernel: Callable[[Tensor], Tensor] = work\n",
        "kernel, table = make()\n",
        "[kernel, *tables] = make()\n",
        "(table.rows, kernel) = make()\n",
        "first = kernel = make()\n",
        "import fast as kernel\n",
        "from fast import work as kernel\n",
        "if __name__ == '__main__':\n    pass\nelse:\n    " + DEFINED,
    ],
)
def test_whatever_runs_at_import_may_define_the_entry(text: str) -> None:
    assert _entry(text) == "kernel"
    assert _entry(text.replace("kernel", "ModelNew")) == "ModelNew"


@pytest.mark.parametrize(
    "text",
    [
        f"def make():\n    {DEFINED}",
        f"class Kernels:\n    {DEFINED}",
        "kernel: Callable\n",
        "table.kernel = work\n",
        "table[kernel] = work\n",
        "table[kernel], other = make()\n",
        "import kernel\n",
        f"if __name__ == '__main__':\n    {DEFINED}",
    ],
)
def test_what_is_none_of_the_modules_names_is_no_entry(text: str) -> None:
    assert _entry(text) is None


def test_a_long_chain_of_branches_is_read() -> None:
    chain = "if A == 0:\n    pass\n" + "".join(f"elif A == {n}:\n    pass\n" for n in range(1, 500))
    assert _entry(f"{chain}else:\n    {DEFINED}") == "kernel"


def _makes_nothing(width: int) -> int:
    return width


@pytest.mark.parametrize(
    ("entry", "init", "said"),
    [
        (_makes_nothing, [], "missing a required argument: 'width'. What is called with inputs alone is named kernel"),
        (_makes_nothing, [3], "it gave a int"),
        ([_makes_nothing], [], "it is a list"),
    ],
)
def test_what_makes_no_module_is_told_so(entry: Any, init: Sequence[Any], said: str) -> None:
    pytest.importorskip("torch")
    from kernwright.evaluation.runner.entries import made

    with pytest.raises(TypeError, match=f"ModelNew must be a class, or a function that makes an nn.Module.*{said}"):
        made(entry, init)


def test_a_module_that_is_made_already_is_told_so() -> None:
    nn = pytest.importorskip("torch").nn
    from kernwright.evaluation.runner.entries import made

    with pytest.raises(TypeError, match="already"):
        made(nn.Linear(2, 2), [])
    assert isinstance(made(nn.Linear, [2, 3]), nn.Linear)
    assert isinstance(made(lambda width: nn.Linear(width, 3), [2]), nn.Linear)
