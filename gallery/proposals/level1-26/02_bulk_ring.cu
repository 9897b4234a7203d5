// Persistent blocks: a warp has chunks copied into a ring in shared memory, the others compute and write.
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
// Shared to global memory by the copy engine; the thread that asks is the one that waits.
__device__ __forceinline__ void bulk_store(void* to, const void* from, unsigned bytes) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3; cp.async.bulk.commit_group;" ::"l"(
            to),
        "r"(place(from)), "r"(bytes), "l"(policy)
        : "memory");
}
template <int LEFT>
__device__ __forceinline__ void stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}
__device__ __forceinline__ void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void shared_seen() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int SOME>
__device__ __forceinline__ void meet_some() {  // those threads of the block that work, without the one that loads
    asm volatile("bar.sync 1, %0;" ::"n"(SOME) : "memory");
}
// The kernel.
#define WARPS (CONSUMERS / 32)
#define EACH (CHUNK / 4 / CONSUMERS)

__device__ __forceinline__ float gelu(float v) { return v * 0.5f * (1.0f + erff(v * 0.70710678118654752f)); }
__device__ __forceinline__ float4 gelus(float4 v) { return make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w)); }

extern "C" __global__ void __launch_bounds__(CONSUMERS + 32)
    by_chunks(const float* __restrict__ x, float* __restrict__ y, long long chunks) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    const int tid = threadIdx.x;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], 1 + (WARPS - 1) * !BULK_STORE);
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
            bulk_load(ring + slot * (CHUNK / 4), x + c * CHUNK, CHUNK * 4, &full[slot]);
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
#if BULK_STORE
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
#else
        __syncwarp();
        if (tid % 32 == 0) arrive(&empty[slot]);
        float4* to = reinterpret_cast<float4*>(y + c * CHUNK) + tid;
#pragma unroll
        for (int i = 0; i < EACH; ++i) __stcs(&to[i * CONSUMERS], gelus(v[i]));
#endif
        if (++slot == SLOTS) slot = 0, ++round;
    }
#if BULK_STORE
    if (tid == 0) stores_done();
#endif
}
