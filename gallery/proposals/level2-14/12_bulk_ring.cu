// Column sums of the weight by bulk copies, each warp with a ring of its own; then rows of x times their sum.
typedef unsigned long long Barrier;
// DEVICE BEGIN
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(place(b)), "r"(parity)
                     : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(b))
                 : "memory");
}
// DEVICE END

__device__ __forceinline__ float over_warp(float v) {
#pragma unroll
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// A warp has PIECE columns of some rows; parts are (warps a piece, k).
extern "C" __global__ void __launch_bounds__(THREADS) columns(const float* __restrict__ w, float* parts, int n, int k,
                                                              int shares) {
    extern __shared__ __align__(128) float4 memory[];
    __shared__ Barrier full[THREADS / 32][RING];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, id = blockIdx.x * (THREADS / 32) + warp;
    int pieces = k / PIECE, share = id / pieces, column = id % pieces * PIECE;
    if (share >= shares) return;
    int first = (int)((long long)n * share / shares), last = (int)((long long)n * (share + 1) / shares);
    float4* ring = memory + warp * RING * (PIECE / 4);
    const float* from = w + (size_t)first * k + column;
    int rows = last - first;
    auto request = [&](int row) {
        if (row < rows) {
            expect(&full[warp][row % RING], PIECE * 4);
            bulk_load(ring + row % RING * (PIECE / 4), from + (size_t)row * k, PIECE * 4, &full[warp][row % RING]);
        }
    };
    if (lane == 0) {
        for (int i = 0; i < RING; ++i) init(&full[warp][i], 1);
        inits_seen();
        for (int i = 0; i < RING; ++i) request(i);
    }
    __syncwarp();
    float4 sum[PIECE / 128];
#pragma unroll
    for (int i = 0; i < PIECE / 128; ++i) sum[i] = make_float4(0.f, 0.f, 0.f, 0.f);
    int slot = 0;
    unsigned parity = 0;
    for (int row = 0; row < rows; ++row) {
        wait(&full[warp][slot], parity);
#pragma unroll
        for (int i = 0; i < PIECE / 128; ++i) {
            float4 v = ring[slot * (PIECE / 4) + i * 32 + lane];
            sum[i].x += v.x, sum[i].y += v.y, sum[i].z += v.z, sum[i].w += v.w;
        }
        __syncwarp();
        if (lane == 0) request(row + RING);
        if (++slot == RING) slot = 0, parity ^= 1;
    }
#pragma unroll
    for (int i = 0; i < PIECE / 128; ++i)
        reinterpret_cast<float4*>(parts + (size_t)share * k + column)[i * 32 + lane] = sum[i];
}

// A thread a column: the parts of all shares.
extern "C" __global__ void __launch_bounds__(THREADS) total_of(const float* __restrict__ parts, float* total, int k,
                                                               int shares) {
    int at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= k) return;
    float sum = 0;
#pragma unroll 8
    for (int share = 0; share < shares; ++share) sum += parts[(size_t)share * k + at];
    total[at] = sum;
}

// A warp a row of x.
extern "C" __global__ void __launch_bounds__(THREADS) multiply(const float4* __restrict__ x,
                                                               const float4* __restrict__ total, float* __restrict__ y,
                                                               int m, int quads, float factor) {
    int row = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 8
    for (int i = lane; i < quads; i += 32) {
        float4 v = __ldcs(x + (size_t)row * quads + i), t = __ldg(total + i);
        a += v.x * t.x, b += v.y * t.y, c += v.z * t.z, d += v.w * t.w;
    }
    a = over_warp((a + b) + (c + d));
    if (lane == 0) y[row] = a * factor;
}
