// Blocks of a cluster share the features of 512 pixels: each load runs over 2 KiB; sums go to all by remote stores.
// PTX that the rest uses by name.
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
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
__device__ __forceinline__ void put4(float4* p, unsigned rank, float4 v) {
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(place_in(p, rank)), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w)
                 : "memory");
}
// The kernel.
#define FOURS 128                            // vectors of 512 pixels
#define GROUPS (THREADS / FOURS)             // of features in a block
#define EACH (FEATURES / CLUSTER / GROUPS)   // features of a thread

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS)
    rms_norm(const float4* __restrict__ x, float4* __restrict__ y, int fours, float eps) {
    __shared__ float4 squares[CLUSTER * GROUPS][FOURS];
    cluster_arrive();
    const int rank = blockIdx.x % CLUSTER, group = threadIdx.x / FOURS, lane = threadIdx.x % FOURS;
    const int mine = rank * GROUPS + group;
    const size_t first = ((size_t)blockIdx.y * FEATURES + mine * EACH) * fours + blockIdx.x / CLUSTER * FOURS + lane;
    float4 v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) v[i] = __ldcs(&x[first + (size_t)i * fours]);
    float4 s = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        s.x = fmaf(v[i].x, v[i].x, s.x);
        s.y = fmaf(v[i].y, v[i].y, s.y);
        s.z = fmaf(v[i].z, v[i].z, s.z);
        s.w = fmaf(v[i].w, v[i].w, s.w);
    }
    cluster_wait();  // every block of the cluster runs
#pragma unroll
    for (int i = 0; i < CLUSTER; ++i) put4(&squares[mine][lane], i, s);
    cluster_arrive();
    cluster_wait();
    s = squares[0][lane];
#pragma unroll
    for (int i = 1; i < CLUSTER * GROUPS; ++i) s = plus(s, squares[i][lane]);
    s.x = 1.0f / sqrtf(s.x * (1.0f / FEATURES) + eps);
    s.y = 1.0f / sqrtf(s.y * (1.0f / FEATURES) + eps);
    s.z = 1.0f / sqrtf(s.z * (1.0f / FEATURES) + eps);
    s.w = 1.0f / sqrtf(s.w * (1.0f / FEATURES) + eps);
#pragma unroll
    for (int i = 0; i < EACH; ++i)
        __stcs(&y[first + (size_t)i * fours], make_float4(v[i].x * s.x, v[i].y * s.y, v[i].z * s.z, v[i].w * s.w));
}
