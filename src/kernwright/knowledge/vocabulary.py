"""Words of knowledge packs, and what stands for the same thing."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import get_args

from kernwright.core.diagnosis import Bottleneck

BOTTLENECKS: tuple[str, ...] = get_args(Bottleneck)
"""Classes that a diagnosis uses, and so do the notes."""
FOLDERS = ("constraints", "guidance", "languages", "platforms", "samples")
ANY = "any"
PLAIN_LANGUAGES = frozenset({"torch"})
"""Of which a lesson holds for whatever is written for the platform."""
PLATFORM_NAMES = {"rocm": ("hip", "amd"), "cuda": ("nvidia",)}
"""What notes call a platform beside its own name."""
SISTERS = {"hip": ("cuda",), "opencl": ("cuda",)}
"""Languages written so alike that guidance and samples of the other help where there are few of its own."""
SHARED = frozenset({"guidance", "samples"})
"""Folders of which that holds: how something is computed, not how it is built or what an error means."""
_ISA = (("cpu:armv8", "cpu:aarch64"), ("cpu:armv9", "cpu:aarch64"), ("cpu:arm64", "cpu:aarch64"))
"""Beginnings of targets, and what notes call the instruction set that these have."""
_SAME = (
    ("matmul", "gemm", "linear", "matrixmultiplication", "mm", "matrixproduct"),
    ("batched", "bmm"),
    ("norm", "normalisation", "normalization"),
    ("reduction", "reduce", "rowreduction", "sum"),
    ("convolution", "conv"),
    ("transposed", "convtranspose", "transposedconvolution", "deconvolution"),
    ("scan", "prefixsum", "prefix", "cumulative"),
    ("attention", "sdpa", "flashattention", "scaleddotproductattention", "multiheadattention"),
    ("embedding", "lookup"),
    ("gather", "scatter", "indexing", "indices"),
    ("jagged", "ragged", "varlen", "variablelength", "nested"),
    ("elementwise", "pointwiseoperation", "activation"),
    ("fusion", "kernelfusion", "fuse"),
    ("pooling", "pool"),
    ("float16", "fp16", "half", "f16"),
    ("bfloat16", "bf16"),
    ("float32", "fp32", "f32"),
    ("float8", "fp8"),
    ("vectorisation", "vectorization", "simd", "vectorload"),
    ("autotuning", "tuning", "knob", "autotune"),
    ("openmp", "thread", "parallel"),
    ("numeric", "precision", "accuracy"),
    ("matvec", "gemv", "mv"),
    ("variance", "std", "var"),
    ("kldivergence", "kldiv"),
    ("quantisation", "quantization", "quantized", "int8"),
    ("launchoverhead", "launch"),
    ("warpshuffle", "shuffle"),
    ("determinism", "deterministic"),
    ("alignment", "aligned", "misaligned"),
)
_CANONICAL = {word: group[0] for group in _SAME for word in group}
OPERATORS = frozenset(
    "attention softmax matmul convolution norm scan pooling embedding gather jagged sort topk transpose loss rnn "
    "histogram argmax matvec".split()
)
"""Tags, as `canonical` has them, of notes about some operators and no others."""
SEEN = "\f"
"""In a text that is searched for: what stands before it was seen, what stands behind it is said of the problem."""
EMPTY = frozenset(
    "a all an and any are as at be been but by can do does each else for from has have how if in into is it its more "
    "most no not of on one only or other over per same so some such than that the their them then there these they "
    "this to too up use used very was were what when where which while will with without would you self return def "
    "class torch nn problem model".split()
)
"""Words that say nothing of what a text is about."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def is_tag(text: str) -> bool:
    """Whether it is a word, or several with hyphens, in small letters."""
    return _TAG.fullmatch(text) is not None


@lru_cache(maxsize=8192)
def canonical(tag: str) -> str:
    """One word for all that mean the same, however it is spelt: `Layer_Norm`, `layer-norms` and `layernorm` are one."""
    plain = "".join(character for character in tag.lower() if character.isalnum())
    singular = (
        plain[:-1] if plain.endswith("s") and not plain.endswith(("ss", "us", "bias")) and len(plain) > 3 else plain
    )
    return _CANONICAL.get(plain) or _CANONICAL.get(singular) or singular


def words(name: str) -> Iterator[str]:
    """The words of a text or identifier, small; `LayerNorm` is one and the two that it is made of."""
    for token in _TOKEN.findall(name):
        yield token.lower()
        parts = _PART.findall(token)
        if len(parts) > 1 or len("".join(parts)) < len(token):
            yield from (part.lower() for part in parts if len(part) > 2)


def spoken(language: str) -> str:
    """What notes call a language: one from outside, given as `module:Class`, by its class in small letters."""
    return language.rpartition(":")[2].lower() if ":" in language else language


def scope(target: str, languages: Iterable[str] = ()) -> tuple[str, ...]:
    """What a note may say that it applies to, where a candidate is for this target, in these languages."""
    platform = target.partition(":")[0]
    return tuple(dict.fromkeys((*known_as(target), platform, *PLATFORM_NAMES.get(platform, ()), *languages)))


def known_as(target: str) -> tuple[str, ...]:
    """A target by its own name and by that of its instruction set."""
    return (target, *(name for beginning, name in _ISA if target.startswith(beginning)))


def applies(applies_to: Iterable[str], scope: Iterable[str]) -> bool:
    """Whether one of these words is `any`, in the scope, or the beginning of its target (`cpu:x86-64` of `-v4`)."""
    there = tuple(scope)
    return any(word == ANY or word in there or any(_begins(target, word) for target in there) for word in applies_to)


def _begins(target: str, word: str) -> bool:
    if ":" not in word or not target.startswith(word):
        return False
    return not target[len(word) :][:1].isdigit()
