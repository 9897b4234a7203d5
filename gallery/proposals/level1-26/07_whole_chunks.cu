// Chunks come into a ring and leave it whole, by bulk copies without hints to L2.
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
// Shared to global memory by the copy engine; the thread that asks is the one that waits.
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(to),
        "r"(place(from)), "r"(bytes)
        : "memory");
}
template <int LEFT>
__device__ __forceinline__ void stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}
__device__ __forceinline__ void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void shared_seen() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int SOME>
__device__ __forceinline__ void meet_some() {  // those threads of the block that work on numbers
    asm volatile("bar.sync 1, %0;" ::"n"(SOME) : "memory");
}
// The kernel.
#define WARPS (CONSUMERS / 32)
#define EACH (CHUNK / 4 / CONSUMERS)

__device__ __forceinline__ float gelu(float v) {
#if OWN
    float z = fabsf(v) * 0.70710678118654752f;
    float t = __fdividef(1.0f, fmaf(0.5f, z, 1.0f));
    float p = 0.17087277f;
    p = fmaf(p, t, -0.82215223f);
    p = fmaf(p, t, 1.48851587f);
    p = fmaf(p, t, -1.13520398f);
    p = fmaf(p, t, 0.27886807f);
    p = fmaf(p, t, -0.18628806f);
    p = fmaf(p, t, 0.09678418f);
    p = fmaf(p, t, 0.37409196f);
    p = fmaf(p, t, 1.00002368f);
    p = fmaf(p, t, -1.26551223f);
    float tail = 0.5f * t * __expf(fmaf(-z, z, p));  // what lies beyond |v|
    return v * (v > 0.0f ? 1.0f - tail : tail);
#else
    return v * 0.5f * (1.0f + erff(v * 0.70710678118654752f));
#endif
}
__device__ __forceinline__ float4 gelus(float4 v) { return make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w)); }

extern "C" __global__ void __launch_bounds__(CONSUMERS + 32)
    by_chunks(const float* __restrict__ x, float* __restrict__ y, long long chunks) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    const int tid = threadIdx.x;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], 1);
        }
        inits_seen();
    }
    __syncthreads();
    int slot = 0;
    unsigned round = 0;
    if (tid >= CONSUMERS) {
        if (tid > CONSUMERS) return;
        for (long long c = blockIdx.x; c < chunks; c += gridDim.x) {
            if (round) wait(&empty[slot], (round & 1) ^ 1);
            expect(&full[slot], CHUNK * 4);
            bulk_load<LEAVES>(ring + slot * (CHUNK / 4), x + c * CHUNK, CHUNK * 4, &full[slot]);
            if (++slot == SLOTS) slot = 0, ++round;
        }
        return;
    }
    int last = -1;
    for (long long c = blockIdx.x; c < chunks; c += gridDim.x) {
        wait(&full[slot], round & 1);
        float4* here = ring + slot * (CHUNK / 4) + tid;
        float4 v[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = here[i * CONSUMERS];
#pragma unroll
        for (int i = 0; i < EACH; ++i) here[i * CONSUMERS] = gelus(v[i]);
        shared_seen();
        meet_some<CONSUMERS>();
        if (tid == 0) {  // the slot before this one is free once its bytes are on their way
            bulk_store(y + c * CHUNK, ring + slot * (CHUNK / 4), CHUNK * 4);
            stores_read<1>();
            if (last >= 0) arrive(&empty[last]);
            last = slot;
        }
        if (++slot == SLOTS) slot = 0, ++round;
    }
    if (tid == 0) stores_done();
}
