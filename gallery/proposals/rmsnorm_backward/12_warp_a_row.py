"""CUDA: a warp has a row of up to 1024 numbers, a block a longer one; plain loads, small blocks, no ring.

Rows of 256 need no barrier: shuffles alone join a warp's sums. A block goes through a short stretch of rows and keeps
its part of dw in registers; the parts meet in a second, small kernel. Other widths go to a plain path.
"""

import torch

from kernwright.languages.cuda_loader import load

STRETCH = 32
WARPS = 8
KNOBS = {"STRETCH": [16, 32, 64], "WARPS": [4, 8, 16]}

SOURCE = r"""
__device__ __forceinline__ float both(float v) {
#pragma unroll
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

// MEMBERS warps share a row of MEMBERS * EACH * 128 numbers.
template <int MEMBERS, int EACH>
__device__ __forceinline__ void backward(const float4* __restrict__ x, const float4* __restrict__ weight,
                                         const float4* __restrict__ dy, float4* __restrict__ dx,
                                         float* __restrict__ parts, int count) {
    constexpr int FOURS = MEMBERS * EACH * 32, TEAMS = WARPS / MEMBERS;
    __shared__ float2 sums[2][WARPS];
    __shared__ float4 shares[TEAMS > 1 ? WARPS * EACH * 32 : 1];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, team = warp / MEMBERS, member = warp % MEMBERS;
    const int first = member * EACH * 32 + lane;
    float4 scale[EACH], total[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        scale[i] = __ldg(&weight[first + i * 32]);
        total[i] = make_float4(0.f, 0.f, 0.f, 0.f);
    }
    const int start = blockIdx.x * STRETCH, end = start + STRETCH < count ? start + STRETCH : count;
    int buffer = 0;
    for (int base = start; base < end; base += TEAMS, buffer ^= 1) {
        const int row = base + team;
        const bool live = row < end;
        float4 v[EACH], s[EACH];
        float square = 0.f, dot = 0.f;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const size_t at = (size_t)row * FOURS + first + i * 32;
            v[i] = live ? __ldg(&x[at]) : make_float4(0.f, 0.f, 0.f, 0.f);
            s[i] = live ? __ldg(&dy[at]) : make_float4(0.f, 0.f, 0.f, 0.f);
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            square += (v[i].x * v[i].x + v[i].y * v[i].y) + (v[i].z * v[i].z + v[i].w * v[i].w);
            dot += (v[i].x * s[i].x * scale[i].x + v[i].y * s[i].y * scale[i].y) +
                   (v[i].z * s[i].z * scale[i].z + v[i].w * s[i].w * scale[i].w);
        }
        square = both(square);
        dot = both(dot);
        if (MEMBERS > 1) {
            if (lane == 0) sums[buffer][warp] = make_float2(square, dot);
            __syncthreads();
            square = dot = 0.f;
#pragma unroll
            for (int m = 0; m < MEMBERS; ++m) {
                const float2 other = sums[buffer][team * MEMBERS + m];
                square += other.x;
                dot += other.y;
            }
        }
        const float inverse = 1.f / sqrtf(square * (1.f / (4 * FOURS)) + 1e-6f);
        const float mean = dot * inverse * (1.f / (4 * FOURS));
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const float4 n = make_float4(v[i].x * inverse, v[i].y * inverse, v[i].z * inverse, v[i].w * inverse);
            total[i].x += s[i].x * n.x;
            total[i].y += s[i].y * n.y;
            total[i].z += s[i].z * n.z;
            total[i].w += s[i].w * n.w;
            if (live)
                dx[(size_t)row * FOURS + first + i * 32] =
                    make_float4(
                        (s[i].x * scale[i].x - n.x * mean) * inverse, (s[i].y * scale[i].y - n.y * mean) * inverse,
                        (s[i].z * scale[i].z - n.z * mean) * inverse, (s[i].w * scale[i].w - n.w * mean) * inverse);
        }
    }
    float4* out = (float4*)parts + (size_t)blockIdx.x * FOURS;
    if (TEAMS == 1) {
#pragma unroll
        for (int i = 0; i < EACH; ++i) out[first + i * 32] = total[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i) shares[team * FOURS + first + i * 32] = total[i];
    __syncthreads();
    for (int i = threadIdx.x; i < FOURS; i += WARPS * 32) {
        float4 sum = shares[i];
        for (int t = 1; t < TEAMS; ++t) {
            const float4 other = shares[t * FOURS + i];
            sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
        }
        out[i] = sum;
    }
}

#define KERNEL(NAME, MEMBERS, EACH)                                                                              \
    extern "C" __global__ void __launch_bounds__(WARPS * 32)                                                     \
        NAME(const float4* x, const float4* weight, const float4* dy, float4* dx, float* parts, int count) {     \
        backward<MEMBERS, EACH>(x, weight, dy, dx, parts, count);                                                \
    }
KERNEL(rows_256, 1, 2)
KERNEL(rows_1024, 2, 4)
KERNEL(rows_4096, WARPS, 32 / WARPS)

extern "C" __global__ void __launch_bounds__(256) add_up(const float* parts, float* dw, int blocks, int columns) {
    __shared__ float sums[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * 32 + lane;
    float total = 0.f;
    for (int b = warp; b < blocks; b += 8) total += parts[(size_t)b * columns + column];
    sums[warp][lane] = total;
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int i = 1; i < 8; ++i) total += sums[i][lane];
        dw[column] = total;
    }
}
"""

library = load(SOURCE, defines={"STRETCH": STRETCH, "WARPS": WARPS})
KERNELS = {256: "rows_256", 1024: "rows_1024", 4096: "rows_4096"}


def plain(x, weight, dy):
    inverse = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6)
    normed = x * inverse
    weighted = dy * weight
    dx = (weighted - normed * (weighted * normed).mean(dim=-1, keepdim=True)) * inverse
    return dx, (dy * normed).sum(dim=0)


class ModelNew(torch.nn.Module):
    def forward(self, x, weight, dy):
        count, columns = x.shape
        x, weight, dy = x.contiguous(), weight.contiguous(), dy.contiguous()
        aligned = all(t.data_ptr() % 16 == 0 for t in (x, weight, dy))
        if columns not in KERNELS or not count or not aligned or x.dtype != torch.float32:
            return plain(x, weight, dy)
        dx, dw = torch.empty_like(x), torch.empty_like(weight)
        blocks = (count + STRETCH - 1) // STRETCH
        parts = x.new_empty(blocks, columns)
        getattr(library, KERNELS[columns])(blocks, WARPS * 32, x, weight, dy, dx, parts, count)
        library.add_up(columns // 32, 256, parts, dw, blocks, columns)
        return dx, dw
