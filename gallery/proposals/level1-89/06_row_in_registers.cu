// A row is in registers, scanned at once; the next one comes into shared memory by bulk copies. REVERSE: places are counted from a row's end, and quads are turned.
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
#define EACH (CHUNK / 4 / THREADS)       // quads of a thread in a chunk
#define CHUNKS (COLUMNS / CHUNK)
#define QUADS (EACH * CHUNKS)            // quads of a thread in a row
#define OWN (QUADS * WARPS / 32)         // totals of warps that a lane adds up

__device__ __forceinline__ float4 turned(float4 v) { return REVERSE ? make_float4(v.w, v.z, v.y, v.x) : v; }

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    scan_rows(const float* __restrict__ x, float* __restrict__ y, int rows) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[SLOTS];
    __shared__ float totals[2][QUADS * WARPS];
    const unsigned lanes = 0xffffffffu;
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) init(&full[i], 1);
        inits_seen();
    }
    __syncthreads();
    const int own_rows = blockIdx.x < rows ? (rows - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
    int filled = 0, fill_slot = 0;
    auto fill = [&](int count) {  // the first thread asks for chunks, whose slots all have left
        if (tid == 0)
            for (int i = 0; i < count && filled < own_rows * CHUNKS; ++i, ++filled) {
                const int c = filled % CHUNKS;
                const size_t row = blockIdx.x + (size_t)(filled / CHUNKS) * gridDim.x;
                expect(&full[fill_slot], CHUNK * 4);
                bulk_load<LEAVES>(ring + fill_slot * (CHUNK / 4),
                                  x + row * COLUMNS + (REVERSE ? COLUMNS - CHUNK - c * CHUNK : c * CHUNK), CHUNK * 4,
                                  &full[fill_slot]);
                if (++fill_slot == SLOTS) fill_slot = 0;
            }
        __syncwarp();
    };
    fill(SLOTS);
    int slot = 0, buffer = 0;
    unsigned parity = 0;
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x, buffer ^= 1) {
        float4 v[QUADS];
        float sum[QUADS];
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            wait(&full[slot], parity);
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                const int q = i * THREADS + tid;
                v[c * EACH + i] = turned(ring[slot * (CHUNK / 4) + (REVERSE ? CHUNK / 4 - 1 - q : q)]);
            }
            if (++slot == SLOTS) slot = 0, parity ^= 1;
        }
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            v[k].y += v[k].x;
            v[k].z += v[k].y;
            v[k].w += v[k].z;
            sum[k] = v[k].w;
        }
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
#pragma unroll
            for (int k = 0; k < QUADS; ++k) {
                float other = __shfl_up_sync(lanes, sum[k], step);
                if (lane >= step) sum[k] += other;
            }
        }
        if (lane == 31)
#pragma unroll
            for (int k = 0; k < QUADS; ++k) totals[buffer][k * WARPS + warp] = sum[k];
        __syncthreads();
        fill(CHUNKS);
        // Each lane takes OWN totals in a row; of those the sum before this warp's place, and of all that of lanes before.
        float part = 0.0f, inside = 0.0f;
#pragma unroll
        for (int i = 0; i < OWN; ++i) {
            if (i == warp % OWN) inside = part;
            part += totals[buffer][lane * OWN + i];
        }
        float before = part;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            float other = __shfl_up_sync(lanes, before, step);
            if (lane >= step) before += other;
        }
        before = __shfl_up_sync(lanes, before, 1);
        inside += lane ? before : 0.0f;
        float* to = y + row * COLUMNS;
#pragma unroll
        for (int k = 0; k < QUADS; ++k) {
            float add = __shfl_sync(lanes, inside, (k * WARPS + warp) / OWN);
            float left = __shfl_up_sync(lanes, sum[k], 1);
            if (lane) add += left;
            const int at = 4 * (k * THREADS + tid);
            float4 result = make_float4(v[k].x + add, v[k].y + add, v[k].z + add, v[k].w + add);
            *reinterpret_cast<float4*>(to + (REVERSE ? COLUMNS - 4 - at : at)) = turned(result);
        }
    }
}
