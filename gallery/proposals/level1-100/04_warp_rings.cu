// Each warp has the same columns at each step and a ring of its own, so that no warp waits for another.
// PTX that the rest uses by name.
typedef unsigned long long Barrier;  // an mbarrier in shared memory

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
            : "=r"(done)
            : "r"(place(b)), "r"(parity)
            : "memory");
    } while (!done);
}
// Global to shared memory, whole and by the copy engine. SOON: what is read is the first to leave the L2 cache.
template <int SOON>
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    if (SOON) {
        unsigned long long policy;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
            "%4;" ::"r"(place(to)),
            "l"(from), "r"(bytes), "r"(place(b)), "l"(policy)
            : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
            "l"(from), "r"(bytes), "r"(place(b))
            : "memory");
    }
}
// The kernel.
#define THREADS (WARPS * 32)
#define EACH (PIECE / 128)  // vectors of a lane in a piece

__device__ __forceinline__ float margin(float p, float t) {
    float v = fmaf(-p, t, 1.0f);
    return v <= 0.0f ? 0.0f : v;  // keeps what is no number, as clamp does
}
__device__ __forceinline__ float margins(float4 p, float4 t) {
    return (margin(p.x, t.x) + margin(p.y, t.y)) + (margin(p.z, t.z) + margin(p.w, t.w));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    hinge(const float* __restrict__ x, const float4* __restrict__ targets, float* __restrict__ out, float* parts,
          unsigned* ticket, int rows, int across, float whole) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[WARPS * DEEP];
    __shared__ float lanes[WARPS];
    __shared__ bool last;
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    if (tid == 0) {
        for (int i = 0; i < WARPS * DEEP; ++i) init(&full[i], 1);
        inits_seen();
    }
    __syncthreads();
    // `across` blocks make a row, the warps of a block lie side by side in it.
    const int column = blockIdx.x % across * WARPS + warp, first = blockIdx.x / across, step = gridDim.x / across;
    const int steps = first < rows ? (rows - first + step - 1) / step : 0;
    const size_t columns = (size_t)across * (WARPS * PIECE);
    const float* from = x + first * columns + (size_t)column * PIECE;
    float4* mine = ring + warp * (DEEP * PIECE / 4);
    auto fill = [&](int s, int slot) {
        if (lane == 0 && s < steps) {
            expect(&full[warp * DEEP + slot], PIECE * 4);
            bulk_load<LEAVES>(mine + slot * (PIECE / 4), from + (size_t)s * step * columns, PIECE * 4,
                              &full[warp * DEEP + slot]);
        }
    };
    for (int i = 0; i < DEEP; ++i) fill(i, i);
    float4 t[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) t[i] = __ldg(&targets[column * (PIECE / 4) + i * 32 + lane]);
    float sums[EACH] = {};
    int slot = 0;
    unsigned parity = 0;
    for (int s = 0; s < steps; ++s) {
        wait(&full[warp * DEEP + slot], parity);
        float4 v[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = mine[slot * (PIECE / 4) + i * 32 + lane];
        __syncwarp();
        fill(s + DEEP, slot);
        if (++slot == DEEP) slot = 0, parity ^= 1;
#pragma unroll
        for (int i = 0; i < EACH; ++i) sums[i] += margins(v[i], t[i]);
    }
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; ++i) total += sums[i];

    // The block that comes last adds up what all have left, and leaves the ticket as it was.
#pragma unroll
    for (int d = 16; d; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
    if (tid % 32 == 0) lanes[tid / 32] = total;
    __syncthreads();
    if (tid == 0) {
        total = 0.0f;
        for (int i = 0; i < THREADS / 32; ++i) total += lanes[i];
        parts[blockIdx.x] = total;
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && tid < 32) {
        total = 0.0f;
        for (int i = tid; i < gridDim.x; i += 32) total += __ldcg(&parts[i]);
#pragma unroll
        for (int d = 16; d; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
        if (tid == 0) {
            *out = total / whole;
            *ticket = 0;
        }
    }
}
