"""What a problem is built like, what errors and figures hint at, and that notes are found by it."""

import pytest

from kernwright.core.diagnosis import Diagnosis
from kernwright.core.note import Note
from kernwright.core.outcome import BuildFailed, Crashed, TimedOut, Wrong
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.knowledge.hints import of_failure, of_figures
from kernwright.knowledge.library import Library
from kernwright.knowledge.problems import signs_of
from kernwright.knowledge.situations import Situation

H200, CPU = "cuda:sm_90a", "cpu:x86-64-v4"


def problem(body: str, inputs: str = "", arguments: str = "self, x", made: str = "", init: str = "") -> Problem:
    """Of a `forward` with this body, `get_inputs` that returns this, `get_init_inputs` that; `made` in `__init__`."""
    lines = ["class Model(nn.Module):"]
    if made:
        lines += [f"    def __init__(self, {init.partition('=')[0]}):", f"        {made}"]
    lines += [f"    def forward({arguments}):", *(f"        {line}" for line in body.splitlines())]
    lines += ["def get_inputs():", f"    return [{inputs}]"]
    lines += ["def get_init_inputs():", f"    return [{init.partition('=')[2]}]"]
    return Problem(name="mine", source="\n".join(lines), workloads=(Workload(name="w"),))


def structure(body: str, inputs: str = "", **more: str) -> set[str]:
    return set(signs_of(problem(body, inputs, **more)).structure)


@pytest.mark.parametrize(
    ("body", "inputs", "there", "absent"),
    [
        ("return torch.softmax(x, dim=-1)", "torch.randn(65536, 512)", "short-rows row", "long-rows column row-blocks"),
        ("return torch.softmax(x, -1)", "torch.randn(65536, 77)", "short-rows row-blocks", "long-rows"),
        ("return x.softmax(1)", "torch.randn(64, 262144)", "long-rows split", "short-rows"),
        ("return x.sum(dim=0)", "torch.rand(65536, 2048)", "column coalescing", "row"),
        ("return x.mean(dim=(2, 3))", "torch.randn(64, 32, 7, 7)", "row short-rows", "column"),
        ("return x.mean()", "torch.randn(4096, 4096)", "mean atomics", "row"),
        ("return torch.cumsum(x, dim=0)", "torch.randn(67108864)", "look-back single-pass", "short-rows"),
        ("return torch.relu(x)", "torch.randn(8, 64)", "small launch", "row"),
        ("return torch.relu(x)", "torch.randn(8192, 8192)", "bandwidth", "small"),
    ],
)
def test_rows_and_columns_are_seen(body: str, inputs: str, there: str, absent: str) -> None:
    found = structure(body, inputs)
    assert set(there.split()) <= found
    assert not set(absent.split()) & found


def test_sizes_may_be_names_and_made_beforehand() -> None:
    source = (
        "rows, width = 65536, 256\nclass Model:\n    def forward(self, x):\n        return x.softmax(-1)\n"
        "def get_inputs():\n    x = torch.randn(rows, 2 * width).half()\n    return [x]\n"
    )
    named = Problem(name="mine", source=source, workloads=(Workload(name="w"),))
    assert "short-rows" in signs_of(named).structure
    wide = Problem(name="mine", source=source, workloads=(Workload(name="w", params={"width": 8192}),))
    assert "short-rows" not in signs_of(wide).structure


def test_products_by_their_sides() -> None:
    def product(a: str, b: str) -> set[str]:
        return structure("return a @ b", f"torch.randn({a}), torch.randn({b})", arguments="self, a, b")

    assert "split-k" in product("256, 524288", "524288, 256")
    assert "split-k" not in product("8192, 8192", "8192, 8192")
    assert {"tiling", "program-order"} <= product("8192, 8192", "8192, 8192")
    assert "skinny" in product("4, 4096", "4096, 4096")
    assert "batched" in product("1024, 32, 32", "1024, 32, 32")
    assert "alignment" in product("2048, 1003", "1003, 2048")
    layer = structure(
        "return self.f(x)", "torch.randn(16, 16384)", made="self.f = nn.Linear(k, n)", init="k, n=16384, 256"
    )
    assert {"skinny", "split-k"} <= layer


