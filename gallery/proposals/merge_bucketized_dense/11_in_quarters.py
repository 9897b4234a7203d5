"""CUDA: 05 with a search in quarters: three borders are asked for side by side, so four looks follow each other.

A value costs half as many loads again, but a warp waits for shared memory half as often; what limits 05 (13 us where
memory needs 6) is either, and this tells which.
"""

import torch

from kernwright.languages.cuda_loader import load

THREADS = 512
THREADS2 = 1024
ROWS = 4
WIDE = 16
KNOBS = {"THREADS": [256, 512], "THREADS2": [512, 1024], "ROWS": [2, 4, 8], "WIDE": [8, 16, 32]}

SOURCE = r"""
// How many of a feature's borders a value passes: borders are `pitch` numbers apart, padded with infinity. Two halvings
// at once: three borders are asked for side by side, so that half as many looks follow each other.
template <int R, int LEVELS>
__device__ inline void search(const float* mine, int pitch, int levels, const float* value, int* low) {
#pragma unroll
    for (int i = 0; i < R; ++i) low[i] = 0;
    int size = 1 << (LEVELS ? LEVELS : levels);
#pragma unroll
    for (; size >= 4; size /= 4) {
        const int step = size / 4;
        float a[R], b[R], c[R];
#pragma unroll
        for (int i = 0; i < R; ++i) {
            a[i] = mine[(low[i] + step - 1) * pitch];
            b[i] = mine[(low[i] + 2 * step - 1) * pitch];
            c[i] = mine[(low[i] + 3 * step - 1) * pitch];
        }
#pragma unroll
        for (int i = 0; i < R; ++i)
            low[i] += step * ((int)!(a[i] > value[i]) + (int)!(b[i] > value[i]) + (int)!(c[i] > value[i]));
    }
    if (size == 2) {
#pragma unroll
        for (int i = 0; i < R; ++i)
            if (!(mine[low[i] * pitch] > value[i])) ++low[i];
    }
}

// Block: WIDE features in 32 / WIDE copies each; border i of them all lies in row i, so a lane keeps to its own bank.
template <int R, int LEVELS>
__device__ inline void banked(const float* dense, const float* __restrict__ borders,
                              const long long* __restrict__ first, long long* out, int batch, int features,
                              int known, int levels) {
    constexpr int COPIES = 32 / WIDE, WARPS = THREADS / 32;
    extern __shared__ float near[];  // [1 << levels][32]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, f = lane % WIDE, j = lane / WIDE;
    const int groups = (features + WIDE - 1) / WIDE, feature = blockIdx.x % groups * WIDE + f;
    const bool live = feature < features;
    const int step = gridDim.x / groups * (WARPS * COPIES * R);
    int row = blockIdx.x / groups * (WARPS * COPIES * R) + warp * (COPIES * R) + j;
    const float* from = dense + feature;
    float value[R];
#pragma unroll
    for (int i = 0; i < R; ++i)
        value[i] = live && row + i * COPIES < batch ? __ldcs(from + (long long)(row + i * COPIES) * features) : 0.f;
    const long long start = live ? first[feature] : 0;
    const float* far = borders + (long long)(live ? feature : 0) * known;
    const int all = 1 << (LEVELS ? LEVELS : levels);
    for (int quad = warp * COPIES + j; quad * 4 < all; quad += WARPS * COPIES) {
        float some[4];
        if (known % 4 == 0) {
            const float4 four = quad * 4 < known ? ((const float4*)far)[quad]
                                                 : make_float4(INFINITY, INFINITY, INFINITY, INFINITY);
            some[0] = four.x, some[1] = four.y, some[2] = four.z, some[3] = four.w;
        } else {
#pragma unroll
            for (int c = 0; c < 4; ++c) some[c] = quad * 4 + c < known ? far[quad * 4 + c] : INFINITY;
        }
#pragma unroll
        for (int c = 0; c < 4; ++c)
#pragma unroll
            for (int k = 0; k < COPIES; ++k) near[(quad * 4 + c) * 32 + (j + k) % COPIES * WIDE + f] = some[c];
    }
    __syncthreads();
    const float* mine = near + lane;
    while (row < batch) {
        int low[R];
        search<R, LEVELS>(mine, 32, levels, value, low);
        const int here = row;
        row += step;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            value[i] = live && row + i * COPIES < batch ? __ldcs(from + (long long)(row + i * COPIES) * features) : 0.f;
            if (live && here + i * COPIES < batch)
                out[(long long)(here + i * COPIES) * features + feature] = start + (low[i] < known ? low[i] : known);
        }
    }
}

// Block: eight features with many borders, as they lie in memory but for a skew; a warp takes four rows of them.
template <int R>
__device__ inline void skewed(const float* dense, const float* __restrict__ borders,
                              const long long* __restrict__ first, long long* out, int batch, int features,
                              int known, int levels, int pitch) {
    constexpr int WARPS = THREADS2 / 32;
    extern __shared__ float near[];  // [8][pitch]
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, f = lane % 8, j = lane / 8;
    const int groups = (features + 7) / 8, feature0 = blockIdx.x % groups * 8, feature = feature0 + f;
    const bool live = feature < features;
    const int step = gridDim.x / groups * (WARPS * 4 * R);
    int row = blockIdx.x / groups * (WARPS * 4 * R) + warp * (4 * R) + j;
    const float* from = dense + feature;
    float value[R];
#pragma unroll
    for (int i = 0; i < R; ++i)
        value[i] = live && row + i * 4 < batch ? __ldcs(from + (long long)(row + i * 4) * features) : 0.f;
    const long long start = live ? first[feature] : 0;
    const int each = features - feature0 < 8 ? features - feature0 : 8;
    if (known % 4 == 0) {
        const float4* far = (const float4*)(borders + (long long)feature0 * known);
        const int quads = known / 4;
#pragma unroll 4
        for (int i = threadIdx.x; i < each * quads; i += THREADS2)
            *(float4*)(near + i / quads * pitch + i % quads * 4) = far[i];
    } else {
        for (int i = threadIdx.x; i < each * known; i += THREADS2)
            near[i / known * pitch + i % known] = borders[(long long)feature0 * known + i];
    }
    const int pads = (1 << levels) - known;
    for (int i = threadIdx.x; i < 8 * pads; i += THREADS2) near[i / pads * pitch + known + i % pads] = INFINITY;
    __syncthreads();
    const float* mine = near + f * pitch;
    while (row < batch) {
        int low[R];
        search<R, 0>(mine, 1, levels, value, low);
        const int here = row;
        row += step;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            value[i] = live && row + i * 4 < batch ? __ldcs(from + (long long)(row + i * 4) * features) : 0.f;
            if (live && here + i * 4 < batch)
                out[(long long)(here + i * 4) * features + feature] = start + (low[i] < known ? low[i] : known);
        }
    }
}

#define PARAMETERS const float *dense, const float *__restrict__ borders, const long long *__restrict__ first, \
                   long long *out, int batch, int features, int known, int levels, int pitch
#define BANKED(NAME, R, LEVELS)                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME(PARAMETERS) {                  \
        banked<R, LEVELS>(dense, borders, first, out, batch, features, known, levels);        \
    }
#define SKEWED(NAME, R)                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS2) NAME(PARAMETERS) {                 \
        skewed<R>(dense, borders, first, out, batch, features, known, levels, pitch);         \
    }
BANKED(banked_many_7, ROWS, 7)
BANKED(banked_one_7, 1, 7)
BANKED(banked_many, ROWS, 0)
BANKED(banked_one, 1, 0)
SKEWED(skewed_many, ROWS)
SKEWED(skewed_one, 1)

// Borders that fit nowhere: in memory, a thread a value.
extern "C" __global__ void __launch_bounds__(256) anywhere(PARAMETERS) {
    const long long at = (long long)blockIdx.x * 256 + threadIdx.x;
    if (at >= (long long)batch * features) return;
    const int feature = (int)(at % features);
    const float* far = borders + (long long)feature * known;
    const float value = dense[at];
    int low = 0, size = known;
    while (size > 0) {
        const int half = size / 2;
        if (!(far[low + half] > value)) {
            low += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    out[at] = first[feature] + low;
}
"""

