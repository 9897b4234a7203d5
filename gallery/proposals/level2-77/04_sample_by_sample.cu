// Means over a transposed convolution from sums of its input and its weights; each sample's last block ends that sample.
constexpr int WARPS = THREADS / 32;

__device__ __forceinline__ float over_warp(float v) {
#pragma unroll
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// Counters: blocks of weights that are done, samples that are done, blocks of each sample; all are zero between calls.
extern "C" __global__ void __launch_bounds__(THREADS) pooled(
    const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
    const float* __restrict__ gamma, const float* __restrict__ beta, const float* __restrict__ mean,
    const float* __restrict__ variance, float* sums, unsigned* counters, float* __restrict__ y, int n, int c_in, int c_out,
    int length, int taps, int weight_blocks, float count, float scale, float eps) {
    extern __shared__ float of_x[];  // c_in, then THREADS
    __shared__ float totals[WARPS];
    __shared__ bool last;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float* w_sums = sums + n * c_in * SPLIT;

    if (blockIdx.x < weight_blocks) {
        // A warp a filter, four at a time.
        int filters = c_in * c_out, all = weight_blocks * WARPS;
        for (int i = blockIdx.x * WARPS + warp; i < filters; i += 4 * all) {
            float sum[4] = {};
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (i + k * all < filters)
                    for (int tap = lane; tap < taps; tap += 32) sum[k] += __ldcs(weight + (size_t)(i + k * all) * taps + tap);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                sum[k] = over_warp(sum[k]);
                if (lane == 0 && i + k * all < filters) __stcg(w_sums + i + k * all, sum[k]);
            }
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(counters, 1u);
        return;
    }

    int mine = blockIdx.x - weight_blocks, row = mine / SPLIT, part = mine % SPLIT, sample = row / c_in, quads = length / 4;
    int share = (quads + SPLIT - 1) / SPLIT, end = min(quads, (part + 1) * share);
    const float4* from = reinterpret_cast<const float4*>(x + (size_t)row * length);
    float a = 0, b = 0, c = 0, d = 0;
#pragma unroll 8
    for (int i = part * share + threadIdx.x; i < end; i += THREADS) {
        float4 v = __ldcs(from + i);
        a += v.x, b += v.y, c += v.z, d += v.w;
    }
    float total = over_warp((a + b) + (c + d));
    if (lane == 0) totals[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < WARPS; ++i) sum += totals[i];
        __stcg(sums + mine, sum);
        __threadfence();
        last = atomicAdd(counters + 2 + sample, 1u) == c_in * SPLIT - 1;
        if (last) {
            counters[2 + sample] = 0;
            while (*(volatile unsigned*)counters < weight_blocks) {
            }
            __threadfence();
        }
    }
    __syncthreads();
    if (!last) return;

    for (int i = threadIdx.x; i < c_in; i += THREADS) {
        float sum = 0;
        for (int k = 0; k < SPLIT; ++k) sum += __ldcg(sums + (sample * c_in + i) * SPLIT + k);
        of_x[i] = sum;
    }
    __syncthreads();
    // Some threads share the input channels of an output channel.
    float* halves = of_x + c_in;
    int wide = min(c_out, THREADS), shares = THREADS / wide, mine_of = threadIdx.x / wide;
    for (int base = 0; base < c_out; base += wide) {
        int co = base + threadIdx.x % wide;
        float sum = 0;
        if (co < c_out && mine_of < shares) {
#pragma unroll 16
            for (int ci = mine_of; ci < c_in; ci += shares) sum += __ldcg(w_sums + ci * c_out + co) * of_x[ci];
        }
        halves[threadIdx.x] = sum;
        __syncthreads();
        if (mine_of == 0 && co < c_out) {
            for (int k = 1; k < shares; ++k) sum += halves[k * wide + threadIdx.x];
            float factor = gamma[co] / sqrtf(variance[co] + eps), shift = bias ? bias[co] : 0.0f;
            y[sample * c_out + co] = ((sum / count + shift) * scale - mean[co]) * factor + beta[co];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0 && atomicAdd(counters + 1, 1u) == n - 1) {
        counters[1] = 0;
        counters[0] = 0;  // all samples have seen it
    }
}
