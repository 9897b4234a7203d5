// A block has one input channel of a group of samples; a group's last block adds up what all channels gave.
constexpr int WARPS = THREADS / 32;

__device__ __forceinline__ float over_warp(float v) {
#pragma unroll
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

// Counters, one a group, are zero between calls.
extern "C" __global__ void __launch_bounds__(THREADS) pooled(
    const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
    const float* __restrict__ gamma, const float* __restrict__ beta, const float* __restrict__ mean,
    const float* __restrict__ variance, float* partial, unsigned* counters, float* __restrict__ y, int n, int c_in,
    int c_out, int length, int taps, float count, float scale, float eps) {
    __shared__ float of_warps[EACH][WARPS], of_x[EACH];
    __shared__ bool last;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, ci = blockIdx.x % c_in, group = blockIdx.x / c_in;
    int first = group * EACH, many = min(EACH, n - first), quads = length / 4;
    float sum[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        float a = 0, b = 0, c = 0, d = 0;
        if (k < many) {
            const float4* from = reinterpret_cast<const float4*>(x + ((size_t)(first + k) * c_in + ci) * length);
#pragma unroll 8
            for (int i = threadIdx.x; i < quads; i += THREADS) {
                float4 v = __ldcs(from + i);
                a += v.x, b += v.y, c += v.z, d += v.w;
            }
        }
        sum[k] = over_warp((a + b) + (c + d));
    }
    if (lane == 0)
        for (int k = 0; k < EACH; ++k) of_warps[k][warp] = sum[k];
    __syncthreads();
    if (threadIdx.x < EACH) {
        float total = 0;
        for (int i = 0; i < WARPS; ++i) total += of_warps[threadIdx.x][i];
        of_x[threadIdx.x] = total;
    }
    __syncthreads();
    for (int co = warp; co < c_out; co += WARPS) {
        float total = 0;
        for (int tap = lane; tap < taps; tap += 32) total += weight[((size_t)ci * c_out + co) * taps + tap];
        total = over_warp(total);
        if (lane < many) __stcg(partial + ((size_t)ci * n + first + lane) * c_out + co, total * of_x[lane]);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counters + group, 1u) == c_in - 1;
        if (last) counters[group] = 0;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < many * c_out; i += THREADS) {
        int co = i % c_out, sample = first + i / c_out;
        float total = 0;
#pragma unroll 16
        for (int k = 0; k < c_in; ++k) total += __ldcg(partial + ((size_t)k * n + sample) * c_out + co);
        float factor = gamma[co] / sqrtf(variance[co] + eps), shift = bias ? bias[co] : 0.0f;
        y[sample * c_out + co] = ((total / count + shift) * scale - mean[co]) * factor + beta[co];
    }
}
