extern __shared__ __align__(16) float row_sum[];  // the row of x + residual

__device__ __forceinline__ float over_block(float mine) {
    __shared__ float partial[32];
#pragma unroll
    for (int step = 16; step; step /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
    __syncthreads();
    // Every warp adds the partial sums itself: one barrier instead of two.
    float all = threadIdx.x % 32 < BLOCK / 32 ? partial[threadIdx.x % 32] : 0.0f;
#pragma unroll
    for (int step = 16; step; step /= 2) all += __shfl_xor_sync(0xffffffffu, all, step);
    return all;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rmsnorm_vectors(const float* __restrict__ x, const float* __restrict__ residual, const float* __restrict__ weight,
                    float* __restrict__ y, float* __restrict__ total, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    const float4* a = reinterpret_cast<const float4*>(x + start);
    const float4* b = reinterpret_cast<const float4*>(residual + start);
    const float4* w = reinterpret_cast<const float4*>(weight);
    float4* t = reinterpret_cast<float4*>(total + start);
    float4* to = reinterpret_cast<float4*>(y + start);
    float4* kept = reinterpret_cast<float4*>(row_sum);
    float squares = 0.0f;
    for (int i = threadIdx.x; i < cols / 4; i += BLOCK) {
        float4 p = a[i], q = b[i];
        float4 s = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
        t[i] = s;
        kept[i] = s;
        squares += s.x * s.x + s.y * s.y + s.z * s.z + s.w * s.w;
    }
    float scale = rsqrtf(over_block(squares) / cols + 1e-6f);
    for (int i = threadIdx.x; i < cols / 4; i += BLOCK) {  // a thread reads back only what it wrote itself
        float4 s = kept[i], g = w[i];
        to[i] = make_float4(s.x * scale * g.x, s.y * scale * g.y, s.z * scale * g.z, s.w * scale * g.w);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    rmsnorm_scalars(const float* __restrict__ x, const float* __restrict__ residual, const float* __restrict__ weight,
                    float* __restrict__ y, float* __restrict__ total, int cols) {
    size_t start = (size_t)blockIdx.x * cols;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += BLOCK) {
        float s = x[start + i] + residual[start + i];
        total[start + i] = s;
        row_sum[i] = s;
        squares += s * s;
    }
    float scale = rsqrtf(over_block(squares) / cols + 1e-6f);
    for (int i = threadIdx.x; i < cols; i += BLOCK) y[start + i] = row_sum[i] * scale * weight[i];
}
