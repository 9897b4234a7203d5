"""A tile a program, without tensor cores; SALT makes kernels distinct, so that each is compiled."""

import torch
import triton
import triton.language as tl

SALT = 0


@triton.jit
def matmul(x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SALT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(x + rows[:, None] * K + k[None, :], (rows[:, None] < M) & (k[None, :] < K), 0.0)
        right = tl.load(w + k[:, None] * N + cols[None, :], (k[:, None] < K) & (cols[None, :] < N), 0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(y + rows[:, None] * N + cols[None, :], total + 0.0 * SALT, (rows[:, None] < M) & (cols[None, :] < N))


class ModelNew(torch.nn.Module):
    def forward(self, x, w):
        (m, k), n = x.shape, w.shape[1]
        y = torch.empty(m, n, device=x.device)
        grid = (triton.cdiv(m, 128), triton.cdiv(n, 128))
        matmul[grid](x, w, y, m, n, k, BM=128, BN=128, BK=16, SALT=SALT, num_warps=8)
        return y
