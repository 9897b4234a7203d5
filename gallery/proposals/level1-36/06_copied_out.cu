// Tiles of all features x PIXELS come into a ring, are normalised there and leave by bulk copies.
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
#define WARPS 8
#define EACH (FEATURES / WARPS)  // features of a warp
#define WIDE (PIXELS / 128)      // vectors of a lane in each

extern "C" __global__ void __launch_bounds__(WARPS * 32 + 32, 1)
    rms_norm(const float* __restrict__ x, float* __restrict__ y, int pixels, int tiles_across, int tiles, float eps) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    __shared__ float4 squares[2][WARPS][PIXELS / 4];
    const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
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
    if (warp == WARPS) {
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            const float* from = x + (size_t)(tile / tiles_across) * FEATURES * pixels + tile % tiles_across * PIXELS;
            if (round) wait(&empty[slot], (round & 1) ^ 1);
            if (lane == 0) expect(&full[slot], FEATURES * PIXELS * 4);
            __syncwarp();
            for (int f = lane; f < FEATURES; f += 32)
                bulk_load<LEAVES>(ring + slot * (FEATURES * PIXELS / 4) + f * (PIXELS / 4), from + (size_t)f * pixels,
                          PIXELS * 4, &full[slot]);
            if (++slot == SLOTS) slot = 0, ++round;
        }
        return;
    }
    unsigned turn = 0;
    int last = -1;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, turn ^= 1) {
        wait(&full[slot], round & 1);
        float4* here = ring + slot * (FEATURES * PIXELS / 4) + warp * EACH * (PIXELS / 4) + lane;
        float4 v[WIDE][EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i)
#pragma unroll
            for (int t = 0; t < WIDE; ++t) v[t][i] = here[i * (PIXELS / 4) + t * 32];
#pragma unroll
        for (int t = 0; t < WIDE; ++t) {
            float4 s = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                s.x = fmaf(v[t][i].x, v[t][i].x, s.x);
                s.y = fmaf(v[t][i].y, v[t][i].y, s.y);
                s.z = fmaf(v[t][i].z, v[t][i].z, s.z);
                s.w = fmaf(v[t][i].w, v[t][i].w, s.w);
            }
            squares[turn][warp][t * 32 + lane] = s;
        }
        meet_some<WARPS * 32>();
#pragma unroll
        for (int t = 0; t < WIDE; ++t) {
            float4 s = squares[turn][0][t * 32 + lane];
#pragma unroll
            for (int w = 1; w < WARPS; ++w) {
                float4 o = squares[turn][w][t * 32 + lane];
                s.x += o.x;
                s.y += o.y;
                s.z += o.z;
                s.w += o.w;
            }
            s.x = 1.0f / sqrtf(s.x * (1.0f / FEATURES) + eps);
            s.y = 1.0f / sqrtf(s.y * (1.0f / FEATURES) + eps);
            s.z = 1.0f / sqrtf(s.z * (1.0f / FEATURES) + eps);
            s.w = 1.0f / sqrtf(s.w * (1.0f / FEATURES) + eps);
#pragma unroll
            for (int i = 0; i < EACH; ++i)
                here[i * (PIXELS / 4) + t * 32] =
                    make_float4(v[t][i].x * s.x, v[t][i].y * s.y, v[t][i].z * s.z, v[t][i].w * s.w);
        }
        shared_seen();
        meet_some<WARPS * 32>();
        if (warp == 0) {  // sends the tile off; the slot before this one is free once its bytes are on their way
            float* to = y + (size_t)(tile / tiles_across) * FEATURES * pixels + tile % tiles_across * PIXELS;
            for (int f = lane; f < FEATURES; f += 32)
                bulk_store(to + (size_t)f * pixels, ring + slot * (FEATURES * PIXELS / 4) + f * (PIXELS / 4),
                           PIXELS * 4);
            stores_read<FEATURES / 32>();
            __syncwarp();
            if (last >= 0 && lane == 0) arrive(&empty[last]);
            last = slot;
        }
        if (++slot == SLOTS) slot = 0, ++round;
    }
    if (warp == 0) stores_done();
}
