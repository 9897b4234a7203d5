// Blocks own a piece of all groups of four rows; pieces of some groups come by bulk copies, all blocks side by side.
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
#define WARPS (THREADS / 32)

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// A block has PIECE of the COLUMNS vectors of a group; each warp has a ring of its own, and takes every WARPS-th group.
extern "C" __global__ void __launch_bounds__(THREADS)
    add_up(const float4* __restrict__ x, float* __restrict__ out, int groups, int pieces, int batches) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[WARPS * DEEP];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tid = threadIdx.x;
    if (tid == 0) {
        for (int i = 0; i < WARPS * DEEP; ++i) init(&full[i], 1);
        inits_seen();
    }
    __syncthreads();
    const int per_batch = groups / WARPS, piece = blockIdx.x % pieces, first = blockIdx.x / pieces;
    const int step = gridDim.x / pieces, count = first < batches ? (batches - first + step - 1) / step * per_batch : 0;
    const int start = piece * PIECE, wide = COLUMNS - start < PIECE ? COLUMNS - start : PIECE;
    float4* mine = ring + warp * (DEEP * PIECE);
    auto fill = [&](int g, int slot) {
        if (lane == 0 && g < count) {
            const size_t group = ((size_t)(g / per_batch) * step + first) * groups + g % per_batch * WARPS + warp;
            expect(&full[warp * DEEP + slot], wide * 16);
            bulk_load<LEAVES>(mine + slot * PIECE, x + group * COLUMNS + start, wide * 16, &full[warp * DEEP + slot]);
        }
    };
    for (int i = 0; i < DEEP; ++i) fill(i, i);
    float4 sum[PIECE / 32];
#pragma unroll
    for (int i = 0; i < PIECE / 32; ++i) sum[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int slot = 0;
    unsigned parity = 0;
    for (int g = 0; g < count; ++g) {
        wait(&full[warp * DEEP + slot], parity);
#pragma unroll
        for (int i = 0; i < PIECE / 32; ++i)
            if (i * 32 + lane < wide) sum[i] = plus(sum[i], mine[slot * PIECE + i * 32 + lane]);
        __syncwarp();
        fill(g + DEEP, slot);
        if (++slot == DEEP) slot = 0, parity ^= 1;
        if ((g + 1) % per_batch == 0) {  // the end of a batch; a column's numbers lie in up to four pieces
            float* to = out + ((size_t)(g / per_batch) * step + first) * COLUMNS;
#pragma unroll
            for (int i = 0; i < PIECE / 32; ++i) {
                const int p = start + i * 32 + lane;
                if (i * 32 + lane < wide) {
                    atomicAdd(&to[4 * p % COLUMNS], sum[i].x);
                    atomicAdd(&to[(4 * p + 1) % COLUMNS], sum[i].y);
                    atomicAdd(&to[(4 * p + 2) % COLUMNS], sum[i].z);
                    atomicAdd(&to[(4 * p + 3) % COLUMNS], sum[i].w);
                }
                sum[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            }
        }
    }
}
