// All blocks sweep the memory together: neighbours in time are neighbours in memory; a group of four rows is one copy.
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
    // SHARERS blocks take turns at the groups of a batch; gridDim.x / SHARERS batches are under way at a time.
    const int rank = blockIdx.x % SHARERS, first = blockIdx.x / SHARERS, step = gridDim.x / SHARERS;
    const int each = groups / SHARERS, count = first < batches ? (batches - first + step - 1) / step * each : 0;
    auto place_of = [&](int g) {
        return ((size_t)(g / each) * step + first) * groups + g % each * SHARERS + rank;
    };
    int filled = 0;
    auto fill = [&]() {  // the first thread asks, when all have left the slot
        if (tid == 0 && filled < count) {
            const int slot = filled % SLOTS, round = filled / SLOTS;
            if (round) wait(&empty[slot], (round & 1) ^ 1);
            expect(&full[slot], FOURS * 16);
            bulk_load<LEAVES>(ring + slot * FOURS, x + place_of(filled) * (FOURS * 4), FOURS * 16, &full[slot]);
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

        if ((g + 1) % each == 0) {  // the end of a batch
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
            float* to = out + ((size_t)(g / each) * step + first) * COLUMNS;
            for (int i = tid; i < COLUMNS; i += THREADS) atomicAdd(&to[i], fold[i]);
            __syncthreads();
#pragma unroll
            for (int i = 0; i < EACH; ++i) sums[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
    }
}
