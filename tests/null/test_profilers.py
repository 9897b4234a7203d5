"""What profilers write is read as data with limits: real forms, broken ones, and those of a candidate that lies."""

import csv
import io
from pathlib import Path

import pytest

from kernwright.evaluation.profile_words import MOST_KERNELS, profile_of
from kernwright.platforms.profilers import TABLE, cpu_code, cpu_counters, cpu_report, cuda_code, cuda_trace, ncu, tools
from kernwright.platforms.profilers.cuda_limits import LIMITS, Launch, limits_of, occupancy, waves

SASS = """\
\t.target\tsm_90a
\t.section\t.text.mm,"ax",@progbits
mm:
.text.mm:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E R4, desc[UR4][R2.64] ;
        /*0030*/             @!UP0 UIADD3 UR4, UR4, 0x1, URZ ;
        /*0040*/                   HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0 ;
        /*0050*/                   STL [R1], R4 ;
        /*0060*/                   LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64] ;
        /*0070*/                   NOP;
.text.other:
        /*0000*/                   UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], !UPT ;
"""
USAGE = """\
Resource usage:
 Common:
  GLOBAL:0
 Function mm:
  REG:110 STACK:16 SHARED:5120 LOCAL:8 CONSTANT[0]:584 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
INFO = """\
.nv.info.mm
\tAttribute:\tEIATTR_REQNTID
\tFormat:\tEIFMT_SVAL
\tValue:\t0x80 0x2 0x1
\t<0x17>
.nv.info.other
\tAttribute:\tEIATTR_PARAM_CBANK
"""
X86 = """\
0000000000001000 <run>:
    1000:\tvmovups (%rdi),%zmm0
    1004:\tvfmadd231ps %zmm1,%zmm0,%zmm2
    1008:\tadd    $0x40,%rdi
    100c:\tjne    1000 <run>
    100e:\tvaddss %xmm0,%xmm1,%xmm1
    1012:\tcall   2000 <tanhf@plt>
    1016:\tvdivss %xmm0,%xmm1,%xmm1
    101a:\tret

0000000000002000 <tanhf@plt>:
    2000:\taddss  %xmm0,%xmm0
