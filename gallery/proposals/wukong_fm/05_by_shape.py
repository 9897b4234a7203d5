"""By shape: staged samples in CUDA for many columns, block-diagonal pairs in Triton for few.

Each was the faster one there. A result of 2198 columns is what moves; one of 448 leaves the pairs to be hidden.
"""

import torch
import triton
import triton.language as tl

from kernwright.languages.cuda_loader import load

WARPS = 16
STAGED = 2
ROWS = 64
TILE = 128
NUM_WARPS = 4
STAGES = 2
KNOBS = {"WARPS": [12, 16], "STAGED": [1, 2], "ROWS": [64, 128], "TILE": [64, 128, 256], "NUM_WARPS": [4, 8]}

SOURCE = r"""
#include <cuda_fp16.h>
#define WIDTH 224
#define X_PITCH 232  // halves: 464 bytes, rows of eight in different banks
#define P_PITCH 56
typedef unsigned long long Barrier;

// DEVICE BEGIN
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void arrive(Barrier* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(b)) : "memory");
}
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done) : "r"(place(b)), "r"(parity) : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(place(to)), "l"(from), "r"(bytes), "r"(place(b)) : "memory");
}
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(place(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void stores_sent() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(STAGED - 1) : "memory");
}
__device__ __forceinline__ void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int SOME>
__device__ __forceinline__ void meet() {
    asm volatile("bar.sync 1, %0;" ::"n"(SOME) : "memory");
}
__device__ __forceinline__ void load4(unsigned* r, const __half* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(place(p)) : "memory");
}
__device__ __forceinline__ void product(float* d, const unsigned* a, const unsigned* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void half_product(float* d, const unsigned* a, const unsigned* b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
// DEVICE END

__device__ __forceinline__ unsigned both(const __half* low, const __half* high) {
    return (unsigned)__half_as_ushort(*low) | (unsigned)__half_as_ushort(*high) << 16;
}

// Shared memory: STAGED results, X_SLOTS inputs, two matrices of pairs. What follows an input is read, and not used.
template <int F, int C>
__device__ __forceinline__ void machine(const __half* x, const __half* y, __half* out, int batch) {
    constexpr int TALL = (F + 15) / 16, EIGHTS = F / 8, WIDE = (C + 7) / 8;
    constexpr int MAKERS = WARPS - TALL, EACH = (WIDE + MAKERS - 1) / MAKERS;
    constexpr int X_SLOTS = F <= 24 ? 1 : 2;
    constexpr bool ROWS = C % 8 == 0;                  // rows are multiples of 16 bytes
    constexpr int PITCH = ROWS ? C + 8 : C;            // else the sample is
    constexpr int STAGE = (F * PITCH + 7 + 8) / 8 * 8, X_SIZE = F * X_PITCH, P_SIZE = TALL * 16 * P_PITCH;
    extern __shared__ __align__(128) uint4 memory[];
    __shared__ Barrier x_full[X_SLOTS], p_full[2], p_free[2], y_full;
    __shared__ unsigned readers[X_SLOTS];
    __half* stages = (__half*)memory;
    __half* xs = stages + STAGED * STAGE;
    __half* ps = xs + X_SLOTS * X_SIZE;
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, t = lane % 4;
    if (tid == 0) {
        for (int i = 0; i < X_SLOTS; ++i) {
            init(&x_full[i], 1);
            readers[i] = 0;
        }
        for (int i = 0; i < 2; ++i) {
            init(&p_full[i], TALL);
            init(&p_free[i], MAKERS);
        }
        init(&y_full, 1);
        inits_seen();
        expect(&y_full, F * C * 2);
        bulk_load(stages, y, F * C * 2, &y_full);
    }
    __syncthreads();
    if (warp >= MAKERS) {  // pairs: a warp has sixteen rows
        const int m = warp - MAKERS;
        auto request = [&](int i) {
            const int sample = blockIdx.x + i * gridDim.x, slot = i % X_SLOTS;
            if (sample < batch) {
                if (lane == 0) expect(&x_full[slot], F * WIDTH * 2);
                __syncwarp();
                for (int r = lane; r < F; r += 32)
                    bulk_load(xs + slot * X_SIZE + r * X_PITCH, x + ((size_t)sample * F + r) * WIDTH, WIDTH * 2,
                              &x_full[slot]);
            }
        };
        if (m == 0)
            for (int i = 0; i < X_SLOTS; ++i) request(i);
        int i = 0;
        for (int sample = blockIdx.x; sample < batch; sample += gridDim.x, ++i) {
            const int slot = i % X_SLOTS;
            const __half* from = xs + slot * X_SIZE;
            wait(&x_full[slot], i / X_SLOTS & 1);
            float sum[EIGHTS][4];
#pragma unroll
            for (int n = 0; n < EIGHTS; ++n)
#pragma unroll
                for (int e = 0; e < 4; ++e) sum[n][e] = 0.f;
            const __half* left = from + (m * 16 + lane % 16) * X_PITCH + lane / 16 * 8;
            const __half* right = from + lane % 8 * X_PITCH + lane / 8 * 8;
#pragma unroll 1
            for (int k = 0; k < WIDTH; k += 32) {
                unsigned a[2][4];
                load4(a[0], left + k);
                load4(a[1], left + k + 16);
#pragma unroll
                for (int n = 0; n < EIGHTS; ++n) {
                    unsigned b[4];
                    load4(b, right + n * 8 * X_PITCH + k);
                    product(sum[n], a[0], b);
                    product(sum[n], a[1], b + 2);
                }
            }
            __syncwarp();
            unsigned turn = 0;
            if (lane == 0) {
                __threadfence_block();
                turn = atomicAdd(&readers[slot], 1u);
                __threadfence_block();
            }
            if (__shfl_sync(~0u, turn, 0) % TALL == TALL - 1) request(i + X_SLOTS);
            if (i >= 2) wait(&p_free[i % 2], (i / 2 & 1) ^ 1);
            __half* to = ps + i % 2 * P_SIZE + (m * 16 + g) * P_PITCH + 2 * t;
#pragma unroll
            for (int n = 0; n < EIGHTS; ++n) {
                *(__half2*)(to + n * 8) = __floats2half2_rn(sum[n][0], sum[n][1]);
                *(__half2*)(to + 8 * P_PITCH + n * 8) = __floats2half2_rn(sum[n][2], sum[n][3]);
            }
            __syncwarp();
            if (lane == 0) arrive(&p_full[i % 2]);
        }
        return;
    }
    unsigned b[EACH][EIGHTS];  // tiles warp, warp + MAKERS ... of eight columns of Y
    wait(&y_full, 0);
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const int column = (warp + e * MAKERS) * 8 + g;
#pragma unroll
        for (int k = 0; k < EIGHTS; ++k) {
            const __half* from = stages + (k * 8 + 2 * t) * C + column;
            b[e][k] = (e + 1) * MAKERS * 8 <= C || column < C ? both(from, from + C) : 0u;
        }
    }
    int i = 0;
    for (int sample = blockIdx.x; sample < batch; sample += gridDim.x, ++i) {
        __half* staged = stages + i % STAGED * STAGE;
        unsigned p[TALL][(EIGHTS + 1) / 2][4];
        wait(&p_full[i % 2], i / 2 & 1);
        const __half* from = ps + i % 2 * P_SIZE + lane % 16 * P_PITCH + lane / 16 * 8;
#pragma unroll
        for (int m = 0; m < TALL; ++m)
#pragma unroll
            for (int k = 0; k < (EIGHTS + 1) / 2; ++k) load4(p[m][k], from + m * 16 * P_PITCH + k * 16);
        __syncwarp();
        if (lane == 0) arrive(&p_free[i % 2]);
        if (warp == 0) stores_read();  // of the sample whose place this takes
        meet<MAKERS * 32>();           // also: all have what they need of Y
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int column = (warp + e * MAKERS) * 8 + 2 * t;
#pragma unroll
            for (int m = 0; m < TALL; ++m) {
                float sum[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
                for (int k = 0; k < EIGHTS / 2; ++k) product(sum, p[m][k], &b[e][2 * k]);
                if (EIGHTS % 2) half_product(sum, p[m][EIGHTS / 2], &b[e][EIGHTS - 1]);
                if ((e + 1) * MAKERS * 8 <= C || column < C) {
                    *(__half2*)(staged + (m * 16 + g) * PITCH + column) = __floats2half2_rn(sum[0], sum[1]);
                    if (m * 16 + 8 < F)
                        *(__half2*)(staged + (m * 16 + 8 + g) * PITCH + column) = __floats2half2_rn(sum[2], sum[3]);
                }
            }
        }
        to_copies();
        meet<MAKERS * 32>();
        if (warp == 0) {
            __half* to = out + (size_t)sample * F * C;
            if (ROWS) {
                for (int r = lane; r < F; r += 32) bulk_store(to + r * C, staged + r * PITCH, C * 2);
            } else if (lane == 0) {
                bulk_store(to, staged, F * C * 2);
            }
            stores_sent();
        }
    }
    if (warp == 0) stores_done();
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) fm_24(const __half* x, const __half* y, __half* out,
                                                                  int batch) {
    machine<24, 2198>(x, y, out, batch);
}
"""

