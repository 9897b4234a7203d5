"""What a text says that uses what a rule can forbid, whatever its language."""

import re

_OFF = r"(?!\w{0,40}[\"'\]]{0,2}\s{0,9}(?::\s?bool\s?)?[:=]\s{0,9}[\"']?(?:False|0)\b)"
_GRAPHS = re.compile(
    rf"(?<![a-z])(?<!no-)(?<!disable_)(?:cuda|cu|hip)_?graph(?!s?_unsafe){_OFF}|cuda\.graphs?\b|accelerator\.Graph\b"
    r"|torch\.cuda(?:\.graphs)?\s{1,9}import\s{0,9}\(?[\w\s,]{0,200}\bgraph\b"
    r"|make_graphed_callables|StreamBeginCapture|begin_capture|capture_begin|ScopedCapture|(?<![a-z])graph_?builder"
    r"|reduce-overhead|max-autotune(?!-no-cudagraphs)",
    re.IGNORECASE,
)
_DEFAULT = r"(?![\"']?\s{0,9}(?::\s?tl\.constexpr\s?)?[:=]\s{0,9}[\"'](?:\.c[agv]|\.wb)?[\"'])"
_HINTS = re.compile(
    rf"(?:eviction_policy|cache_modifier){_DEFAULT}|[\"']\.(?:cs|lu|wt)[\"']"
    r"|\bL2::(?:evict|cache_hint|\d+B)|(?<!L1::)\bevict_(?:first|last|unchanged)\b|createpolicy|applypriority"
    r"|access_?policy|persisting_?l2|access_property|annotated_ptr|L2_PROMOTION_L2|MaxL2FetchGranularity"
    r"|\b__(?:ld|st)(?:cs|lu|wt)\b|\bcuda\.(?:ld|st)(?:cs|lu|wt)\b|\b(?:LOAD|STORE)_(?:CS|LU|WT)\b"
    r"|\b(?:ld|st)(?:\.\w{1,9}){0,3}\.(?:cs|lu|wt)\b|\b(?:prefetchu?|discard)(?:\.global)?\.L2|bulk\.prefetch",
    re.IGNORECASE,
)
"""What keeps out of the first-level cache (`.cg`) or asks for what is true (`.cv`) says nothing of the second."""

RULE_WORDS = {"cuda_graphs": ("a CUDA graph", _GRAPHS), "l2_hints": ("a hint to the L2 cache", _HINTS)}
"""By rule, which allows it where it is true. No pattern looks farther than a few hundred characters from where it
begins, since texts may be long and made to be slow."""
