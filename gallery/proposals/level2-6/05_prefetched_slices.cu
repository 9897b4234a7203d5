// With the next slice of x on its way: convolution 3 -> 16 channels, 3 x 3 x 3, softmax over channels, maximum over 4 x 4 x 4; eight threads a window.
constexpr int IN = 3, OUT = 16, TAPS = IN * 27;

// A NaN stays one, as in PyTorch.
__device__ __forceinline__ float larger(float a, float b) { return a > b || a != a ? a : b; }

extern "C" __global__ void __launch_bounds__(THREADS, 320 / THREADS) fused(const float* __restrict__ x, const float* __restrict__ weight,
                                                            const float* __restrict__ bias, float* __restrict__ y,
                                                            int windows, int depth, int height, int width, int pd, int ph,
                                                            int pw) {
    __shared__ __align__(16) float w[TAPS][OUT];
    __shared__ float shift[OUT];
    for (int i = threadIdx.x; i < TAPS * OUT; i += THREADS) w[i % TAPS][i / TAPS] = weight[i];
    for (int i = threadIdx.x; i < OUT; i += THREADS) shift[i] = bias[i];
    __syncthreads();
    int mine = blockIdx.x * THREADS + threadIdx.x, window = mine / 8, part = mine % 8;
    bool there = window < windows;
    if (!there) window = windows - 1;
    int pooled = pd * ph * pw, n = window / pooled, place = window % pooled;
    int wd = place / (ph * pw), wh = place / pw % ph, ww = place % pw;
    int area = height * width, plane = depth * area;
    const float* from = x + (size_t)n * IN * plane + (4 * wd + part / 2) * area + (4 * wh + part % 2 * 2) * width + 4 * ww;

    float sum[8][OUT];
#pragma unroll
    for (int c = 0; c < OUT; ++c)
#pragma unroll
        for (int p = 0; p < 8; ++p) sum[p][c] = shift[c];
    float v[4][6], next[4][6];
    auto fetch = [&](int slice, float (&to)[4][6]) {
        const float* at = from + slice / 3 * plane + slice % 3 * area;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            float4 four = __ldg(reinterpret_cast<const float4*>(at + r * width));
            float2 two = __ldg(reinterpret_cast<const float2*>(at + r * width + 4));
            to[r][0] = four.x, to[r][1] = four.y, to[r][2] = four.z, to[r][3] = four.w, to[r][4] = two.x, to[r][5] = two.y;
        }
    };
    fetch(0, next);
#pragma unroll 1
    for (int slice = 0; slice < IN * 3; ++slice) {
#pragma unroll
        for (int i = 0; i < 24; ++i) v[i / 6][i % 6] = next[i / 6][i % 6];
        fetch(min(slice + 1, IN * 3 - 1), next);
        const float* taps = w[slice * 9];
#pragma unroll
        for (int tap = 0; tap < 9; ++tap)
#pragma unroll
            for (int quad = 0; quad < OUT / 4; ++quad) {
                float4 f = *reinterpret_cast<const float4*>(taps + tap * OUT + quad * 4);
#pragma unroll
                for (int p = 0; p < 8; ++p) {
                    float value = v[p / 4 + tap / 3][p % 4 + tap % 3];
                    sum[p][quad * 4] += value * f.x;
                    sum[p][quad * 4 + 1] += value * f.y;
                    sum[p][quad * 4 + 2] += value * f.z;
                    sum[p][quad * 4 + 3] += value * f.w;
                }
            }
    }
    float best[OUT];
#pragma unroll
    for (int p = 0; p < 8; ++p) {
        float most = sum[p][0], total = 0;
#pragma unroll
        for (int c = 1; c < OUT; ++c) most = larger(most, sum[p][c]);
#pragma unroll
        for (int c = 0; c < OUT; ++c) total += sum[p][c] = __expf(sum[p][c] - most);
        float scale = 1.0f / total;
#pragma unroll
        for (int c = 0; c < OUT; ++c) best[c] = p ? larger(best[c], sum[p][c] * scale) : sum[p][c] * scale;
    }
#pragma unroll
    for (int step = 1; step < 8; step *= 2)
#pragma unroll
        for (int c = 0; c < OUT; ++c) best[c] = larger(best[c], __shfl_xor_sync(0xffffffffu, best[c], step));
    if (!there) return;
    float* to = y + (size_t)n * OUT * pooled + place;
#pragma unroll
    for (int c = 0; c < OUT; ++c)
        if (c % 8 == part) to[(size_t)c * pooled] = best[c];
}