library = load(SOURCE, defines={"WARPS": WARPS, "STAGED": STAGED})


@triton.jit
def machine(
    x,
    y,
    out,
    batch,
    features: tl.constexpr,
    width: tl.constexpr,
    columns: tl.constexpr,
    rows: tl.constexpr,
    depth: tl.constexpr,
    tile: tl.constexpr,
    samples: tl.constexpr,
    stages: tl.constexpr,
):
    # Rows are packed: row r is feature r % features of sample r // features, as they lie in memory.
    row = tl.arange(0, rows)
    used: tl.constexpr = samples * features
    first = tl.program_id(0).to(tl.int64) * samples
    known = (row < used) & (first + row // features < batch)
    x += first * (features * width)
    pairs = tl.zeros([rows, rows], tl.float32)
    for start in tl.static_range(0, width, depth):
        number = start + tl.arange(0, depth)
        part = tl.load(
            x + row[:, None] * width + number[None, :], mask=known[:, None] & (number < width)[None, :], other=0.0
        )
        pairs = tl.dot(part, tl.trans(part), pairs)
    same = (row[:, None] // features == row[None, :] // features) & known[:, None] & known[None, :]
    both = tl.where(same, pairs, 0.0).to(x.dtype.element_ty)
    out += first * (features * columns)
    for start in tl.range(0, columns, tile, num_stages=stages):
        column = start + tl.arange(0, tile)
        inside = known[:, None] & (column < columns)[None, :]
        stacked = tl.load(y + (row % features)[:, None] * columns + column[None, :], mask=inside, other=0.0)
        result = tl.dot(both, stacked)
        tl.store(out + row[:, None] * columns + column[None, :], result.to(out.dtype.element_ty), mask=inside)


def staged(x, y):
    batch, features, columns = x.shape[0], x.shape[1], y.shape[1]
    out = x.new_empty(batch, features, columns)
    shared = 2 * (STAGED * ((features * columns + 15) // 8 * 8) + features * 232 + 2 * 32 * 56)
    library.fm_24(min(batch, 132), 32 * WARPS, x, y, out, batch, shared=shared)
    return out


def stacked(x, y):
    (batch, features, width), columns = x.shape, y.shape[1]
    out = x.new_empty(batch, features, columns)
    rows = max(ROWS, triton.next_power_of_2(features))
    samples = rows // features
    machine[(triton.cdiv(batch, samples),)](
        x,
        y,
        out,
        batch,
        features=features,
        width=width,
        columns=columns,
        rows=rows,
        depth=min(128, max(16, triton.next_power_of_2(width))),
        tile=TILE,
        samples=samples,
        stages=STAGES,
        num_warps=NUM_WARPS,
    )
    return out


class ModelNew(torch.nn.Module):
    def __init__(self, features: int, columns: int) -> None:
        super().__init__()
        self.projection = torch.nn.Parameter(torch.randn(features, columns) / features**0.5)

    def forward(self, x):
        x, y = x.contiguous(), self.projection.contiguous()
        wide = (x.shape[1], x.shape[2], y.shape[1]) == (24, 224, 2198) and x.dtype == torch.float16 and x.shape[0] > 0
        return staged(x, y) if wide and x.data_ptr() % 16 == 0 and y.data_ptr() % 16 == 0 else stacked(x, y)
