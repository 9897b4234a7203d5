// Column sums of the weight by whole rows, two meetings of all blocks, then rows of x, which came in the meantime.
constexpr int QUADS = K / 4, EACH = QUADS / THREADS;  // of a row, of a thread
static_assert(QUADS % THREADS == 0 && THREADS % 32 == 0 && K % BLOCKS == 0 && (BLOCKS & (BLOCKS - 1)) == 0, "shares");
extern __shared__ __align__(128) float4 rows[];  // KEPT rows of x

// PTX is "asm"; the CPU shim, which knows none, takes the other branches.
typedef unsigned long long Barrier;
#ifdef KERNWRIGHT_ARCH
__device__ __forceinline__ void init(Barrier*) {}
__device__ __forceinline__ void expect(Barrier*, unsigned) {}
__device__ __forceinline__ void wait(Barrier*) { __syncthreads(); }
__device__ __forceinline__ void bulk_load(float4* to, const float4* from, unsigned bytes, Barrier*) {
    for (unsigned i = 0; i < bytes / 16; ++i) to[i] = from[i];
}
__device__ __forceinline__ void prefetch(const float4*, unsigned) {}
#else
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b) {
    PTX volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(b)) : "memory");
    PTX volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    PTX volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b) {
    unsigned done;
    do {
        PTX volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(place(b))
                     : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(float4* to, const float4* from, unsigned bytes, Barrier* b) {
    PTX volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(b))
                 : "memory");
}
__device__ __forceinline__ void prefetch(const float4* from, unsigned bytes) {
    PTX volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
#endif

// All blocks are resident; each call adds a multiple of their number to the counter.
__device__ __forceinline__ void meet(unsigned* counter) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned enough = atomicAdd(counter, 1u) / BLOCKS * BLOCKS + BLOCKS;
        while (int(*(volatile unsigned*)counter - enough) < 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ __forceinline__ float over_warp(float v) {
#pragma unroll
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) run(const float4* __restrict__ x, const float4* __restrict__ w,
                                                             float4* parts, float* total, unsigned* counter,
                                                             float* __restrict__ y, int m, int n, float factor) {
    __shared__ Barrier full;
    __shared__ float of_warps[THREADS / 32];
    int tid = threadIdx.x, each = m / BLOCKS, tall = n / BLOCKS, kept = min(KEPT, each);
    x += (size_t)blockIdx.x * each * QUADS;
    w += (size_t)blockIdx.x * tall * QUADS;
    if (tid == 0) {
        init(&full);
        expect(&full, kept * K * 4);
        for (int row = 0; row < kept; ++row) bulk_load(rows + row * QUADS, x + (size_t)row * QUADS, K * 4, &full);
        for (int row = kept; row < each; ++row) prefetch(x + (size_t)row * QUADS, K * 4);
    }

    float4 sum[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) sum[i] = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int row = 0; row < tall; ++row)
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            float4 v = __ldcs(w + (size_t)row * QUADS + i * THREADS + tid);
            sum[i].x += v.x, sum[i].y += v.y, sum[i].z += v.z, sum[i].w += v.w;
        }
#pragma unroll
    for (int i = 0; i < EACH; ++i) __stcg(parts + (size_t)blockIdx.x * QUADS + i * THREADS + tid, sum[i]);
    meet(counter);

    // A block adds up K / BLOCKS columns of all parts, a warp one after the other of its columns' quads.
    constexpr int MINE = K / BLOCKS / 4;
    for (int quad = tid / 32; quad < MINE; quad += THREADS / 32) {
        float4 v = make_float4(0, 0, 0, 0);
        for (int part = tid % 32; part < BLOCKS; part += 32) {
            float4 u = __ldcg(parts + (size_t)part * QUADS + blockIdx.x * MINE + quad);
            v.x += u.x, v.y += u.y, v.z += u.z, v.w += u.w;
        }
        v.x = over_warp(v.x), v.y = over_warp(v.y), v.z = over_warp(v.z), v.w = over_warp(v.w);
        if (tid % 32 == 0) __stcg(reinterpret_cast<float4*>(total) + blockIdx.x * MINE + quad, v);
    }
    meet(counter + 32);

#pragma unroll
    for (int i = 0; i < EACH; ++i) sum[i] = __ldcg(reinterpret_cast<const float4*>(total) + i * THREADS + tid);
    wait(&full);
    for (int row = 0; row < each; ++row) {
        float a = 0;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            float4 v = row < kept ? rows[row * QUADS + i * THREADS + tid] : __ldg(x + (size_t)row * QUADS + i * THREADS + tid);
            a += v.x * sum[i].x + v.y * sum[i].y + v.z * sum[i].z + v.w * sum[i].w;
        }
        a = over_warp(a);
        __syncthreads();
        if (tid % 32 == 0) of_warps[tid / 32] = a;
        __syncthreads();
        if (tid < 32) {
            a = over_warp(tid < THREADS / 32 ? of_warps[tid] : 0.0f);
            if (tid == 0) y[blockIdx.x * each + row] = a * factor;
        }
    }
}
