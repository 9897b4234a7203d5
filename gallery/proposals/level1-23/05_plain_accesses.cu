// A cluster of 8 blocks to a row, half of it in registers and half in shared memory: two clusters fit the same 8 SMs.
// PTX that the rest uses by name.
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void copies_done() {
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
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
// The kernel.
#define WARPS (THREADS / 32)

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

__device__ __forceinline__ float4 fetched(const float4* from) { return HINTS & 1 ? __ldcs(from) : __ldg(from); }
__device__ __forceinline__ void put_out(float4* to, float4 v) {
    if (HINTS & 2)
        __stcs(to, v);
    else
        *to = v;
}
__device__ __forceinline__ float top_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ __forceinline__ float4 powers(float4 v, float shift) {
    return make_float4(__expf(v.x - shift), __expf(v.y - shift), __expf(v.z - shift), __expf(v.w - shift));
}
__device__ __forceinline__ float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ __forceinline__ float4 times(float4 v, float f) {
    return make_float4(v.x * f, v.y * f, v.z * f, v.w * f);
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 2)
    softmax(const float4* __restrict__ x, float4* __restrict__ y) {
    extern __shared__ __align__(128) float4 kept[];  // SHARED vectors of each thread, its own alone
    __shared__ float2 parts[CLUSTER], lanes[WARPS];
    cluster_arrive();
    const int tid = threadIdx.x, rank = blockIdx.x % CLUSTER;
    const size_t first = (size_t)blockIdx.x * (THREADS * (HELD + SHARED)) + tid;
    float4 held[HELD];
#pragma unroll
    for (int i = 0; i < SHARED; ++i) copy16(&kept[i * THREADS + tid], &x[first + (HELD + i) * THREADS]);
#pragma unroll
    for (int i = 0; i < HELD; ++i) held[i] = fetched(&x[first + i * THREADS]);

    float2 mine = make_float2(-INFINITY, 0.0f);
#pragma unroll
    for (int i = 0; i < HELD; ++i) mine.x = fmaxf(mine.x, top_of(held[i]));
    copies_done();
#pragma unroll 4
    for (int i = 0; i < SHARED; ++i) mine.x = fmaxf(mine.x, top_of(kept[i * THREADS + tid]));
    const float own = mine.x == -INFINITY ? 0.0f : mine.x;
#pragma unroll
    for (int i = 0; i < HELD; ++i) {
        held[i] = powers(held[i], own);
        mine.y += sum_of(held[i]);
    }
#pragma unroll 4
    for (int i = 0; i < SHARED; ++i) {
        float4 v = powers(kept[i * THREADS + tid], own);
        kept[i * THREADS + tid] = v;
        mine.y += sum_of(v);
    }

    mine = over_warp(mine);
    if (tid % 32 == 0) lanes[tid / 32] = mine;
    __syncthreads();
    cluster_wait();  // every block of the cluster runs
    if (tid < 32) {
        mine = over_warp(tid < WARPS ? lanes[tid] : make_float2(-INFINITY, 0.0f));
        if (tid < CLUSTER) put(&parts[rank], tid, mine);
    }
    __syncwarp();
    cluster_arrive();
    cluster_wait();
    float2 whole = parts[0];
#pragma unroll
    for (int i = 1; i < CLUSTER; ++i) whole = joined(whole, parts[i]);
    // A row of nothing but minus infinity is no number in each place, as with PyTorch.
    const float scale = __expf(own - whole.x) / whole.y;
#pragma unroll
    for (int i = 0; i < HELD; ++i) put_out(&y[first + i * THREADS], times(held[i], scale));
#pragma unroll 4
    for (int i = 0; i < SHARED; ++i)
        put_out(&y[first + (HELD + i) * THREADS], times(kept[i * THREADS + tid], scale));
}
