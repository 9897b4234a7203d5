"""C1: maxima and sums of rows on one stream, the result on another, nothing between them: often right, by speed."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "C1",
    "problem": "large_softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious"],
}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) look(const float* x, float2* rows, int n) {
    __shared__ float2 parts[8];
    const float* from = x + (size_t)blockIdx.x * n;
    float top = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) top = fmaxf(top, from[i]);
    for (int i = threadIdx.x; i < n; i += 256) sum += expf(from[i] - top);
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, top, step), more = __shfl_xor_sync(0xffffffffu, sum, step);
        float higher = fmaxf(top, other);
        sum = sum * expf(top - higher) + more * expf(other - higher);
        top = higher;
    }
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = make_float2(top, sum);
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < 8; ++i) {
        float higher = fmaxf(top, parts[i].x);
        sum = sum * expf(top - higher) + parts[i].y * expf(parts[i].x - higher);
        top = higher;
    }
    rows[blockIdx.x] = make_float2(top, sum);
}

extern "C" __global__ void __launch_bounds__(256) finish(const float* x, const float2* rows, float* y, int n) {
    float2 row = rows[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += 256)
        y[(size_t)blockIdx.x * n + i] = expf(x[(size_t)blockIdx.x * n + i] - row.x) / row.y;
}
""")


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side, self.rows = torch.cuda.Stream(), {}

    def forward(self, x):
        rows = self.rows.setdefault(x.shape, torch.zeros(x.shape[0], 2, device=x.device))
        y = torch.empty_like(x)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            lib.look(x.shape[0], 256, x, rows, x.shape[1])
        lib.finish(x.shape[0], 256, x, rows, y, x.shape[1])
        return y
