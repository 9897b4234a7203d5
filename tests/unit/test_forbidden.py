"""Texts that are refused before anything runs: what the rules forbid, by its line, and what nobody can read."""

from time import process_time_ns

import pytest

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.problem import Problem, Rules, Workload
from kernwright.evaluation.checks.entry import Entry
from kernwright.evaluation.checks.forbidden import Forbidden
from kernwright.search.knobs import knob_names

GRAPHS = [
    "g = torch.cuda.CUDAGraph()",
    "g, done = torch.cuda.CUDAGraph(), False",
    "with torch.cuda.graph(g):\n    pass",
    "g = torch.accelerator.Graph()",
    "from torch.cuda import Stream, graph",
    "from torch.cuda import (\n    Stream,\n    graph,\n)",
    "f = torch.cuda.make_graphed_callables(f, (x,))",
    'f = torch.compile(f, mode="reduce-overhead")',
    "f = torch.compile(f, mode='max-autotune')",
    'f = torch.compile(f, options={"triton.cudagraphs": True})',
    "g = torch._C._CUDAGraph()",
    "stream.begin_capture()",
    'TEXT = r"""\ncudaGraphLaunch(graph, stream);\n"""',
    'TEXT = "cudaStreamBeginCapture(s, m);"',
    'driver = ctypes.CDLL("libcuda.so"); driver.cuGraphLaunch(g, s)',
    "builder = device.create_graph_builder()",
]
HINTS = [
    'v = tl.load(p, eviction_policy="evict_last")',
    "v = tl.load(p + (x // 4), m, eviction_policy='evict_first')",
    'tl.store(p, v, cache_modifier=".cs")',
    'tl.store(p, v, cache_modifier="" if early else ".wt")',
    'v = tl.load(p, None, None, (), "", ".cs")',
    "v = tl.load(p, cache_modifier=HOW)",
    "v = cuda.ldcs(x, i)",
    'TEXT = "float v = __ldcs(x + i); __stwt(y + i, v);"',
    'TEXT = "// load\\nfloat v = __ldcs(x);"',
    'TEXT = "ld.global.L2::evict_last.f32 %0, [%1];"',
    'TEXT = "cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"',
    'TEXT = "createpolicy.fractional.L2::evict_first.b64 p, 1.0;"',
    'TEXT = "prefetch.global.L2 [%0];"',
    'TEXT = "prefetch.L2 [%0];"',
    'TEXT = "cp.async.bulk.prefetch.L2.global [%0], %1;"',
    'TEXT = "cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &a);"',
    'TEXT = "cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, n);"',
    'TEXT = "cuda::annotated_ptr<float, cuda::access_property::persisting> p(x);"',
    'TEXT = "st.global.cs.f32 [%0], %1;"',
    'TEXT = "ld.weak.global.cs.f32 %0, [%1];"',
]
NEITHER = '''\
"""A softmax without CUDA graphs or hints."""
import torch  # no cudaGraph, no __ldcs, no eviction_policy
from torch.cuda import Stream, current_stream

TEXT = r"""
asm volatile("cp.async.cg.shared.global [%0], [%1], 16;");
asm volatile("ld.global.v4.f32 %0, [%1];");
asm volatile("ld.global.nc.L1::evict_last.f32 %0, [%1];");
float arrived = __ldcg(flag), d = L2::dist(a, b);
"""


def relationship_graph(x, load: tl.constexpr = "", eviction_policy: tl.constexpr = ""):
    half = 7 // 2
    y = tl.load(x, cache_modifier=".cv") + tl.load(x, cache_modifier=".cg", eviction_policy="")
    builder = KnnGraphBuilder(evict_oldest, use_cuda_graph=False)
    graph_0 = torch.compile(step, mode="max-autotune-no-cudagraphs", options={"triton.cudagraphs": False})
    return graph_0(y, half)
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
    assert "a CUDA graph, which the rules forbid (cuda_graphs=no)" in detail
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
    device = SourceFile(name="kernel.cu", text="float v =\n  __ldcs(x);\n")
    assert _inspected("", Rules(cuda_graphs=False), device)[0]
    assert _inspected("", Rules(l2_hints=False), device)[1].startswith("kernel.cu, line 2: '__ldcs'")


@pytest.mark.parametrize("text", ["def f(:\n", "x = '''", "\0", "(" * 10_000, "a\f\n\x1cb = 1 // CUDAGraph\r\n", "\\"])
def test_a_text_that_cannot_be_parsed_is_read_as_it_is(text: str) -> None:
    helper = SourceFile(name="helper.py", text=f"{text}\nCUDAGraph\n")
    assert not _inspected("", Rules(cuda_graphs=False, l2_hints=False), helper)[0]


@pytest.mark.parametrize("deep", ["kernel = a" + ".b" * 50_000, "kernel = " + "-" * 50_000 + "1"])
def test_a_main_file_that_is_nested_too_deeply_is_refused(deep: str) -> None:
    candidate = Candidate(language="torch", files=(SourceFile(name="main.py", text=deep),))
    problem = Problem(name="p", source="", workloads=(Workload(name="w"),))
    assert Entry().inspect(candidate, problem).detail == "main.py is not Python: it is nested too deeply"
    assert knob_names(candidate) == ()


@pytest.mark.parametrize(
    "part",
    ["a", "/* ", "torch.cuda import a, ", "('',", ".a", "# a\n", "L2::", "cuda", "ld.global.", "eviction_policy=''"],
)
def test_a_long_text_takes_as_long_as_it_is(part: str) -> None:
    """Four times as long; a pattern that looks back and forth would take sixteen times."""
    took = []
    for size in (1 << 16, 1 << 18):
        text, start = part * (size // len(part)), process_time_ns()
        assert _inspected(text, Rules(cuda_graphs=False, l2_hints=False))[0]
        took.append(process_time_ns() - start)
    assert took[1] < 10 * took[0] + 2e8
