"""Rules that forbid CUDA graphs, or hints to the L2 cache: a text that uses them is refused by its line."""

import pytest

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.evaluation.checks.forbidden import Forbidden

GRAPHS = [
    "g = torch.cuda.CUDAGraph()",
    "with torch.cuda.graph(g):\n    pass",
    "from torch.cuda import Stream, graph",
    "f = torch.cuda.make_graphed_callables(f, (x,))",
    'f = torch.compile(f, mode="reduce-overhead")',
    "f = torch.compile(f, mode='max-autotune')",
    'f = torch.compile(f, options={"triton.cudagraphs": True})',
    "g = torch._C._CUDAGraph()",
    'TEXT = r"""\ncudaGraphLaunch(graph, stream);\n"""',
    'TEXT = "cudaStreamBeginCapture(s, m);"',
    'driver = ctypes.CDLL("libcuda.so"); driver.cuGraphLaunch(g, s)',
    "builder = device.create_graph_builder()",
]
HINTS = [
    'v = tl.load(p, eviction_policy="evict_last")',
    'tl.store(p, v, cache_modifier=".cs")',
    "v = tl.load(p, cache_modifier=HOW)",
    'TEXT = "float v = __ldcs(x + i); __stcg(y + i, v);"',
    'TEXT = "ld.global.L2::evict_last.f32 %0, [%1];"',
    'TEXT = "createpolicy.fractional.L2::evict_first.b64 p, 1.0;"',
    'TEXT = "prefetch.global.L2 [%0];"',
    'TEXT = "cp.async.bulk.prefetch.L2.global [%0], %1;"',
    'TEXT = "cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &a);"',
    'TEXT = "cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, n);"',
    'TEXT = "st.global.cs.f32 [%0], %1;"',
]
NEITHER = '''\
"""Neither torch.cuda.CUDAGraph nor eviction_policy is used here."""
import torch  # no cudaGraph, no __ldcs

TEXT = r"""
// cudaGraphLaunch would not help, nor eviction_policy
/* __ldcs(x)
   neither */
asm volatile("cp.async.cg.shared.global [%0], [%1], 16;");
asm volatile("ld.global.v4.f32 %0, [%1];");
"""


def kernel(x):
    """A graph of cuda.graph kind, evict_first."""
    half = 7 // 2
    y = tl.load(x, cache_modifier=".cv")
    return torch.compile(step, mode="max-autotune-no-cudagraphs", options={"triton.cudagraphs": False})(y, half)
'''


def _inspected(text: str, rules: Rules, *more: SourceFile) -> tuple[bool, str]:
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),), rules=rules)
    candidate = Candidate(language="triton", files=(SourceFile(name="main.py", text=text), *more))
    result = Forbidden().inspect(candidate, problem)
    return result.passed, result.detail


@pytest.mark.parametrize("line", GRAPHS)
def test_a_graph_is_refused_where_the_rules_forbid_it(line: str) -> None:
    text = f"import torch\n\n{line}\n"
    passed, detail = _inspected(text, Rules(cuda_graphs=False))
    assert not passed
    assert "is a CUDA graph, which the rules forbid (cuda_graphs=no)" in detail
    assert detail.startswith(f"main.py, line {4 if line.startswith('TEXT = r') else 3}: ")
    assert _inspected(text, Rules())[0]
    assert _inspected(text, Rules(l2_hints=False))[0]


@pytest.mark.parametrize("line", HINTS)
def test_a_hint_is_refused_where_the_rules_forbid_it(line: str) -> None:
    text = f"import triton\n\n{line}\n"
    passed, detail = _inspected(text, Rules(l2_hints=False))
    assert not passed
    assert detail.startswith("main.py, line 3: ")
    assert "is a hint to the L2 cache, which the rules forbid (l2_hints=no)" in detail
    assert _inspected(text, Rules())[0]
    assert _inspected(text, Rules(cuda_graphs=False))[0]


def test_what_only_mentions_them_is_not() -> None:
    assert _inspected(NEITHER, Rules(cuda_graphs=False, l2_hints=False)) == (True, "")


def test_other_files_are_read_too() -> None:
    device = SourceFile(name="kernel.cu", text="// cudaGraphLaunch\n/* __ldcs */ float v =\n  __ldcs(x);\n")
    assert _inspected("", Rules(cuda_graphs=False), device)[0]
    assert _inspected("", Rules(l2_hints=False), device)[1].startswith("kernel.cu, line 3: '__ldcs'")


@pytest.mark.parametrize("text", ["def f(:\n", "x = '''", "\0", "(" * 10_000, "a\f\n\x1cb = 1 // CUDAGraph\r\n", "\\"])
def test_a_text_that_cannot_be_parsed_is_read_as_it_is(text: str) -> None:
    helper = SourceFile(name="helper.py", text=f"{text}\nCUDAGraph\n")
    assert not _inspected("", Rules(cuda_graphs=False, l2_hints=False), helper)[0]
