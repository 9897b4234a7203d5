"""CUDA: a guide over equal cells of values, made at each call, narrows a search to the few borders of one cell.

A number's cell is monotone in the number, so borders of lower cells are passed and those of higher ones are not:
exact for all values. Each block writes the guide of its features in shared memory from the borders themselves. Borders
whose range is not finite are searched without it.
"""

import torch

from kernwright.languages.cuda_loader import load

THREADS = 512
ROWS = 4
DENSE = 2  # cells a border, before rounding up to a power of two
KNOBS = {"THREADS": [256, 512, 1024], "ROWS": [2, 4, 8], "DENSE": [1, 2, 4]}

SOURCE = r"""
__device__ inline int cell_of(float value, float least, float scale, int cells) {
    return (int)fminf(fmaxf((value - least) * scale, 0.f), (float)(cells - 1));
}

// Block: W features, [feature][pitch] borders and [feature][cells] guides: the first border and the number of borders.
template <int W, int R, int N>
__device__ inline void guided(const float* dense, const float* __restrict__ borders,
                              const long long* __restrict__ first, long long* out, int batch, int features,
                              int known, int cells, int pitch) {
    constexpr int SIDE = 32 / W, WARPS = N / 32;
    extern __shared__ float near[];
    unsigned* guide = (unsigned*)near + W * pitch;  // [W][cells + 1]: where a cell's borders begin
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, f = lane % W, j = lane / W;
    const int groups = (features + W - 1) / W, feature0 = blockIdx.x % groups * W, feature = feature0 + f;
    const bool live = feature < features;
    const int each = features - feature0 < W ? features - feature0 : W;
    const int step = gridDim.x / groups * (WARPS * SIDE * R);
    int row = blockIdx.x / groups * (WARPS * SIDE * R) + warp * (SIDE * R) + j;
    const float* from = dense + feature;
    float value[R];
#pragma unroll
    for (int i = 0; i < R; ++i)
        value[i] = live && row + i * SIDE < batch ? __ldcs(from + (long long)(row + i * SIDE) * features) : 0.f;
    const long long start = live ? first[feature] : 0;
    const float* far = borders + (long long)feature0 * known;
#pragma unroll 4
    for (int i = threadIdx.x; i < each * known; i += N) near[i / known * pitch + i % known] = far[i];
    __syncthreads();
    for (int i = threadIdx.x; i < each * known; i += N) {
        const int of = i / known, at = i % known;
        const float* b = near + of * pitch;
        const float least = b[0], scale = cells / (b[known - 1] - least);
        unsigned* g = guide + of * (cells + 1);
        const int cell = cell_of(b[at], least, scale, cells);
        const int before = at ? cell_of(b[at - 1], least, scale, cells) : -1;
        for (int c = before + 1; c <= cell; ++c) g[c] = at;
        if (at == known - 1)
            for (int c = cell + 1; c <= cells; ++c) g[c] = known;
    }
    __syncthreads();
    if (!live) return;
    const float* mine = near + f * pitch;
    const unsigned* g = guide + f * (cells + 1);
    const float least = mine[0], most = mine[known - 1], scale = cells / (most - least);
    const bool usable = isfinite(least) && isfinite(most) && isfinite(scale) && most > least;
    while (row < batch) {
        int low[R], size[R], longest = 0;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int cell = cell_of(value[i], least, scale, cells);
            low[i] = usable ? g[cell] : 0;
            size[i] = usable ? g[cell + 1] - low[i] : known;
            if (value[i] != value[i]) low[i] = known, size[i] = 0;
            longest = size[i] > longest ? size[i] : longest;
        }
        for (; longest; longest /= 2) {  // halves at least, as many times as the longest needs
#pragma unroll
            for (int i = 0; i < R; ++i) {
                const int half = size[i] / 2;
                if (size[i] && !(mine[low[i] + half] > value[i])) {
                    low[i] += half + 1;
                    size[i] -= half + 1;
                } else {
                    size[i] = half;
                }
            }
        }
        const int here = row;
        row += step;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            value[i] = row + i * SIDE < batch ? __ldcs(from + (long long)(row + i * SIDE) * features) : 0.f;
            if (here + i * SIDE < batch) out[(long long)(here + i * SIDE) * features + feature] = start + low[i];
        }
    }
}

#define PARAMETERS const float *dense, const float *__restrict__ borders, const long long *__restrict__ first, \
                   long long *out, int batch, int features, int known, int cells, int pitch
#define GUIDED(NAME, W, R, N)                                                                       \
    extern "C" __global__ void __launch_bounds__(N) NAME(PARAMETERS) {                              \
        guided<W, R, N>(dense, borders, first, out, batch, features, known, cells, pitch);          \
    }
GUIDED(some_many, 16, ROWS, THREADS)
GUIDED(some_one, 16, 1, THREADS)
GUIDED(plenty_many, 8, ROWS, 1024)
GUIDED(plenty_one, 8, 1, 1024)

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

library = load(SOURCE, defines={"THREADS": THREADS, "ROWS": ROWS})


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, borders: int) -> None:
        super().__init__()
        self.register_buffer("borders", torch.randn(features, borders).sort(dim=1).values)
        self.register_buffer("first", torch.arange(features)[:, None] * (borders + 1))

    def forward(self, dense):
        dense = dense.contiguous()
        (batch, features), known = dense.shape, self.borders.shape[1]
        out = torch.empty(dense.shape, dtype=torch.int64, device=dense.device)
        some = known <= 512
        wide, threads = (16, THREADS) if some else (8, 1024)
        pitch = known | 1  # features begin in different banks
        cells = 1 << max(3, (known * DENSE - 1).bit_length())
        while cells > 64 and 4 * wide * (pitch + cells + 1) > 110 << 10:
            cells //= 2
        shared = 4 * wide * (pitch + cells + 1)
        if shared > 220 << 10:
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
                cells,
                pitch,
            )
            return out
        groups, rows = -(-features // wide), threads // wide  # rows a block takes at once
        one = batch * groups <= 132 * rows * 2
        per_sm = max(1, min(1536 // threads, (220 << 10) // (shared + 1024)))
        shares = max(1, min(132 * per_sm // groups, -(-batch // (rows if one else rows * ROWS))))
        if some:
            launch = library.some_one if one else library.some_many
        else:
            launch = library.plenty_one if one else library.plenty_many
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
            cells,
            pitch,
            shared=shared,
        )
        return out