def test_attention_by_hand_with_its_masks_and_pages() -> None:
    body = "s = q @ k.transpose(-1, -2)\ns = s.masked_fill(m, float('-inf'))\nreturn torch.softmax(s, -1) @ v"
    many = "torch.randn(8, 16, 4096, 64), torch.randn(8, 16, 4096, 64), torch.randn(8, 16, 4096, 64)"
    assert {"attention", "causal", "mask"} <= structure(body, many, arguments="self, q, k, v, m")
    one = many.replace("4096", "1", 1)
    plain = "return torch.softmax(q @ k.mT, -1) @ v"
    assert {"attention", "decoding"} <= structure(plain, one, arguments="self, q, k, v")
    assert not {"causal", "decoding", "paged"} & structure(plain, many, arguments="self, q, k, v")
    paged = structure("k = pages[page_table]\n" + plain, one, arguments="self, q, pages, page_table, v")
    assert {"paged", "kv-cache", "gather"} <= paged
    assert "attention" not in structure("return torch.softmax(q @ k, -1)", many, arguments="self, q, k")


def test_loops_are_recurrences_segments_or_layers() -> None:
    linear = "s = x[:, 0]\nfor t in range(x.shape[1]):\n    s = g * s + x[:, t]\nreturn s"
    assert {"recurrence", "scan"} <= structure(linear)
    product = "h = x[0]\nfor t in range(len(x)):\n    h = torch.tanh(h @ w + x[t])\nreturn h"
    assert {"recurrence", "rnn", "persistent"} <= structure(product)
    segments = "out = []\nfor b in range(n):\n    out.append(x[o[b]:o[b + 1]].mean(0))\nreturn out"
    found = structure(segments)
    assert {"jagged", "segment"} <= found
    assert "recurrence" not in found
    assert "recurrence" not in structure("for f in self.layers:\n    x = torch.relu(f(x))\nreturn x")


def test_algebra_and_pairs() -> None:
    assert "reassociation" in structure("return torch.matmul(torch.matmul(a, b), c).sum(1)")
    assert "reassociation" not in structure("return torch.matmul(a, b)")
    assert "pairwise" in structure("return (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)")


def test_convolutions_by_their_channels() -> None:
    def conv(init: str) -> set[str]:
        return structure("return self.c(x)", made="self.c = nn.Conv2d(c, f, k)", init=f"c, f, k={init}")

    assert "pointwise" in conv("64, 128, 1")
    assert "small-channels" in conv("3, 64, 7")
    assert not {"pointwise", "small-channels"} & conv("64, 128, 3")


@pytest.mark.parametrize("body", ["return " + "+".join(["x"] * 3000), "return x[", "for t in range(3): pass"])
def test_odd_sources_are_no_errors(body: str) -> None:
    assert isinstance(signs_of(problem(body, "torch.randn(*shape), *more")).structure, tuple)


def test_what_the_judge_says_hints_at_what_notes_say() -> None:
    assert "determinism" in of_failure("two runs on the same bytes differ in 3 of 9 elements")
    assert {"inputs", "in-place"} <= set(of_failure("a timed call changed input 0 of workload 'w'"))
    assert "reuse" in of_failure("a later call overwrote an earlier result: output 0")
    assert {"weights", "state"} <= set(of_failure("weights changed, and the result did not follow: output 0"))
    assert "uninitialised" in of_failure("with fresh memory poisoned: output 0 at [3]: expected 1, got nan")
    assert "tolerance" not in of_failure("expected 1, got nan; error inf x the allowed")
    assert "vendor-libraries" in of_failure("91% of the call's time is in PyTorch's addmm")
    assert "limits" in of_failure("9000 MiB of memory; the limit is 4096 MiB")
    assert not {"deadlock", "barrier"} & set(of_failure("one element was changed and expected output moved"))
    assert of_failure("") == of_figures(()) == ()
    assert "warp-shuffle" in of_figures(("warps wait at barriers 31 % of the time",))
    assert "wave-quantisation" in of_figures(("the last of 2.2 waves leaves 40 % of the device's time unused",))
    assert "fusion" in of_figures(("1.2 GB go through DRAM, 3.0 times what must",))
    assert "fusion" not in of_figures(("DRAM runs at 92 % of its peak",))


def test_a_crash_is_of_a_class_too() -> None:
    def classes(reason: str) -> tuple[str, ...]:
        return Situation(
            problem=problem("return x"), target=CPU, outcome=Crashed(reason=reason, stage="check", log="")
        ).tags

    assert classes("killed by SIGSEGV (Segmentation fault)")[0] == "numerics"
    assert classes("it raised in check: TypeError: kernel() takes 3 positional arguments")[0] == "build-error"
    assert classes("8 of a block stand at __syncthreads: the kernel does not end")[0] == "sync"
    late = TimedOut(reason="check took longer than 20 s; killed", stage="check", limit_s=20.0)
    assert Situation(problem=problem("return x"), target=CPU, outcome=late).bottlenecks == ("sync",)


