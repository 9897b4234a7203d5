// Means over a transposed convolution from sums of its input and its weights; the input comes by bulk copies.
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

// A warp takes pieces of its own: 4 KiB each, RING of them under way, no other warp to wait for.
extern "C" __global__ void __launch_bounds__(THREADS) sums(const float* __restrict__ x, const float* __restrict__ weight,
                                                           float* of_pieces, float* w_sums, int pieces, int filters,
                                                           int taps) {
    extern __shared__ __align__(128) float4 memory[];
    __shared__ Barrier full[THREADS / 32][RING];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = blockIdx.x * (THREADS / 32) + warp, all = gridDim.x * (THREADS / 32);
    float4* ring = memory + warp * RING * (PIECE / 4);
    if (lane == 0) {
        for (int i = 0; i < RING; ++i) init(&full[warp][i], 1);
        inits_seen();
        for (int i = 0; i < RING; ++i)
            if (first + i * all < pieces) {
                expect(&full[warp][i], PIECE * 4);
                bulk_load(ring + i * (PIECE / 4), x + (size_t)(first + i * all) * PIECE, PIECE * 4, &full[warp][i]);
            }
    }
    __syncwarp();
    // Weights while the first pieces come.
    for (int i = first; i < filters; i += all) {
        float sum = 0;
        for (int tap = lane; tap < taps; tap += 32) sum += weight[(size_t)i * taps + tap];
        sum = over_warp(sum);
        if (lane == 0) w_sums[i] = sum;
    }
    int slot = 0;
    unsigned parity = 0;
    for (int piece = first; piece < pieces; piece += all) {
        wait(&full[warp][slot], parity);
        float a = 0, b = 0, c = 0, d = 0;
#pragma unroll
        for (int i = 0; i < PIECE / 128; ++i) {
            float4 v = ring[slot * (PIECE / 4) + i * 32 + lane];
            a += v.x, b += v.y, c += v.z, d += v.w;
        }
        __syncwarp();
        if (lane == 0 && piece + RING * all < pieces) {
            expect(&full[warp][slot], PIECE * 4);
            bulk_load(ring + slot * (PIECE / 4), x + (size_t)(piece + RING * all) * PIECE, PIECE * 4, &full[warp][slot]);
        }
        float total = over_warp((a + b) + (c + d));
        if (lane == 0) of_pieces[piece] = total;
        if (++slot == RING) slot = 0, parity ^= 1;
    }
}

// A block a sample: sums of its pieces, then a thread an output channel.
extern "C" __global__ void __launch_bounds__(THREADS) finish(
    const float* __restrict__ of_pieces, const float* __restrict__ w_sums, const float* __restrict__ bias,
    const float* __restrict__ gamma, const float* __restrict__ beta, const float* __restrict__ mean,
    const float* __restrict__ variance, float* __restrict__ y, int each, int c_in, int c_out, float count, float scale,
    float eps) {
    extern __shared__ __align__(128) float of_x[];
    for (int i = threadIdx.x; i < c_in; i += THREADS) {
        float sum = 0;
        for (int k = 0; k < each; ++k) sum += of_pieces[((size_t)blockIdx.x * c_in + i) * each + k];
        of_x[i] = sum;
    }
    __syncthreads();
    for (int co = threadIdx.x; co < c_out; co += THREADS) {
        float sum = 0;
#pragma unroll 8
        for (int ci = 0; ci < c_in; ++ci) sum += w_sums[ci * c_out + co] * of_x[ci];
        float factor = gamma[co] / sqrtf(variance[co] + eps), shift = bias ? bias[co] : 0.0f;
        y[blockIdx.x * c_out + co] = ((sum / count + shift) * scale - mean[co]) * factor + beta[co];
    }
}
