"""A row a program; SALT makes kernels distinct, so that each is compiled."""

import torch
import triton
import triton.language as tl

WARPS = 8
SALT = 0


@triton.jit
def softmax(x, y, n, stride, BLOCK: tl.constexpr, SALT: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + i, e / tl.sum(e, axis=0) + 0.0 * SALT, mask=i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        block = triton.next_power_of_2(x.shape[1])
        softmax[(x.shape[0],)](x, y, x.shape[1], x.stride(0), BLOCK=block, SALT=SALT, num_warps=WARPS)
        return y