library = load(SOURCE, defines={"THREADS": THREADS, "THREADS2": THREADS2, "ROWS": ROWS, "WIDE": WIDE})


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, borders: int) -> None:
        super().__init__()
        self.register_buffer("borders", torch.randn(features, borders).sort(dim=1).values)
        self.register_buffer("first", torch.arange(features)[:, None] * (borders + 1))

    def forward(self, dense):
        dense = dense.contiguous()
        (batch, features), known = dense.shape, self.borders.shape[1]
        out = torch.empty(dense.shape, dtype=torch.int64, device=dense.device)
        levels = known.bit_length()  # 2 ** levels > known
        pitch = 1 << levels
        pitch += 4 if pitch >= 8 else 0  # eight features begin in eight different groups of banks
        if levels <= 9:
            wide, threads, shared = WIDE, THREADS, 128 << levels
        elif 32 * pitch <= 220 << 10:
            wide, threads, shared = 8, THREADS2, 32 * pitch
        else:
            library.anywhere(
                -(-dense.numel() // 256),
                256,
                dense,
                self.borders,
                self.first,
                out,
                batch,
                features,
                known,
                levels,
                pitch,
            )
            return out
        groups, rows = -(-features // wide), threads // wide  # rows a block takes at once
        one = batch * groups <= 132 * rows * 2
        per_sm = max(1, min(1536 // threads, (220 << 10) // (shared + 1024)))
        shares = max(1, min(132 * per_sm // groups, -(-batch // (rows if one else rows * ROWS))))
        if levels <= 9 and levels != 7:
            launch = library.banked_one if one else library.banked_many
        elif levels == 7:
            launch = library.banked_one_7 if one else library.banked_many_7
        else:
            launch = library.skewed_one if one else library.skewed_many
        launch(
            groups * shares,
            threads,
            dense,
            self.borders,
            self.first,
            out,
            batch,
            features,
            known,
            levels,
            pitch,
            shared=shared,
        )
        return out