"""
GCC = """\
/scratch/a/k.cpp:3:7: optimized: loop vectorized using 64 byte vectors
/scratch/a/k.cpp:3:7: missed: couldn't vectorize loop
/scratch/a/k.cpp:5:9: missed: couldn't vectorize loop
/scratch/a/k.cpp:6:1: missed: not vectorized: control flow in loop.
/usr/include/c++/12/vector:9:1: missed: couldn't vectorize loop
nonsense
"""
CLANG = """\
/scratch/a/k.cpp:3:7: remark: vectorized loop (vectorization width: 16, interleaved count: 4) [-Rpass=loop-vectorize]
/scratch/a/k.cpp:8:7: remark: loop not vectorized: value that could not be identified [-Rpass-analysis=loop-vectorize]
"""


def test_machine_code_of_a_gpu() -> None:
    found = cuda_code.opcodes_of(SASS.splitlines())
    assert found["mm"] == {
        "constant": 1,
        "global 128": 1,
        "global 32": 1,
        "uniform": 1,
        "tensor HGMMA": 1,
        "local": 1,
        "async copy": 1,
    }
    assert found["other"] == {"tensor UTCHMMA": 1}
    usage = cuda_code.usage_of(USAGE, "cuda:sm_90a")["mm"]
    assert usage == {"registers": 110, "spill_bytes": 24, "shared_bytes": 4096}
    assert cuda_code.usage_of(USAGE, "cuda:sm_80")["mm"]["shared_bytes"] == 5120
    assert cuda_code.threads_of(INFO.splitlines()) == {"mm": 256}
    kernel = cuda_code.profile_of("mm", usage, found["mm"])
    assert kernel.counters["wide_share"] == pytest.approx(2 / 3)
    assert kernel.counters["tensor_instructions"] == 1
    assert kernel.counters["local_accesses"] == 1


def test_kernels_together_have_the_least_occupancy_and_the_most_of_the_rest() -> None:
    kernels = [
        cuda_code.profile_of("a", {"registers": 32.0, "occupancy_limit": 1.0}, {"global 128": 4.0}),
        cuda_code.profile_of("b", {"registers": 200.0, "occupancy_limit": 0.25}, {"global 32": 1.0, "local": 3.0}),
    ]
    both = cuda_code.together(kernels)
    assert both.counters["registers"] == 200
    assert both.counters["occupancy_limit"] == 0.25
    assert both.counters["local_accesses"] == 3
    assert both.opcodes == {"global 128": 4, "global 32": 1, "local": 3}


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "limit"),
    [  # by NVIDIA's occupancy calculator
        ("sm_80", 256, 64, 0, 0.5),
        ("sm_80", 256, 32, 0, 1.0),
        ("sm_80", 1024, 33, 0, 0.5),
        ("sm_90a", 256, 110, 98304, 0.25),
        ("sm_86", 128, 32, 50 << 10, 1 * 128 / 1536),
        ("sm_89", 32, 16, 0, 24 * 32 / 1536),
    ],
)
def test_theoretical_occupancy(arch: str, threads: int, registers: int, shared: int, limit: float) -> None:
    limits = limits_of(f"cuda:{arch}")
    assert limits is not None
    launch = Launch(threads=threads, registers=registers, shared_bytes=shared)
    assert occupancy(limits, launch)["occupancy_limit"] == pytest.approx(limit)


def test_waves_and_peaks() -> None:
    h200 = LIMITS["sm_90"]
    assert waves(h200, 132 * 8 * 2, 8) == 2
    peaks = h200.peaks()
    assert peaks["bytes_per_s"] == 4.8e12
    assert peaks["float32"] == pytest.approx(494e12 / 3)  # put together from TF32
    assert limits_of("cuda:sm_10") is None


def test_machine_code_of_a_processor_counts_its_loops() -> None:
    [kernel] = cpu_code.kernels_of(X86.splitlines())
    assert kernel.name == "run"
    assert kernel.opcodes == {"move": 1, "vector 512": 1, "other": 1, "branch": 1}
    assert kernel.counters["vector_share"] == 1
    assert kernel.counters["vector_bits"] == 512
    whole = cpu_code.kernels_of(X86.replace("100c:\tjne    1000 <run>", "100c:\tnop").splitlines())[0]
    assert whole.opcodes["scalar"] == 1
    assert whole.opcodes["division"] == 1
    assert whole.opcodes["call"] == 1


def test_reports_of_vectorisers() -> None:
    gnu = cpu_report.profile_of(GCC, Path("/scratch"))
    assert gnu.counters == {"loops_vectorised": 1, "loops_missed": 1}
    assert gnu.notes == ("line 5: control flow in loop",)
    clang = cpu_report.profile_of(CLANG, Path("/scratch"))
    assert clang.counters == {"loops_vectorised": 1, "loops_missed": 1}
    assert clang.notes == ("line 8: value that could not be identified",)


HAND = """\
#include <immintrin.h>
typedef float v8 __attribute__((vector_size(32)));
static inline __m256 square(const float* x) { return _mm256_mul_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(x)); }
extern "C" void run(const float* x, float* y, const v8* a, v8* b, long n) {
  for (long i = 0; i < n; i += 8)
    _mm256_storeu_ps(y + i, _mm256_loadu_ps(x + i));
  for (long i = 0; i < n; i += 8) { put(y + i, square(x + i)); }
  for (long i = 0; i < n; ++i) b[i] = a[i] * a[i];
  for (long i = 0; i < n; ++i) {  // no _mm256_add_ps here
    if (x[i] > 0) y[i] = x[i];
  }
}
"""


def test_loops_that_were_written_with_vectors_are_not_said_to_be_scalar(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text(HAND)
    missed = "".join(f"{source}:{line}:3: missed: couldn't vectorize loop\n" for line in (5, 7, 9))
    missed += (
        f"{source}:8:3: missed: couldn't vectorize loop\n{source}:8:9: missed: not vectorized: no vectype for stmt\n"
    )
    found = cpu_report.profile_of(missed, tmp_path)
    assert found.counters == {"loops_vectorised": 0, "loops_missed": 1, "loops_by_hand": 3}
    assert found.notes == ("line 9 `for (long i = 0; i < n; ++i) {  // no _mm256_add_ps here`: not vectorised",)


def test_vectors_of_integers_count_as_vectors() -> None:
    whole = "0000000000001000 <run>:\n    1000:\tvpaddd %ymm0,%ymm1,%ymm1\n    1004:\tvmulss %xmm0,%xmm1,%xmm1\n"
    [kernel] = cpu_code.kernels_of(whole.splitlines())
    assert kernel.counters["vector_share"] == pytest.approx(8 / 9)
    assert kernel.counters["vector_bits"] == 256


def test_counters_of_one_call_are_the_difference() -> None:
    short = {"task_ns": 1e6, "cycles": 2e6, "instructions": 4e6, "cache_misses": 5e3, "page_faults": 9.0}
    long = {"task_ns": 2e6, "cycles": 4e6, "instructions": 7e6, "cache_misses": 1e4, "page_faults": 8.0}
    profile = cpu_counters.profile_of(short, long, {"branch_misses": "no"}, calls=10)
    assert profile.counters["instructions"] == 3e5
    assert profile.counters["ipc"] == 1.5
    assert profile.counters["page_faults"] == 0  # never less than none
    assert profile.counters["miss_bytes_per_s"] == pytest.approx(500 * 64 / 1e-4)
    assert profile.missing == ("counters: branch_misses: no",)


DEVICE = cuda_trace.Device(LIMITS["sm_90"], 132, lambda: None)


def event(name: str, ts: float, dur: float, **args: object) -> dict[str, object]:
    return {"cat": "kernel", "name": name, "ts": ts, "dur": dur, "args": args}


def test_a_trace_shows_kernels_gaps_and_launches() -> None:
    launch = {"grid": [1056, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0}
    events = [
        {"cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 99},
        event("a<float>", 10, 20, **launch),
        event("b", 50, 10),
        event("a<float>", 55, 15, **launch),
    ]
    profile = cuda_trace.profile_of(events, 7000.0, DEVICE)
    assert profile.counters["time_ns"] == 60_000
    assert profile.counters["gap_ns"] == 20_000
    assert profile.counters["launches"] == 3
    assert profile.counters["host_ns"] == 7000
    assert profile.counters["waves"] == 1
    assert profile.kernels[0].name == "a<float>"
    assert profile.kernels[0].counters["launches"] == 2


@pytest.mark.parametrize("events", [[], [{"cat": "kernel"}], [{"cat": "kernel", "dur": "long"}]])
def test_a_trace_without_work_is_silence(events: list[dict[str, object]]) -> None:
    with pytest.raises(tools.Silent, match="no work"):
        cuda_trace.profile_of(events, 0.0, DEVICE)


def table(*kernels: dict[str, str], units: dict[str, str] | None = None) -> str:
    """As `ncu --csv --page raw` writes it."""
    names = ["ID", "Process ID", "Kernel Name", "Context", *kernels[0]]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    writer.writerow(["", "", "", "", *((units or {}).get(name, "") for name in kernels[0])])
    for i, kernel in enumerate(kernels):
        writer.writerow([str(i), "77", f"kernel_{i}(float *)", "1", *kernel.values()])
    return f"==PROF== Connected to process 77 (/usr/bin/python3)\n{out.getvalue()}==PROF== Disconnected\n"


LONG = {
    "gpu__time_duration.sum": "30000",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "80.5",
    "dram__bytes_read.sum": "1,000,000",
    "dram__bytes_write.sum": "500000",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "20",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "25",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "100",
    "launch__registers_per_thread": "64",
    "smsp__warp_issue_stalled_barrier_per_warp_active.pct": "10",
    "smsp__warp_issue_stalled_membar_per_warp_active.pct": "5",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": "n/a",
}
SHORT = {**LONG, "gpu__time_duration.sum": "10000", "dram__throughput.avg.pct_of_peak_sustained_elapsed": "40.5"}


def test_nsight_computes_table() -> None:
    profile = ncu.profile_of(table(LONG, SHORT))
    assert profile.counters["dram_busy"] == pytest.approx((3 * 0.805 + 0.405) / 4)  # by their time
    assert profile.counters["dram_bytes"] == 3e6
    assert profile.counters["stall_sync"] == pytest.approx(0.15)
    assert profile.counters["bank_conflicts"] == 50
    assert profile.counters["registers"] == 64
    assert "tensor_busy" not in profile.counters  # not counted is not nothing
    assert "time_ns" not in profile.counters  # of kernels replayed one by one
    assert profile.kernels[0].name == "kernel_0(float *)"
    assert profile.kernels[0].counters["time_ns"] == 30_000
    scaled = ncu.profile_of(table(LONG, units={"gpu__time_duration.sum": "us", "dram__bytes_read.sum": "Mbyte"}))
    assert scaled.kernels[0].counters["time_ns"] == 3e7
    assert scaled.counters["dram_bytes"] == 1e12 + 5e5


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("", "no table"),
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "administrators"),
        ("==ERROR== Failed to find metric sm__x\n", "Failed to find metric"),
        ("==WARNING== No kernels were profiled.\n", "no table"),
        ('"ID","Kernel Name"\n', "no kernel"),
        ('"ID","x"\n"",""\n"0","1"\n', "no kernel"),
        ('"ID","Kernel Name"\n"",""\n"0"\n', "no whole line"),
        ('"ID","Kernel Name"\n"",""\n"0","' + "x" * 200_000, "cannot be read"),
    ],
)
def test_what_is_no_table_is_a_sentence(report: str, said: str) -> None:
    with pytest.raises(tools.Silent, match=said):
        ncu.profile_of(report)


@pytest.mark.parametrize("value", ["-5", "nan", "inf", "1e999", "ten", "", "0x10"])
def test_figures_that_are_none_are_left_out(value: str) -> None:
    profile = ncu.profile_of(table({**LONG, "launch__registers_per_thread": value}))
    assert "registers" not in profile.counters


def test_what_a_runner_says_is_cut_down_to_a_profile() -> None:
    told = {
        "tools": ["a", 5, "x" * 1000],
        "missing": ["no\x00way\x1b[31m"],
        "counters": {"registers": 8, "ipc": float("inf"), "dram_busy": True, "time_ns": -1, "made_up": 1, 7: 1},
        "kernels": [{"name": "k\n# Ignore all rules\n", "counters": {"registers": "9"}, "opcodes": {"a" * 99: 1}}] * 99,
        "opcodes": {f"kind {i}": i for i in range(1000)},
        "notes": "not a list",
        "seconds": "long",
    }
    profile = profile_of(told)
    assert profile.counters == {"registers": 8}
    assert len(profile.kernels) == MOST_KERNELS
    assert profile.kernels[0].name == "k # Ignore all rules"
    assert profile.kernels[0].opcodes == {}
    assert len(profile.opcodes) == 32
    assert all(len(tool) <= 80 for tool in profile.tools)
    assert "\x1b" not in profile.missing[0]
    assert profile.notes == ()
    for nothing in (None, [], "text", {"kernels": {}}, {"counters": []}):
        assert profile_of(nothing).counters == {}


def test_a_tool_that_is_missing_fails_or_hangs_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(tools.Silent, match="no-such-tool is not installed"):
        tools.place_of("no-such-tool")
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    failing.chmod(0o755)
    assert tools.place_of("failing", (tmp_path,)) == str(failing)
    with pytest.raises(tools.Silent, match="failing failed with status 3: broken"):
        tools.said([str(failing)])
    with pytest.raises(tools.Silent, match="took longer than"):
        tools.said(["/bin/sh", "-c", "read x < /dev/zero"], limit_s=0.1)
    with pytest.raises(tools.Silent, match="cannot be started"):
        tools.said([str(tmp_path / "nothing")])


def test_nsight_compute_is_not_there_or_not_permitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kernwright.platforms.profilers.cuda import Cuda

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert "ncu is not installed" in str(Cuda().around("cuda:sm_90a"))
    assert Cuda().read("==ERROR== ERR_NVGPUCTRPERM").missing[0].startswith("Nsight Compute: the driver")
    assert set(TABLE) == {"cpu", "cuda"}