def test_exact_products_ask_for_exact_notes_where_that_is_the_matter() -> None:
    def tags(rules: Rules, bottleneck: str = "compute", target: str = H200, reason: str = "") -> tuple[str, ...]:
        made = Problem(
            name="mine",
            source=problem("return a @ b").source,
            workloads=(Workload(name="w"),),
            rules=rules,
        )
        diagnosis = None if reason else Diagnosis(bottlenecks=(bottleneck,))
        return Situation(
            problem=made, target=target, diagnosis=diagnosis, outcome=Wrong(reason=reason) if reason else None
        ).tags

    strict = Rules(precision="strict_float32")
    assert "tf32" in tags(strict)
    assert "tf32" not in tags(Rules(precision="bfloat16"))
    assert "tf32" not in tags(strict, target=CPU)
    assert "tf32" not in tags(strict, "launch-overhead")
    assert "tf32" in tags(strict, reason="relative RMS error 1e-3, 40 x the allowed")
    assert "tf32" not in tags(strict, reason="it returned nothing where Tensor[3] was expected")


def note(name: str, *tags: str, applies_to: tuple[str, ...] = ("any",), bottlenecks: tuple[str, ...] = ()) -> Note:
    return Note(name=name, title=name, text="text", tags=tags, applies_to=applies_to, bottlenecks=bottlenecks)


def found(library: Library, situation: Situation) -> list[str]:
    return [each.name for each in library.recall(situation.tags, situation.text, 5)]


def test_what_few_notes_are_about_comes_before_what_many_are_about() -> None:
    many = [note(f"guidance/{n}", "relu", "elementwise", applies_to=("cuda",)) for n in range(8)]
    rare = note("languages/rare", "layout", "first", applies_to=("rare",))
    start = Situation(problem=problem("return torch.relu(x)"), target=H200, languages=("rare",))
    assert "languages/rare" in found(Library([*many, rare]), start)


def test_notes_on_a_language_that_is_not_written_stand_back() -> None:
    own = note("languages/own", "relu", "loads", applies_to=("triton",))
    other = note("languages/a-other", "relu", "loads", applies_to=("cuda",))
    library = Library([own, other])
    assert found(library, Situation(problem=problem("return torch.relu(x)"), target=H200, languages=("triton",))) == [
        "languages/own",
        "languages/a-other",
    ]
    assert found(library, Situation(problem=problem("return torch.relu(x)"), target=H200, languages=("cuda",))) == [
        "languages/a-other"
    ]


def test_a_platform_that_no_note_knows_asks_for_what_new_ones_need() -> None:
    template = note("platforms/template", "new-platform", "porting")
    others = [note(f"guidance/{n}", "relu", "elementwise") for n in range(8)]
    known = note("platforms/known", "roofline", "numbers", applies_to=("cuda",))
    library = Library([template, *others, known])
    assert "platforms/template" in found(library, Situation(problem=problem("return torch.relu(x)"), target="new:1"))
    assert "platforms/template" not in found(library, Situation(problem=problem("return torch.relu(x)"), target=H200))


def test_a_target_needs_no_model_of_processor() -> None:
    library = Library([note("a", "relu", "x", applies_to=("cuda",)), note("b", "relu", "x", applies_to=("cpu",))])
    assert found(library, Situation(problem=problem("return torch.relu(x)"), target="cpu")) == ["b"]


def test_what_a_broken_build_says_weighs_more_than_the_operators() -> None:
    library = Library(
        [
            note("guidance/softmax", "softmax", "reduction"),
            note("languages/errors", "compile-error", "typing", bottlenecks=("build-error",)),
            note("constraints/build", "output-form", "rules", bottlenecks=("build-error",)),
        ]
    )
    broken = BuildFailed(reason="NameError: cannot access global variable BLOCK", log="")
    asked = Situation(problem=problem("return torch.softmax(x, -1)"), target=H200, outcome=broken)
    assert found(library, asked)[0] == "languages/errors"


def test_attention_whose_second_input_is_a_vector_is_read() -> None:
    body = "s = torch.softmax(torch.matmul(x, x.transpose(1, 2)) * w, -1)\nreturn torch.matmul(s, x)"
    assert "attention" in structure(body, "torch.randn(4, 1, 64), torch.randn(64)", arguments="self, x, w")
