"""PyTorch's fused attention, no weights kept; projection, residual and norm in one tail."""

import torch
import triton
import triton.language as tl

TOKENS = 32

KNOBS = {"TOKENS": [16, 32, 64]}


@triton.jit
def _tail(
    o, weight, bias, x, gain, shift, y, tokens, eps, width: tl.constexpr, block: tl.constexpr, precision: tl.constexpr
):
    """Projection, residual and layer norm of some tokens, stored with channels outside."""
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < tokens
    channel = tl.arange(0, width)
    batch = tl.program_id(1).to(tl.int64) * tokens * width
    value = tl.load(o + batch + at[:, None] * width + channel[None, :], mask=inside[:, None], other=0.0)
    w = tl.load(weight + channel[:, None] * width + channel[None, :])
    old = tl.load(x + batch + channel[:, None] * tokens + at[None, :], mask=inside[None, :], other=0.0)
    new = tl.dot(w, value.T, input_precision=precision) + tl.load(bias + channel)[:, None] + old
    new -= tl.sum(new, 0)[None, :] / width
    new *= 1.0 / tl.sqrt(tl.sum(new * new, 0) / width + eps)[None, :]
    new = new * tl.load(gain + channel)[:, None] + tl.load(shift + channel)[:, None]
    tl.store(y + batch + channel[:, None] * tokens + at[None, :], new, mask=inside[None, :])


class ModelNew(torch.nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attn = torch.nn.MultiheadAttention(embed_dim, num_heads)
        self.norm = torch.nn.LayerNorm(embed_dim)

    def forward(self, x):
        batch, width, high, wide = x.shape
        tokens, heads = high * wide, self.attn.num_heads
        if width & (width - 1) or width // heads < 16 or x.dtype != torch.float32 or not 32 <= width <= 256:
            return self.plain(x)
        x = x.contiguous().view(batch, width, tokens)
        weight, bias = self.attn.in_proj_weight, self.attn.in_proj_bias
        qkv = torch.baddbmm(bias.view(1, 1, -1), x.transpose(1, 2), weight.t().expand(batch, -1, -1))
        q, k, v = qkv.view(batch, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).contiguous()
        y = torch.empty_like(x)
        _tail[(triton.cdiv(tokens, TOKENS), batch)](
            o, self.attn.out_proj.weight, self.attn.out_proj.bias, x, self.norm.weight, self.norm.bias, y,
            tokens, self.norm.eps, width=width, block=TOKENS, precision="tf32x3", num_warps=8,
        )  # fmt: skip
        return y.view(batch, width, high, wide)

    def plain(self, x):
        flat = x.flatten(2).permute(2, 0, 1)
        return self.norm(self.attn(flat, flat, flat)[0] + flat).permute(1, 2, 0).view(x.shape)
