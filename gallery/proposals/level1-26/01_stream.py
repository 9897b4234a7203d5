"""One tile a program in 16-byte accesses, several under way a thread, streaming hints both ways."""

import torch
import triton
import triton.language as tl

KNOBS = {"BLOCK": [1024, 2048, 4096, 8192], "WARPS": [4, 8], "HINT": ["", "evict_first"], "STORE": ["", ".cs"]}
BLOCK = 4096
WARPS = 8
HINT = "evict_first"
STORE = ".cs"


@triton.jit
def gelu(x, y, count, block: tl.constexpr, hint: tl.constexpr, store: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    v = tl.load(x + at, mask=inside, eviction_policy=hint)
    tl.store(y + at, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)), mask=inside, cache_modifier=store)


class ModelNew(torch.nn.Module):
    """gelu(x) by the error function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        count = x.numel()
        gelu[(triton.cdiv(count, BLOCK),)](
            x, y, count, block=BLOCK, hint=HINT, store=STORE, num_warps=WARPS, num_stages=1
        )
        return y
