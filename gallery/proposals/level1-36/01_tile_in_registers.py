"""One program keeps all features of a stretch of pixels in registers: one read, one write."""

import torch
import triton
import triton.language as tl

KNOBS = {"PIXELS": [32, 64, 128, 256], "WARPS": [4, 8, 16], "HINT": ["", "evict_first"]}
PIXELS = 128
WARPS = 8
HINT = "evict_first"


@triton.jit
def rms_norm(
    x, y, features, pixels, eps, wide: tl.constexpr, block: tl.constexpr, exact: tl.constexpr, hint: tl.constexpr
):
    feature = tl.arange(0, wide)[:, None]
    pixel = tl.program_id(0) * block + tl.arange(0, block)[None, :]
    at = tl.program_id(1).to(tl.int64) * features * pixels + feature.to(tl.int64) * pixels + pixel
    if exact:
        v = tl.load(x + at, eviction_policy=hint)
        scale = 1.0 / tl.sqrt_rn(tl.sum(v * v, 0) / features + eps)
        tl.store(y + at, v * scale[None, :], cache_modifier=".cs")
    else:
        inside = (feature < features) & (pixel < pixels)
        v = tl.load(x + at, mask=inside, other=0.0, eviction_policy=hint)
        scale = 1.0 / tl.sqrt_rn(tl.sum(v * v, 0) / features + eps)
        tl.store(y + at, v * scale[None, :], mask=inside, cache_modifier=".cs")


class ModelNew(torch.nn.Module):
    """x / sqrt(mean(x ** 2, dim=1) + eps)."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        batch, features = x.shape[:2]
        pixels = x.numel() // (batch * features)
        y = torch.empty_like(x)
        wide = triton.next_power_of_2(features)
        rms_norm[(triton.cdiv(pixels, PIXELS), batch)](
            x,
            y,
            features,
            pixels,
            self.eps,
            wide=wide,
            block=PIXELS,
            exact=wide == features and pixels % PIXELS == 0,
            hint=HINT,
            num_warps=WARPS,
            num_stages=1,
        )
        return y
