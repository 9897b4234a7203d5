// Each warp has a ring of rows of its own, filled by bulk copies that its first lane asks for: no warp waits for another.
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
#define FOURS (CLASSES / 128)  // vectors of a lane

__device__ __forceinline__ float top_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }

extern "C" __global__ void __launch_bounds__(WARPS * 32, 1)
    cross_entropy(const float* __restrict__ x, const long long* __restrict__ targets, float* __restrict__ out,
                  float2* parts, unsigned* ticket, int rows) {
    extern __shared__ __align__(128) float4 ring[];
    __shared__ Barrier full[WARPS * DEPTH];
    __shared__ float2 lanes[WARPS];
    __shared__ bool last;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < WARPS * DEPTH; ++i) init(&full[i], 1);
        inits_seen();
    }
    __syncthreads();

    const int step = gridDim.x * WARPS;
    const int first = warp * gridDim.x + blockIdx.x;
    auto fill = [&](int row, int slot) {
        if (lane == 0 && row < rows) {
            Barrier* b = &full[warp * DEPTH + slot];
            expect(b, CLASSES * 4);
            bulk_load(ring + (warp * DEPTH + slot) * (CLASSES / 4), x + (size_t)row * CLASSES, CLASSES * 4, b);
        }
    };
    for (int i = 0; i < DEPTH; ++i) fill(first + i * step, i);

    float total = 0.0f, count = 0.0f;
    int slot = 0;
    unsigned parity = 0;
    for (int row = first; row < rows; row += step) {
        const long long target = __ldg(&targets[row]);
        const float4* here = ring + (warp * DEPTH + slot) * (CLASSES / 4);
        wait(&full[warp * DEPTH + slot], parity);
        float4 v[FOURS];
#pragma unroll
        for (int i = 0; i < FOURS; ++i) v[i] = here[i * 32 + lane];
        const float picked = target == -100 ? 0.0f : reinterpret_cast<const float*>(here)[target];
        __syncwarp();
        fill(row + DEPTH * step, slot);
        if (++slot == DEPTH) slot = 0, parity ^= 1;

        float top = -INFINITY, sum = 0.0f;
#pragma unroll
        for (int i = 0; i < FOURS; ++i) top = fmaxf(top, top_of(v[i]));
#pragma unroll
        for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
#pragma unroll
        for (int i = 0; i < FOURS; ++i)
            sum += (__expf(v[i].x - top) + __expf(v[i].y - top)) + (__expf(v[i].z - top) + __expf(v[i].w - top));
#pragma unroll
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (target != -100) {
            total += logf(sum) - (picked - top);
            count += 1.0f;
        }
    }

    // The block that comes last adds up what all have left, and leaves the ticket as it was.
    if (lane == 0) lanes[warp] = make_float2(total, count);
    __syncthreads();
    if (threadIdx.x == 0) {
        float2 whole = lanes[0];
        for (int i = 1; i < WARPS; ++i) whole.x += lanes[i].x, whole.y += lanes[i].y;
        parts[blockIdx.x] = whole;
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && warp == 0) {
        float2 whole = make_float2(0.0f, 0.0f);
        for (int i = lane; i < gridDim.x; i += 32) {
            float2 part = __ldcg(&parts[i]);
            whole.x += part.x;
            whole.y += part.y;
        }
#pragma unroll
        for (int d = 16; d; d /= 2) {
            whole.x += __shfl_xor_sync(0xffffffffu, whole.x, d);
            whole.y += __shfl_xor_sync(0xffffffffu, whole.y, d);
        }
        if (lane == 0) {
            *out = whole.x / whole.y;
            *ticket = 0;
        }
    }
}
