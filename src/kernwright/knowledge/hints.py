"""What an error or a figure hints at, in the words of notes: who wrote the one did not read the other."""

import re
from functools import lru_cache

_FAILURES = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in {
        r"\bnan\b|\binf\b|uninitiali[sz]ed|poison|never written|before (it is|they are) written": "poisoned "
        "uninitialised bounds tail masking shapes",
        r"sigsegv|segmentation|misaligned|illegal (memory )?access|out.of.bounds|alignment|is a multiple of": "alignment "
        "shapes bounds tail strides pointers",
        r"out.?of.?memory|allocate|bad_alloc|\bOOM\b": "memory limits deadline",
        r"out of resource|shared memory|too many registers|exceeds": "registers shared-memory tiles resources stages",
        r"timed? ?out|does not end|deadlock|\bhang|\bwait": "deadlock barrier grid-sync deadline",
        r"barrier|syncthreads|__sync": "barrier sync warp-shuffle",
        r"shfl|shuffle|warp|wavefront": "warp-shuffle votes wavefront",
        r"differ|two runs|determinis|repeat": "determinism atomics order",
        r"view|alias|same memory|overlap": "aliasing output-form new memory",
        r"input.* (was|were) (changed|written|modified)|did not\b": "inputs caching state",
        r"vendor|cublas|cudnn|aten::": "vendor-libraries fallback rules",
        r"grows|accumulat|number of (keys|terms|steps)": "accumulation summation precision",
        r"relative|rms|tolerance|allowed|error [\d.e+-]+": "tolerance precision rounding",
        r"tf32|input_precision|allow_tf32": "tf32 precision",
        r"knob|literal|default": "knobs literals",
        r"has no attribute|undefined|undeclared|not declared|identifier|NameError|cannot access": "compile-error names",
        r"type|dtype|assert": "compile-error typing",
        r"\barg(ument)?s?\b|signature|parameter": "launch arguments types candidate-form",
        r"cannot open|no such file|include|import": "loader headers candidate-form",
    }.items()
)
"""What the reason of a failure says, and what notes on it speak of."""
_FIGURES = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in {
        r"\b([2-9]|1[.][5-9]|[2-9][.])\d* times|\d kernels|launches|temporar|cop(y|ies)": "fusion",
        r"\bwaves?\b": "wave-quantisation tail-effect",
        r"shuffle": "warp-shuffle",
        r"barrier": "barrier warp-shuffle",
        r"local memory|spill": "registers local-memory",
        r"special.function|expf?\b|tanhf?\b": "exp special-functions vector-math fast-math",
        r"L2 hit|second (sweep|read|pass)|read .* times": "l2 cache-hints cluster",
        r"(8|16|32).bit\b.*loads|loads.*(8|16|32).bit\b": "vector-loads alignment",
        r"asynchronous|LDG|num_stages": "cp-async pipelining num-stages",
        r"(programs|blocks) on|SM busy": "split",
        r"page.fault|TLB": "page-faults numa allocation",
        r"LLC|cache miss": "prefetch cache-blocking",
        r"parallel regions|workers|idle": "scheduling openmp",
        r"per (output|element)": "indexing stencil",
        r"gap between|host": "cuda-graphs overhead",
    }.items()
)
"""The same of figures."""


@lru_cache(maxsize=1024)
def of_failure(reason: str) -> tuple[str, ...]:
    """Words for what a failure's reason says."""
    return _hinted(_FAILURES, reason)


@lru_cache(maxsize=1024)
def of_figures(evidence: str) -> tuple[str, ...]:
    """Words for what sentences with figures say."""
    return _hinted(_FIGURES, evidence)


def _hinted(table: tuple[tuple[re.Pattern[str], str], ...], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for pattern, words in table if pattern.search(text) for word in words.split()))
