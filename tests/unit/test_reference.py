"""The problem's own code: what it may not do, each with one sentence."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kernwright.core.calls import TensorSpec  # noqa: E402
from kernwright.core.errors import UserError  # noqa: E402
from kernwright.core.problem import Problem, Rules, Workload  # noqa: E402
from kernwright.evaluation.calls import calls_of  # noqa: E402
from kernwright.evaluation.problem.reference import Reference  # noqa: E402
from kernwright.evaluation.problem.wider import oracle_for  # noqa: E402
from kernwright.evaluation.runner.structure import decode_calls, encode_calls  # noqa: E402
from kernwright.evaluation.weights.state import state_of  # noqa: E402

WORKLOAD = Workload(name="w", params={"rows": 3})
HEAD = "import torch\nfrom torch import nn\n"
SOUND = (
    HEAD + "class Model(nn.Module):\n"
    "    def __init__(self, n=4):\n"
    "        super().__init__()\n"
    "        self.norm = nn.LayerNorm(n)\n"
    "    def forward(self, x):\n"
    "        return self.norm(x)\n"
    "def get_inputs(rows):\n"
    "    return [torch.randn(rows, 4)]\n"
)


def _run_once(source: str, *, backward: bool = False) -> None:
    reference = _reference(source, backward=backward)
    values = reference.inputs(WORKLOAD, 1)
    reference.case(reference.model(WORKLOAD, [], 5, None), None, values, "", 1)


def _reference(source: str, limit_s: float = 60.0, *, backward: bool = False) -> Reference:
    return Reference(Problem(name="mine", source=source, workloads=(WORKLOAD,), backward=backward), limit_s)


def test_inputs_follow_the_seed_and_weights_are_varied() -> None:
    reference = _reference(SOUND)
    first, again, other = (reference.inputs(WORKLOAD, seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    plain = state_of(reference.model(WORKLOAD, [], 5, None))
    varied = state_of(reference.model(WORKLOAD, [], 5, 6))
    assert torch.equal(plain["norm.weight"], torch.ones(4))
    assert len(varied["norm.weight"].unique()) == 4
    reference.close()
    assert not reference.path.exists()


@pytest.mark.parametrize(
    ("precision", "cast", "dtype"), [("tf32", None, "float32"), ("bfloat16", "bfloat16", "bfloat16")]
)
def test_builds_are_told_of_the_tensors_that_a_run_will_get(precision: str, cast: str | None, dtype: str) -> None:
    source = SOUND.replace("rows, 4)]", "rows, 4).t(), torch.randn(4).expand(rows, 4), torch.arange(rows), 2.5]")
    rules = Rules(precision=precision)
    reference = Reference(Problem(name="mine", source=source, workloads=(WORKLOAD,), rules=rules))
    (call,) = calls_of(reference)
    assert call.cast == cast
    assert call.inputs == (
        TensorSpec(dtype=dtype, shape=(4, 3), strides=(1, 4)),
        TensorSpec(dtype=dtype, shape=(3, 4), strides=(4, 1)),
        TensorSpec(dtype="int64", shape=(3,), strides=(1,)),
        2.5,
    )
    assert decode_calls(encode_calls([call])) == (call,)


def test_oracle_is_float64_where_the_reference_runs_in_it() -> None:
    reference = _reference(SOUND)
    model = reference.model(WORKLOAD, [], 5, 6)
    values = reference.inputs(WORKLOAD, 1)
    case = reference.case(model, oracle_for(reference, model, values), values, "", 1)
    assert case.oracle[0].dtype == torch.float64
    assert torch.allclose(case.oracle[0].float(), case.native[0], atol=1e-6)


def test_oracle_falls_back_and_says_so() -> None:
    reference = _reference(
        "import numpy\n"
        + SOUND.replace("self.norm(x)", "self.norm(x) @ torch.from_numpy(numpy.ones((4, 4), 'float32'))")
    )
    model = reference.model(WORKLOAD, [], 5, None)
    assert oracle_for(reference, model, reference.inputs(WORKLOAD, 1)) is None
    assert "float32" in reference.notes[0]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nothing_like_this\n", "importing it failed at line 1"),
        (SOUND.replace("return self.norm(x)", "raise ValueError('no')"), "ValueError: no"),
        (SOUND.replace("return self.norm(x)", "return 'text'"), "must return tensors; its output 0 is a str"),
        (SOUND.replace("return self.norm(x)", "return x, None, 'text'"), "its output 2 is a str"),
        (SOUND.replace("return self.norm(x)", "return x.to(torch.float8_e4m3fn)"), "Return it as float32"),
        (SOUND.replace("return self.norm(x)", "return ()"), "it returned a tuple of 0"),
        (SOUND.replace("return [torch.randn(rows, 4)]", "return []"), "at least one tensor"),
        (SOUND.replace("return [torch.randn(rows, 4)]", "return [torch.empty(1 << 50)]"), "more memory than there is"),
        (SOUND.replace("return self.norm(x)", "import sys; sys.exit(3)"), "SystemExit"),
        (SOUND.replace("return [torch.randn(rows, 4)]", "return torch.randn(rows, 4)"), r"a Tensor: return \[x\]"),
        (
            SOUND.replace("return [torch.randn(rows, 4)]", "return [torch.ones(3).numpy()]"),
            "an ndarray: torch.from_numpy",
        ),
        (
            SOUND.replace("return self.norm(x)", "return {'a': x, 'b': x.numpy()}"),
            "its output 'b' is an ndarray.*from_numpy",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(source: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        _run_once(source)
    assert "'mine'" in str(caught.value)
    assert "\n" not in str(caught.value)


ODD = {
    "sparse": ("{}.to_sparse()", "of torch.sparse_coo", "indices and its values", r"to_dense\(\)"),
    "compressed": ("{}.to_sparse_csr()", "of torch.sparse_csr", "indices and its values", r"to_dense\(\)"),
    "nested": ("torch.nested.nested_tensor([*{}])", "a nested tensor", "nest them in", "to_padded_tensor"),
    "jagged": (
        "torch.nested.nested_tensor([*{}], layout=torch.jagged)",
        "a nested",
        "nest them in",
        "to_padded_tensor",
    ),
    "quantized": ("torch.quantize_per_tensor({}, 0.1, 0, torch.qint8)", "qint8", "quantize it in", r"dequantize\(\)"),
    "meta": ("{}.to('meta')", "the device 'meta'", "without device='meta'", "compute it from the inputs"),
    "half complex": ("{}.to(torch.complex32)", "complex32", "as complex64", r"to\(torch.complex64\)"),
    "packed": ("{}.view(torch.uint8).view(torch.float4_e2m1fn_x2)", "float4_", "as uint8", r"view\(torch.uint8\)"),
    "masked": ("torch.masked.masked_tensor({0}, {0} > 0)", "a MaskedTensor", "as inputs of their own", "made of"),
}


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of what it calls a prototype
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_tensors_of_odd_kinds_are_refused_before_anything_looks_at_them(name: str, backward: bool) -> None:
    make, what, given, returned = ODD[name]
    drawn = "return [torch.randn(rows, 4)]"
    source = SOUND.replace(drawn, f"x = torch.randn(rows, 4)\n    return [x, {make.format('x')}]")
    said = f"^problem 'mine': input 1 of get_inputs.. is .*{what}.*{given}.*[.]$"
    with pytest.raises(UserError, match=said):
        _reference(source, backward=backward).inputs(WORKLOAD, 1)
    with pytest.raises(UserError, match=said):
        _reference(source, backward=backward).how_made(WORKLOAD)
    body = f"x = self.norm(x)\n        return x, {make.format('x.detach()')}"
    with pytest.raises(UserError, match=f"^problem 'mine': output 1 is .*{what}.*{returned}.*[.]$"):
        _run_once(SOUND.replace("return self.norm(x)", body), backward=backward)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("return x.add_(1.0)", False),
        ("y = self.norm(x)\n        x.add_(1.0)\n        return y, x.view(-1)", False),
        ("y = self.norm(x)\n        x.add_(1.0)\n        return y", True),
        ("x.clamp_(min=0)\n        return self.norm(x), x[:1]", True),
        ("x[0, 0] = torch.nan\n        return self.norm(x), x", False),
    ],
)
def test_what_is_left_in_an_input_is_returned_too(body: str, refused: bool) -> None:
    reference = _reference(SOUND.replace("return self.norm(x)", body))
    model, values = reference.model(WORKLOAD, [], 5, None), reference.inputs(WORKLOAD, 1)
    if refused:
        with pytest.raises(UserError, match=r"changes its input 0 in place .* return it too, or work on a copy"):
            reference.see_whether_it_mutates(model, values)
    else:
        reference.see_whether_it_mutates(model, values)
    assert reference.mutates


def test_to_look_at_the_kind_of_what_is_drawn_is_no_use_of_it() -> None:
    step = "return [torch.randn(rows, 4), torch.randint(1, 900, (1,))]"
    drawn = _reference(SOUND.replace("return [torch.randn(rows, 4)]", step)).how_made(WORKLOAD).origins[1]
    assert drawn is not None
    assert drawn.kind == "independent"


def test_results_that_are_buffers_stay_what_they_were() -> None:
    norm = "torch.nn.functional.batch_norm(x, self.norm.running_mean, self.norm.running_var, training=True)"
    source = SOUND.replace("LayerNorm", "BatchNorm1d").replace("self.norm(x)", f"{norm}, self.norm.running_mean")
    reference = _reference(source)
    model = reference.model(WORKLOAD, [], 5, 6)
    (_, first), (_, second) = (reference.outputs(model, reference.inputs(WORKLOAD, seed)) for seed in (1, 2))
    assert not torch.equal(first, second)


def test_weights_without_numbers_are_refused() -> None:
    with pytest.raises(UserError, match=r"weight 'norm.weight' is on the device 'meta'.*without device='meta'"):
        _run_once(SOUND.replace("LayerNorm(n)", "LayerNorm(n, device='meta')"))


def test_a_reference_that_never_returns_is_stopped() -> None:
    reference = _reference(SOUND.replace("return self.norm(x)", "\n        while True: pass"), 0.3)
    with pytest.raises(UserError, match=r"longer than 0\.3 s"):
        reference.case(reference.model(WORKLOAD, [], 5, None), None, reference.inputs(WORKLOAD, 1), "", 1)


def test_copies_are_named_after_this_process() -> None:
    assert Path(_reference(SOUND).path).parent.name.startswith("kernwright-")
