// A cluster of blocks holds a row in shared memory; whole chunks come in and go out by the copy engine.
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
__device__ __forceinline__ void meet_some() {  // those threads of the block that work, without the one that loads
    asm volatile("bar.sync 1, %0;" ::"n"(SOME) : "memory");
}
__device__ __forceinline__ unsigned place_in(const void* p, unsigned rank) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place(p)), "r"(rank));
    return there;
}
__device__ __forceinline__ void put(float2* p, unsigned rank, float2 v) {
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(place_in(p, rank)), "f"(v.x), "f"(v.y) : "memory");
}
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
__device__ __forceinline__ void arrive_in(Barrier* b, unsigned rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(place_in(b, rank)) : "memory");
}
__device__ __forceinline__ void wait_for_cluster(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
            "p; }"
            : "=r"(done)
            : "r"(place(b)), "r"(parity)
            : "memory");
    } while (!done);
}
// The kernel.
#define WARPS (CONSUMERS / 32)
#define EACH (CHUNK / 4 / CONSUMERS)

__device__ __forceinline__ float2 joined(float2 a, float2 b) {
    float top = fmaxf(a.x, b.x), shift = top == -INFINITY ? 0.0f : top;
    return make_float2(top, a.y * __expf(a.x - shift) + b.y * __expf(b.x - shift));
}

__device__ __forceinline__ float2 over_warp(float2 mine) {
#pragma unroll
    for (int step = 16; step; step /= 2) {
        float x = __shfl_xor_sync(0xffffffffu, mine.x, step), y = __shfl_xor_sync(0xffffffffu, mine.y, step);
        mine = joined(mine, make_float2(x, y));
    }
    return mine;
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(CONSUMERS + 32, 1)
    softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int columns, int slots) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[64], empty[64], met[2];
    __shared__ float2 parts[2][CLUSTER], lanes[WARPS];
    const int rank = blockIdx.x % CLUSTER, first = blockIdx.x / CLUSTER, step = gridDim.x / CLUSTER;
    const int part = columns / CLUSTER, chunks = part / CHUNK, tid = threadIdx.x, warp = tid / 32;

    if (tid == 0) {
        for (int i = 0; i < slots; ++i) {
            init(&full[i], 1);
            init(&empty[i], 1);
        }
        init(&met[0], CLUSTER);
        init(&met[1], CLUSTER);
        inits_seen();
    }
    __syncthreads();
    cluster_arrive();
    cluster_wait();

    if (warp == WARPS) {  // the warp that asks for chunks, in the order in which they are used
        if (tid % 32 == 0) {
            int slot = 0;
            unsigned round = 0;
            for (int row = first; row < rows; row += step) {
                const float* from = x + (size_t)row * columns + (size_t)rank * part;
                for (int c = 0; c < chunks; ++c) {
                    if (round) wait(&empty[slot], (round & 1) ^ 1);
                    expect(&full[slot], CHUNK * 4);
                    bulk_load<LEAVES>(ring + slot * (CHUNK / 4), from + (size_t)c * CHUNK, CHUNK * 4, &full[slot]);
                    if (++slot == slots) slot = 0, ++round;
                }
            }
        }
    } else {
        int last = -1, in = 0, out = 0;  // slots of the chunk to look at and of the one to write
        unsigned in_parity = 0;
        float2 mine = make_float2(-INFINITY, 0.0f);

        auto look = [&]() {
            wait(&full[in], in_parity);
            float4 v[EACH];
            float top = mine.x;
#pragma unroll
            for (int i = 0; i < EACH; ++i) v[i] = ring[in * (CHUNK / 4) + i * CONSUMERS + tid];
#pragma unroll
            for (int i = 0; i < EACH; ++i) top = fmaxf(top, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
            const float shift = top == -INFINITY ? 0.0f : top;
            float sum = mine.y * __expf(mine.x - shift);
#pragma unroll
            for (int i = 0; i < EACH; ++i)
                sum += (__expf(v[i].x - shift) + __expf(v[i].y - shift)) +
                       (__expf(v[i].z - shift) + __expf(v[i].w - shift));
            mine = make_float2(top, sum);
            if (++in == slots) in = 0, in_parity ^= 1;
        };

        if (first < rows)
            for (int c = 0; c < chunks; ++c) look();
        unsigned turn = 0;
        for (int row = first; row < rows; row += step, ++turn) {
            mine = over_warp(mine);
            if (tid % 32 == 0) lanes[warp] = mine;
            meet_some<CONSUMERS>();
            if (warp == 0) {
                mine = over_warp(tid < WARPS ? lanes[tid] : make_float2(-INFINITY, 0.0f));
                if (tid < CLUSTER) {
                    put(&parts[turn & 1][rank], tid, mine);
                    arrive_in(&met[turn & 1], tid);
                }
            }
            wait_for_cluster(&met[turn & 1], (turn >> 1) & 1);
            float2 whole = parts[turn & 1][0];
#pragma unroll
            for (int i = 1; i < CLUSTER; ++i) whole = joined(whole, parts[turn & 1][i]);
            const float shift = whole.x, scale = 1.0f / whole.y;

            const bool more = row + step < rows;
            float4* to = reinterpret_cast<float4*>(y + (size_t)row * columns + (size_t)rank * part);
            mine = make_float2(-INFINITY, 0.0f);
            for (int c = 0; c < chunks; ++c) {
                float4 v[EACH];
#pragma unroll
                for (int i = 0; i < EACH; ++i) v[i] = ring[out * (CHUNK / 4) + i * CONSUMERS + tid];
#pragma unroll
                for (int i = 0; i < EACH; ++i)
                    ring[out * (CHUNK / 4) + i * CONSUMERS + tid] =
                        make_float4(__expf(v[i].x - shift) * scale, __expf(v[i].y - shift) * scale,
                                    __expf(v[i].z - shift) * scale, __expf(v[i].w - shift) * scale);
                shared_seen();
                meet_some<CONSUMERS>();
                if (tid == 0) {  // a slot is free once its bytes are on their way
                    bulk_store(to + c * (CHUNK / 4), ring + out * (CHUNK / 4), CHUNK * 4);
                    stores_read<1>();
                    if (last >= 0) arrive(&empty[last]);
                    last = out;
                    if (c + 1 == chunks) {
                        stores_read<0>();
                        arrive(&empty[out]);
                        last = -1;
                    }
                }
                __syncwarp();
                if (++out == slots) out = 0;
                if (more && c >= DELAY) look();
            }
            if (more)
                for (int c = chunks > DELAY ? chunks - DELAY : 0; c < chunks; ++c) look();
        }
        if (tid == 0) stores_done();
    }
    __syncwarp();
    cluster_arrive();  // nobody leaves while others may still write into its shared memory
    cluster_wait();
}
