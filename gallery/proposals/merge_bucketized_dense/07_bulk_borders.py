"""CUDA: bulk copies bring a block's borders as they lie, skewed by feature, while its values are on their way.

No border passes a register and nothing is transposed: one thread asks for a feature's borders, all wait once. A warp
takes a few rows of eight or more features; lanes of a feature read the same borders at first, so conflicts are few.
"""

import torch

from kernwright.languages.cuda_loader import load

THREADS = 512
ROWS = 4
WIDE = 16
KNOBS = {"THREADS": [256, 512, 1024], "ROWS": [2, 4, 8], "WIDE": [8, 16, 32]}

SOURCE = r"""
typedef unsigned long long Barrier;
__device__ inline unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void init(Barrier* b) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;"
                 :: "r"(place(b)) : "memory");
}
__device__ inline void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(place(b)), "r"(bytes) : "memory");
}
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(place(to)), "l"(from), "r"(bytes), "r"(place(b)) : "memory");
}
__device__ inline void wait(Barrier* b, unsigned parity) {
    asm volatile("{\n\t.reg .pred done;\n\tagain:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n\t}"
                 :: "r"(place(b)), "r"(parity) : "memory");
}
// BULK END

// Block: W features, [feature][pitch] in shared memory; a warp takes 32 / W rows of them at a time.
template <int W, int R, int N>
__device__ inline void natural(const float* dense, const float* __restrict__ borders,
                               const long long* __restrict__ first, long long* out, int batch, int features,
                               int known, int levels, int pitch) {
    constexpr int SIDE = 32 / W, WARPS = N / 32;
    extern __shared__ float4 memory[];
    __shared__ Barrier barrier;
    float* near = (float*)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, f = lane % W, j = lane / W;
    const int groups = (features + W - 1) / W, feature0 = blockIdx.x % groups * W, feature = feature0 + f;
    const bool live = feature < features;
    const int each = features - feature0 < W ? features - feature0 : W;
    const float* far = borders + (long long)feature0 * known;
    if (known % 4 == 0) {
        if (threadIdx.x == 0) {
            init(&barrier);
            expect(&barrier, each * known * 4);
            for (int i = 0; i < each; ++i)
                bulk_load(near + i * pitch, far + (long long)i * known, known * 4, &barrier);
        }
    } else {
        for (int i = threadIdx.x; i < each * known; i += N) near[i / known * pitch + i % known] = far[i];
    }
    const int step = gridDim.x / groups * (WARPS * SIDE * R);
    int row = blockIdx.x / groups * (WARPS * SIDE * R) + warp * (SIDE * R) + j;
    const float* from = dense + feature;
    float value[R];
#pragma unroll
    for (int i = 0; i < R; ++i)
        value[i] = live && row + i * SIDE < batch ? __ldcs(from + (long long)(row + i * SIDE) * features) : 0.f;
    const long long start = live ? first[feature] : 0;
    const int pads = (1 << levels) - known;
    for (int i = threadIdx.x; i < W * pads; i += N) near[i / pads * pitch + known + i % pads] = INFINITY;
    __syncthreads();
    if (known % 4 == 0) wait(&barrier, 0);
    const float* mine = near + f * pitch;
    while (row < batch) {
        int low[R];
#pragma unroll
        for (int i = 0; i < R; ++i) low[i] = 0;
        for (int half = 1 << (levels - 1); half; half /= 2) {
#pragma unroll
            for (int i = 0; i < R; ++i)
                if (!(mine[low[i] + half - 1] > value[i])) low[i] += half;
        }
        const int here = row;
        row += step;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            value[i] = live && row + i * SIDE < batch ? __ldcs(from + (long long)(row + i * SIDE) * features) : 0.f;
            if (live && here + i * SIDE < batch)
                out[(long long)(here + i * SIDE) * features + feature] = start + (low[i] < known ? low[i] : known);
        }
    }
}

#define PARAMETERS const float *dense, const float *__restrict__ borders, const long long *__restrict__ first, \
                   long long *out, int batch, int features, int known, int levels, int pitch
#define NATURAL(NAME, W, R, N)                                                                       \
    extern "C" __global__ void __launch_bounds__(N) NAME(PARAMETERS) {                               \
        natural<W, R, N>(dense, borders, first, out, batch, features, known, levels, pitch);         \
    }
NATURAL(some_many, WIDE, ROWS, THREADS)
NATURAL(some_one, WIDE, 1, THREADS)
NATURAL(plenty_many, 8, ROWS, 1024)
NATURAL(plenty_one, 8, 1, 1024)

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

library = load(SOURCE, defines={"THREADS": THREADS, "ROWS": ROWS, "WIDE": WIDE})


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
        pitch = (pitch + 3) // 4 * 4 + 4  # features begin in different groups of banks
        if levels <= 9:
            wide, threads, shared = WIDE, THREADS, 4 * WIDE * pitch
        elif 32 * pitch <= 220 << 10:
            wide, threads, shared = 8, 1024, 32 * pitch
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
        if levels <= 9:
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
            levels,
            pitch,
            shared=shared,
        )
        return out
