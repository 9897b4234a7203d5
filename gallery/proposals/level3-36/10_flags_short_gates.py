"""CUDA: 03's blocks that wait as a whole, with gates by the exponential unit.

03 is as fast as 04 within 3 %; what both share is the end of a step, which this one shortens.
"""

import torch
from torch import nn

from kernwright.languages.cuda_loader import load

LAYERS = 6
MOST = 10  # batch entries

SOURCE = r"""
#define HIDDEN 256
#define UNITS 16
#define ROWS (4 * UNITS)
#define BLOCKS (HIDDEN / UNITS)
#define WARPS 16
#define SLICE (HIDDEN / WARPS)
#define THREADS (32 * WARPS)
#define ENOUGH (1 << 24)

#define EMPTY 0xffffffffu
// A number that was not written yet has EMPTY's bits, which no number here has: data are their own flags.
__device__ inline void put(float* p, float value) {
    const unsigned bits = __float_as_uint(value);
    *(volatile unsigned*)p = bits == EMPTY ? 0x7fffffffu : bits;
}
#define PUT(p, v) put(p, v)

__device__ inline bool missing(uint4 v) { return v.x == EMPTY || v.y == EMPTY || v.z == EMPTY || v.w == EMPTY; }

__device__ inline uint4 look(const float* from, int i) {
    return __ldcv((const uint4*)from + i);
}

// Copies a step as it is published, waiting number by number. Gives up rather than hang.
__device__ inline void take(float4* to, const float* from, int pieces, int tid) {
    const int next = tid + THREADS;
    uint4 one = make_uint4(0, 0, 0, 0), two = make_uint4(0, 0, 0, 0);
    for (int i = 0; i < ENOUGH; ++i) {
        if (tid < pieces && (i == 0 || missing(one))) one = look(from, tid);
        if (next < pieces && (i == 0 || missing(two))) two = look(from, next);
        if (!missing(one) && !missing(two)) break;
    }
    if (tid < pieces) ((uint4*)to)[tid] = one;
    if (next < pieces) ((uint4*)to)[next] = two;
}

// By the exponential unit and one reciprocal: 1e-7 of one, without the branches of tanhf and expf.
__device__ __forceinline__ float sigmoid_of(float v) { return __fdividef(1.f, 1.f + __expf(-v)); }
__device__ __forceinline__ float tanh_of(float v) {
    const float e = __expf(-2.f * fabsf(v));
    return copysignf(__fdividef(1.f - e, 1.f + e), v);
}

// Block (layer, part) has 16 units' rows of both matrices in registers: a lane two rows, a warp 16 of the 256 columns
// of each. Row r is gate r % 4 of unit r / 4.
extern "C" __global__ void __launch_bounds__(THREADS, 1) lstm(
    const float* x, const float* h0, const float* c0, float* history, float* out,
    const float* wx0, const float* wh0, const float* bx0, const float* bh0,
    const float* wx1, const float* wh1, const float* bx1, const float* bh1,
    const float* wx2, const float* wh2, const float* bx2, const float* bh2,
    const float* wx3, const float* wh3, const float* bx3, const float* bh3,
    const float* wx4, const float* wh4, const float* bx4, const float* bh4,
    const float* wx5, const float* wh5, const float* bx5, const float* bh5,
    int batch, int length, int inputs) {
    extern __shared__ float4 memory[];
    float4 *xs = memory, *hs = memory + MOST * HIDDEN / 4;
    float* parts = (float*)(memory + 2 * MOST * HIDDEN / 4);  // [warp][batch][row]
    const int layer = blockIdx.x / BLOCKS, unit0 = blockIdx.x % BLOCKS * UNITS;
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
#define UPPER(p) (layer == 3 ? p##3 : layer == 4 ? p##4 : p##5)
#define OF_LAYER(p) (layer == 0 ? p##0 : layer == 1 ? p##1 : layer == 2 ? p##2 : UPPER(p))
    const float *wx = OF_LAYER(wx), *wh = OF_LAYER(wh), *bx = OF_LAYER(bx), *bh = OF_LAYER(bh);
    const int wide = layer ? HIDDEN : inputs;
    float of_x[2][SLICE], of_h[2][SLICE];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int r = lane + 32 * i;
        const long long row = (r % 4) * HIDDEN + unit0 + r / 4;
#pragma unroll
        for (int k = 0; k < SLICE; ++k) {
            of_x[i][k] = warp * SLICE + k < wide ? wx[row * wide + warp * SLICE + k] : 0.f;
            of_h[i][k] = wh[row * HIDDEN + warp * SLICE + k];
        }
    }
    // What this thread ends: gates tid and tid + 512 of the batch x row numbers, four lanes a unit.
    float *cell = parts + WARPS * MOST * ROWS, *bias = cell + MOST * ROWS;
    const int plane = batch * HIDDEN, steps = length * plane;
    for (int o = tid; o < MOST * ROWS; o += THREADS) {
        const int r = o % ROWS, b = o / ROWS, row = (r % 4) * HIDDEN + unit0 + r / 4;
        bias[o] = bx[row] + bh[row];
        cell[o] = b < batch ? (c0)[layer * plane + b * HIDDEN + unit0 + r / 4] : 0.f;
    }
    const float* below = history + (layer - 1) * steps;
    float* own = history + layer * steps;
    const int pieces = batch * HIDDEN / 4;
    for (int i = tid; i < 2 * MOST * HIDDEN / 4; i += THREADS) memory[i] = make_float4(0.f, 0.f, 0.f, 0.f);
    __syncthreads();
    for (int t = 0; t < length; ++t) {
        if (layer == 0) {
            for (int i = tid; i < batch * inputs / 4; i += THREADS) {
                const int b = i / (inputs / 4), k = i % (inputs / 4);
                xs[b * (HIDDEN / 4) + k] = ((const float4*)x)[((long long)b * length + t) * (inputs / 4) + k];
            }
        } else {
            take(xs, below + t * plane, pieces, tid);
        }
        __syncthreads();
        float sum[2][MOST];
#pragma unroll
        for (int b = 0; b < MOST; ++b) {
            sum[0][b] = sum[1][b] = 0.f;
#pragma unroll
            for (int q = 0; q < SLICE / 4; ++q) {
                const float4 v = xs[b * (HIDDEN / 4) + warp * (SLICE / 4) + q];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    sum[i][b] += of_x[i][4 * q] * v.x;
                    sum[i][b] += of_x[i][4 * q + 1] * v.y;
                    sum[i][b] += of_x[i][4 * q + 2] * v.z;
                    sum[i][b] += of_x[i][4 * q + 3] * v.w;
                }
            }
        }
        if (t == 0) {
            for (int i = tid; i < pieces; i += THREADS) hs[i] = ((const float4*)(h0 + layer * plane))[i];
        } else {
            take(hs, own + (t - 1) * plane, pieces, tid);
        }
        __syncthreads();
#pragma unroll
        for (int b = 0; b < MOST; ++b) {
#pragma unroll
            for (int q = 0; q < SLICE / 4; ++q) {
                const float4 v = hs[b * (HIDDEN / 4) + warp * (SLICE / 4) + q];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    sum[i][b] += of_h[i][4 * q] * v.x;
                    sum[i][b] += of_h[i][4 * q + 1] * v.y;
                    sum[i][b] += of_h[i][4 * q + 2] * v.z;
                    sum[i][b] += of_h[i][4 * q + 3] * v.w;
                }
            }
            parts[(warp * MOST + b) * ROWS + lane] = sum[0][b];
            parts[(warp * MOST + b) * ROWS + lane + 32] = sum[1][b];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int o = tid + i * THREADS, r = o % ROWS, b = o / ROWS;
            if (i * THREADS + warp * 32 < MOST * ROWS) {  // whole warps
                float gate = bias[o], other = 0.f;
#pragma unroll
                for (int w = 0; w < WARPS; w += 2) {
                    gate += parts[w * MOST * ROWS + o];
                    other += parts[(w + 1) * MOST * ROWS + o];
                }
                gate += other;
                gate = r % 4 == 2 ? tanh_of(gate) : sigmoid_of(gate);
                const int first = lane & ~3;
                const float in = __shfl_sync(~0u, gate, first), forget = __shfl_sync(~0u, gate, first + 1);
                const float fresh = __shfl_sync(~0u, gate, first + 2), shown = __shfl_sync(~0u, gate, first + 3);
                const float now = forget * cell[o] + in * fresh;
                cell[o] = now;
                if (r % 4 == 0 && b < batch) PUT(own + t * plane + b * HIDDEN + unit0 + r / 4, shown * tanh_of(now));
            }
        }
    }
    for (int o = tid; o < MOST * ROWS; o += THREADS) {  // each what it wrote itself
        const int r = o % ROWS, b = o / ROWS, at = b * HIDDEN + unit0 + r / 4;
        if (r % 4 == 0 && b < batch)
            out[layer * plane + at] = __ldcg(own + (length - 1) * plane + at);
    }
}
"""

library = load(SOURCE, defines={"MOST": MOST})


class ModelNew(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout)
        self.fc = nn.Linear(hidden_size, output_size)  # of the model; what it makes is not returned

    def forward(self, x, h0, c0):
        batch, length, inputs = x.shape
        if (
            (self.lstm.num_layers, self.lstm.hidden_size) != (6, 256)
            or not 1 <= batch <= MOST
            or inputs > 256
            or inputs % 4
            or length > 65536
        ):
            return self.lstm(x, (h0, c0))[1][0]
        x, h0, c0 = x.contiguous(), h0.contiguous(), c0.contiguous()
        out = torch.empty_like(h0)
        weights = [weight.contiguous() for weight in self.lstm.parameters()]
        shared = (2 * MOST * 256 + 18 * MOST * 64) * 4
        history = torch.full((LAYERS, length, batch, 256), -1, dtype=torch.int32, device=x.device)
        library.lstm(96, 512, x, h0, c0, history, out, *weights, batch, length, inputs, shared=shared)
        return out
