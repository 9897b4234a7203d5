"""Problems that cannot be judged are refused; degenerate ones are named after what a lazy kernel gets away with."""

import random
from pathlib import Path

import pytest

from kernwright import zoo
from kernwright.core.errors import UserError
from kernwright.core.problem import Problem
from kernwright.evaluation.problem.degeneracy import findings
from kernwright.evaluation.problem.reference import Reference
from kernwright.evaluation.problem.setting import prepare
from kernwright.problems.file import File

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = "import os\nimport numpy\nimport torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        "
TAIL = "\n\n\ndef get_inputs():\n    return ["
UNSOUND = {
    "NaN": ("return torch.log(x)", "torch.randn(8, 8)", "output 0 holds NaN"),
    "NaN input": ("return x.nan_to_num()", "torch.full((8, 8), torch.nan)", "input 0 holds NaN"),
    "random": ("return x + torch.rand_like(x)", "torch.randn(8, 8)", "is not deterministic: the module"),
    "state": (
        "self.n = getattr(self, 'n', 0) + 1\n        return x * self.n",
        "torch.randn(8, 8)",
        "is not deterministic: the module",
    ),
    "unseeded": (
        "return x",
        "torch.full((8, 8), float(int.from_bytes(os.urandom(3)))) ",
        "differs under the same seed",
    ),
    "many results": (
        "return [x + n for n in range(301)]",
        "torch.randn(8, 8)",
        "gives 301 tensors, gradients included, and at most 300 can be compared",
    ),
    "huge": ("return x", "torch.zeros(1 << 46)", "needs more memory than there is"),
    "sparse input": (
        "return x.to_dense()",
        "torch.eye(8).to_sparse()",
        "input 0 of .* is a tensor of torch.sparse_coo",
    ),
    "sparse output": (
        "return x.to_sparse()",
        "torch.randn(8, 8)",
        r"output 0 is a tensor .* return output.to_dense\(\)",
    ),
    "other numbers": ("return x", "numpy.ones(8)", "a list of an ndarray: torch.from_numpy makes a tensor of it"),
    "no inputs": ("return x", "", "must return a list with at least one tensor"),
    "import": (
        "return x",
        "torch.randn(8, 8)]\n\n\nraise OSError('as ordered')\nx = [1",
        "importing it failed at line",
    ),
}
DEGENERATE = {
    "degenerate_constant": "constant_output",
    "degenerate_saturated": "constant_output",
    "degenerate_tiny_range": "constant_output",
    "degenerate_unused_input": "unused_input",
    "degenerate_zero_weights": "constant_output",
}


def found(problem: Problem) -> set[str]:
    """Names of all findings."""
    reference = Reference(problem)
    try:
        names = set()
        for index, workload in enumerate(problem.workloads):
            setting = prepare(reference, workload, index, random.Random(1), vary=False)
            names |= {finding.name for finding in findings(setting)}
        return names
    finally:
        reference.close()


@pytest.mark.parametrize("name", UNSOUND)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, name: str) -> None:
    body, inputs, sentence = UNSOUND[name]
    path = tmp_path / "problem.py"
    path.write_text(HEAD + body + TAIL + inputs + "]\n")
    with pytest.raises(UserError, match=sentence):
        found(File().load(str(path)))


def test_arguments_that_do_not_fit_into_a_message_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    text = HEAD.replace("forward(self, x)", "forward(self, x, numbers)") + "return x * numbers[0]" + TAIL
    path.write_text(text + "torch.randn(8, 8), [0.5] * 20000]\n")
    with pytest.raises(UserError, match=r"no tensors take 80003 bytes as text, and at most 61440 go along"):
        found(File().load(str(path)))
    path.write_text(text + "torch.randn(8, 8), [0.5] * 10000]\n")
    assert found(File().load(str(path))) == set()


def test_every_degenerate_problem_of_the_zoo_is_named() -> None:
    assert {name: found(zoo.problem(name)) for name in zoo.problem_names(degenerate=True)} == {
        name: {finding} for name, finding in DEGENERATE.items()
    }


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_sound(path: Path) -> None:
    assert found(File().load(str(path))) == set()


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("return x.mean(dim=0, keepdim=True).expand_as(x)", {"flat_axis"}),
        ("return x.add_(1.0)", {"changes_inputs"}),
        ("return torch.arange(8.0) + 0.0 * x", {"same_for_every_seed"}),
        ("return x / (x > 0)", {"infinite_output"}),
        ("return torch.tanh(x)", set()),
    ],
)
def test_other_ways_to_be_degenerate(tmp_path: Path, body: str, finding: set[str]) -> None:
    path = tmp_path / "problem.py"
    path.write_text(HEAD + body + TAIL + "torch.randn(8, 8)]\n")
    assert found(File().load(str(path))) == finding
