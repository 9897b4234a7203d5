// Persistent blocks with an equal share of all groups of four rows; a group is one bulk copy, sums stay in registers.
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
#define FOURS COLUMNS                               // vectors of four rows
#define EACH ((FOURS + THREADS - 1) / THREADS)      // vectors of a thread

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    add_up(const float* __restrict__ x, float* __restrict__ out, int batches, int groups) {
    extern __shared__ __align__(128) float4 ring[];  // slots, then a row in which four are folded
    float* fold = reinterpret_cast<float*>(ring + SLOTS * FOURS);
    __shared__ Barrier full[SLOTS], empty[SLOTS];
    const int tid = threadIdx.x;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) {
            init(&full[i], 1);
            init(&empty[i], THREADS / 32);
        }
        inits_seen();
    }
    __syncthreads();
    const long long all = (long long)batches * groups;
    const int first = (int)(all * blockIdx.x / gridDim.x), count = (int)(all * (blockIdx.x + 1) / gridDim.x) - first;
    int filled = 0;
    auto fill = [&]() {  // the first thread asks, when all have left the slot
        if (tid == 0 && filled < count) {
            const int slot = filled % SLOTS, round = filled / SLOTS;
            if (round) wait(&empty[slot], (round & 1) ^ 1);
            expect(&full[slot], FOURS * 16);
            bulk_load(ring + slot * FOURS, x + (size_t)(first + filled) * (FOURS * 4), FOURS * 16, &full[slot]);
            ++filled;
        }
        __syncwarp();
    };
    for (int i = 0; i < SLOTS; ++i) fill();

    float4 sums[EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i) sums[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int slot = 0;
    unsigned parity = 0;
    for (int g = 0; g < count; ++g) {
        wait(&full[slot], parity);
        const float4* here = ring + slot * FOURS;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int p = i * THREADS + tid;
            if (p < FOURS) {
                const float4 v = here[p];
                sums[i].x += v.x;
                sums[i].y += v.y;
                sums[i].z += v.z;
                sums[i].w += v.w;
            }
        }
        __syncwarp();
        if (tid % 32 == 0) arrive(&empty[slot]);
        if (++slot == SLOTS) slot = 0, parity ^= 1;
        if (g + 1 < count) fill();

        if (g + 1 == count || (first + g + 1) % groups == 0) {  // the end of a batch, or of this block's share
            for (int i = tid; i < COLUMNS; i += THREADS) fold[i] = 0.0f;
            __syncthreads();
#pragma unroll 1
            for (int quarter = 0; quarter < 4; ++quarter) {
#pragma unroll
                for (int i = 0; i < EACH; ++i) {
                    const float v[4] = {sums[i].x, sums[i].y, sums[i].z, sums[i].w};
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        const int column = (i * THREADS + tid) * 4 + j - quarter * COLUMNS;
                        if (column >= 0 && column < COLUMNS && i * THREADS + tid < FOURS) fold[column] += v[j];
                    }
                }
                __syncthreads();
            }
            float* to = out + (size_t)((first + g) / groups) * COLUMNS;
            for (int i = tid; i < COLUMNS; i += THREADS) atomicAdd(&to[i], fold[i]);
            __syncthreads();
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
    }
}
