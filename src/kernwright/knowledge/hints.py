"""What an error or a figure hints at, in the words of notes: who wrote the one did not read the other."""

import re
from collections.abc import Mapping
from functools import lru_cache


def _table(plain: Mapping[str, str]) -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple((re.compile(said, re.IGNORECASE), tuple(words.split())) for said, words in plain.items())


_FAILURES = _table(
    {
        # what was computed
        r"\bnan\b|\binf\b|infinit": "nan infinity overflow masking",
        r"uninitiali[sz]ed|poison|never written|before \w+ (is|are) written": "uninitialised bounds tail shapes",
        r"^(?!.*\b(?:nan|inf)\b).*(relative|\brms\b|tolerance|allowed|\berror [\d.e+-]+)": "tolerance precision",
        r"grows|accumulat|number of (keys|terms|steps|rows)|long (sum|row)": "accumulation summation precision",
        r"tf32|input_precision|\bieee\b": "tf32 precision",
        r"held.out|last (row|element|column|\d+)|tail|remainder|multiple of": "shapes masking tail dispatch",
        r"\b(shape|dtype|strides?)\b.*(expected|instead|not)|was expected": "output-form correctness",
        r"differ|two runs|determinis|not repeat|same bytes": "determinism atomics",
        r"\bview\b|alias|overwrote|same memory|overlap": "aliasing reuse output-form",
        r"(changed|wrote|stores?|modified).*\binput|input.*(was|were) (changed|written|modified)": "inputs in-place",
        r"did not (change|move|follow)|did not\b|earlier call|cached|stale|replay": "caching state",
        r"weights? (changed|differ)|prepack|state_dict": "weights prepack state",
        r"vendor|cublas|cudnn|aten::|PyTorch's": "vendor-libraries fallback",
        r"\bties?\b|wrong ind(ex|ices)": "ties indices",
        # how it ended
        r"sigsegv|sigbus|segmentation|misaligned|illegal (memory )?access|invalid address": "alignment bounds shapes",
        r"out.of.bounds|out of range|IndexError": "bounds masking shapes",
        r"out.?of.?memory|tried to allocate|bad_alloc|MiB of memory|no space": "memory limits",
        r"timed? ?out|took longer|no answer within|deadline": "deadline limits deadlock",
        r"does not end|deadlock|\bhang|\bwait(s|ing)?\b": "deadlock grid-sync barrier",
        r"barrier|syncthreads|__sync": "barrier warp-shuffle",
        r"shfl|shuffle|\bwarps?\b|wavefront|lane": "warp-shuffle votes wavefront",
        # what does not build
        r"out of resource|shared memory|too (many|much)|exceeds|ptxas": "registers tiles resources",
        r"knobs?\b|literal|constexpr": "knobs autotuning",
        r"has no attribute|undefined|undeclared|not declared|identifier|NameError|cannot access": "compile-error",
        r"\btypes?\b|dtype|cast|AssertionError|assertion": "compile-error typing",
        r"\b(break|continue)\b|early (exit|return)|control flow|(un|not )supported": "compile-error control-flow",
        r"\barg(ument)?(s|#\w*)?\b|signature|parameter|ctypes": "candidate-form launch",
        r"cannot open|no such file|include|import|module-level|defines neither": "candidate-form",
        r"gcc|g\+\+|openmp|\bomp\b|simd": "openmp simd gcc",
    }
)
"""What the reason of a failure says, and tags of notes on it."""
_FIGURES = _table(
    {
        r"\b([2-9]|1\.[5-9]|[2-9]\.\d)\d* times (the|what|its|as)|\d kernels|launches|temporar|copies|passes": "fusion",
        r"\bwaves?\b": "wave-quantisation tail-effect",
        r"(programs|blocks|tiles) on|SM busy|multiprocessors (are )?idle": "split",
        r"shuffles?\b": "warp-shuffle",
        r"barrier": "barrier warp-shuffle",
        r"local memory|spill|registers": "registers local-memory",
        r"special.function|\bMUFU|\bexpf?\b|tanhf?\b|logf?\b|erff?\b": "exp special-functions vector-math fast-math",
        r"L2 hit|second (sweep|read|pass)|read .* times": "cache-hints cluster",
        r"(8|16|32).bit\b.*(loads|accesses)|narrow|(loads|accesses).*(128|32|16) bits": "vector-loads alignment",
        r"integer|index|div(ision|ide)|IMAD|address": "integer strides",
        r"asynchronous|LDG|num_stages|stages|in flight": "pipelining cp-async num-stages",
        r"atomic": "atomics contention",
        r"page.fault|TLB|new at every call|system time": "page-faults numa allocation",
        r"last.level|LLC|cache miss": "cache-blocking prefetch",
        r"strid(e|ed)|power of two|aliasing|same set": "layout cache-conflicts",
        r"false sharing|between cores|cache lines?": "false-sharing threads",
        r"parallel regions|workers|cores are in use|threads": "scheduling openmp",
        r"dependent|chain": "unrolling fma",
        r"scalar|not vectori[sz]ed|vectorised none|branch|edge": "simd gcc",
        r"gathers?\b|scatters?\b|random": "gather",
        r"longest|shortest|uneven|last block|varies": "load-balance",
        r"gap between|host\b|idle.*call|between its": "cuda-graphs overhead",
        r"mma\.sync|wgmma|tcgen05|tensor.core instruction": "wmma tensor-cores",
        r"transpos|layout": "layout",
    }
)
"""The same of sentences with figures."""


@lru_cache(maxsize=1024)
def of_failure(reason: str) -> tuple[str, ...]:
    """Words for what a failure's reason says."""
    return tuple(dict.fromkeys(word for said, words in _FAILURES if said.search(reason) for word in words))


@lru_cache(maxsize=1024)
def of_figures(evidence: tuple[str, ...]) -> tuple[str, ...]:
    """Words for what sentences with figures say."""
    return tuple(
        dict.fromkeys(
            word for said, words in _FIGURES if any(said.search(sentence) for sentence in evidence) for word in words
        )
    )
