"""CUDA: a thread takes pairs of features of a few rows, eight bytes in and sixteen out, and searches them side by side.

Borders come by bulk copies as they lie, skewed by feature; values are asked for meanwhile. Four rows of a pair are
eight searches at once, independent of one another.
"""

import torch

from kernwright.languages.cuda_loader import load

THREADS = 256
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

// Block: W features, [feature][pitch] in shared memory; a warp takes 64 / W rows of them at a time.
template <int W, int R, int N>
__device__ inline void natural(const float* dense, const float* __restrict__ borders,
                               const long long* __restrict__ first, long long* out, int batch, int features,
                               int known, int levels, int pitch) {
    constexpr int PAIRS = W / 2, SIDE = 32 / PAIRS, WARPS = N / 32;
    extern __shared__ float4 memory[];
    __shared__ Barrier barrier;
    float* near = (float*)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, f = lane % PAIRS * 2, j = lane / PAIRS;
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
    float2 value[R];
#pragma unroll
    for (int i = 0; i < R; ++i) {
        value[i] = make_float2(0.f, 0.f);
        if (live && row + i * SIDE < batch)
            value[i] = __ldcs((const float2*)(from + (long long)(row + i * SIDE) * features));
    }
    const long long start = live ? first[feature] : 0, start1 = live ? first[feature + 1] : 0;
    const int pads = (1 << levels) - known;
    for (int i = threadIdx.x; i < W * pads; i += N) near[i / pads * pitch + known + i % pads] = INFINITY;
    __syncthreads();
    if (known % 4 == 0) wait(&barrier, 0);
    const float* mine = near + f * pitch;
    while (row < batch) {
        int low[R], low1[R];
#pragma unroll
        for (int i = 0; i < R; ++i) low[i] = low1[i] = 0;
        for (int half = 1 << (levels - 1); half; half /= 2) {
#pragma unroll
            for (int i = 0; i < R; ++i) {
                if (!(mine[low[i] + half - 1] > value[i].x)) low[i] += half;
                if (!(mine[pitch + low1[i] + half - 1] > value[i].y)) low1[i] += half;
            }
        }
        const int here = row;
        row += step;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            if (live && row + i * SIDE < batch)
                value[i] = __ldcs((const float2*)(from + (long long)(row + i * SIDE) * features));
            if (live && here + i * SIDE < batch) {
                const longlong2 both = make_longlong2(start + (low[i] < known ? low[i] : known),
                                                      start1 + (low1[i] < known ? low1[i] : known));
                *(longlong2*)(out + (long long)(here + i * SIDE) * features + feature) = both;
            }
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
        if features % 2:
            wide, threads, shared = 0, 0, 0
        elif levels <= 9:
            wide, threads, shared = WIDE, THREADS, 4 * WIDE * pitch
        elif 32 * pitch <= 220 << 10:
            wide, threads, shared = 8, 1024, 32 * pitch
        else:
            wide, threads, shared = 0, 0, 0
        if not wide:
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
        groups, rows = -(-features // wide), 2 * threads // wide  # rows a block takes at once
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
