// Persistent blocks with the same columns at each step, so that targets stay in registers; rows come by bulk copies.
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
// Global to shared memory, whole and by the copy engine; read once, so first to leave the L2 cache.
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
            place(to)),
        "l"(from), "r"(bytes), "r"(place(b)), "l"(policy)
        : "memory");
}
// The kernel.
#define EACH (CHUNK / 4 / THREADS)

__device__ __forceinline__ float margin(float p, float t) {
    float v = fmaf(-p, t, 1.0f);
    return v <= 0.0f ? 0.0f : v;  // keeps what is no number, as clamp does
}
__device__ __forceinline__ float margins(float4 p, float4 t) {
    return (margin(p.x, t.x) + margin(p.y, t.y)) + (margin(p.z, t.z) + margin(p.w, t.w));
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    hinge(const float* __restrict__ x, const float4* __restrict__ targets, float* __restrict__ out, float* parts,
          unsigned* ticket, int rows, int across, float whole) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    __shared__ float lanes[THREADS / 32];
    __shared__ bool last;
    const int tid = threadIdx.x;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], THREADS / 32);
        }
        inits_seen();
    }
    __syncthreads();

    const int column = blockIdx.x % across, first = blockIdx.x / across, step = gridDim.x / across;
    const int steps = first < rows ? (rows - first + step - 1) / step : 0;
    const float* from = x + ((size_t)first * across + column) * CHUNK;
    int filled = 0;
    auto fill = [&]() {  // the first thread asks, when all have left the slot
        if (tid == 0 && filled < steps) {
            const int slot = filled % SLOTS, round = filled / SLOTS;
            if (round) wait(&empty[slot], (round & 1) ^ 1);
            expect(&full[slot], CHUNK * 4);
            bulk_load(ring + slot * (CHUNK / 4), from + (size_t)filled * step * across * CHUNK, CHUNK * 4, &full[slot]);
            ++filled;
        }
        __syncwarp();
    };
    for (int i = 0; i < SLOTS; ++i) fill();
    float4 t[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) t[i] = __ldg(&targets[column * (CHUNK / 4) + i * THREADS + tid]);

    float sums[EACH] = {};
    int slot = 0;
    unsigned parity = 0;
    for (int s = 0; s < steps; ++s) {
        wait(&full[slot], parity);
        float4 v[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = ring[slot * (CHUNK / 4) + i * THREADS + tid];
        __syncwarp();
        if (tid % 32 == 0) arrive(&empty[slot]);
        if (++slot == SLOTS) slot = 0, parity ^= 1;
#pragma unroll
        for (int i = 0; i < EACH; ++i) sums[i] += margins(v[i], t[i]);
        fill();
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
