// Winograd F(4, 3) along rows, four channels a thread.
// Convolution 3 -> 16 channels, 3 x 3 x 3, softmax over channels, maximum over 4 x 4 x 4.
constexpr int IN = 3, OUT = 16, ROWS = 4, MINE = 4, SHARES = OUT / MINE, SETS = 6, PER = 4 * (4 / ROWS) * SHARES;

// A NaN stays one, as in PyTorch.
__device__ __forceinline__ float larger(float a, float b) { return a > b || a != a ? a : b; }

// PER threads a window: a share of the channels, then of the rows, then a depth.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) fused(const float* __restrict__ x,
                                                                    const float* __restrict__ weight,
                                                                    const float* __restrict__ bias, float* __restrict__ y,
                                                                    int windows, int depth, int height, int width, int pd,
                                                                    int ph, int pw) {
    __shared__ __align__(16) float w[9][3][SETS][OUT];  // slice (channel, depth tap), row tap, what columns became
    for (int i = threadIdx.x; i < 27 * OUT; i += THREADS) {
        int filter = i / 27, line = i % 27;
        const float* g = weight + i * 3;
        float* to = &w[line / 3][line % 3][0][filter];
        to[0] = 0.25f * g[0], to[5 * OUT] = g[2];
        to[OUT] = -(g[0] + g[1] + g[2]) / 6.0f, to[2 * OUT] = -(g[0] - g[1] + g[2]) / 6.0f;
        to[3 * OUT] = (g[0] + 2.0f * g[1] + 4.0f * g[2]) / 24.0f, to[4 * OUT] = (g[0] - 2.0f * g[1] + 4.0f * g[2]) / 24.0f;
    }
    __syncthreads();
    int mine = blockIdx.x * THREADS + threadIdx.x, window = mine / PER, part = mine % PER;
    bool there = window < windows;
    if (!there) window = windows - 1;
    int pooled = pd * ph * pw, n = window / pooled, place = window % pooled;
    int wd = place / (ph * pw), wh = place / pw % ph, ww = place % pw;
    int share = part % SHARES, row = part / SHARES % (4 / ROWS) * ROWS, slice_of = part / SHARES / (4 / ROWS);
    int area = height * width, plane = depth * area;
    const float* from = x + (size_t)n * IN * plane + (4 * wd + slice_of) * area + (4 * wh + row) * width + 4 * ww;

    float sum[ROWS][6][MINE] = {};
    float v[ROWS + 2][6], next[ROWS + 2][6];
    auto fetch = [&](int slice, float (&to)[ROWS + 2][6]) {
        const float* at = from + slice / 3 * plane + slice % 3 * area;
#pragma unroll
        for (int r = 0; r < ROWS + 2; ++r) {
            float4 four = __ldg(reinterpret_cast<const float4*>(at + r * width));
            float2 two = __ldg(reinterpret_cast<const float2*>(at + r * width + 4));
            to[r][0] = four.x, to[r][1] = four.y, to[r][2] = four.z, to[r][3] = four.w, to[r][4] = two.x, to[r][5] = two.y;
        }
    };
    fetch(0, next);
#pragma unroll 1
    for (int slice = 0; slice < IN * 3; ++slice) {
#pragma unroll
        for (int i = 0; i < 6 * (ROWS + 2); ++i) v[i / 6][i % 6] = next[i / 6][i % 6];
        fetch(min(slice + 1, IN * 3 - 1), next);
        float t[ROWS + 2][6];
#pragma unroll
        for (int r = 0; r < ROWS + 2; ++r) {
            const float* d = v[r];
            // Four outputs from six inputs.
            float a = d[4] - 4.0f * d[2], b = d[3] - 4.0f * d[1], e = d[4] - d[2], f = 2.0f * (d[3] - d[1]);
            t[r][0] = 4.0f * d[0] - 5.0f * d[2] + d[4], t[r][5] = 4.0f * d[1] - 5.0f * d[3] + d[5];
            t[r][1] = a + b, t[r][2] = a - b, t[r][3] = e + f, t[r][4] = e - f;
        }
#pragma unroll
        for (int kh = 0; kh < 3; ++kh)
#pragma unroll
            for (int set = 0; set < SETS; ++set)
#pragma unroll
                for (int quad = 0; quad < MINE / 4; ++quad) {
                    float4 f = *reinterpret_cast<const float4*>(&w[slice][kh][set][share * MINE + quad * 4]);
#pragma unroll
                    for (int r = 0; r < ROWS; ++r)
#pragma unroll
                        for (int p = set; p < 6; p += SETS) {
                            float value = t[r + kh][p];
                            sum[r][p][quad * 4] += value * f.x;
                            sum[r][p][quad * 4 + 1] += value * f.y;
                            sum[r][p][quad * 4 + 2] += value * f.z;
                            sum[r][p][quad * 4 + 3] += value * f.w;
                        }
                }
    }
    float best[MINE], shift[MINE];
#pragma unroll
    for (int c = 0; c < MINE; ++c) shift[c] = bias[share * MINE + c];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        float value[4][MINE];
#pragma unroll
        for (int c = 0; c < MINE; ++c) {
            float m[6];
            for (int p = 0; p < 6; ++p) m[p] = sum[r][p][c];
            float a = m[1] + m[2], b = m[1] - m[2], d = m[3] + m[4], e = m[3] - m[4];
            value[0][c] = m[0] + a + d + shift[c], value[1][c] = b + 2.0f * e + shift[c];
            value[2][c] = a + 4.0f * d + shift[c], value[3][c] = b + 8.0f * e + m[5] + shift[c];
        }
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            float most = value[p][0], total = 0;
#pragma unroll
            for (int c = 1; c < MINE; ++c) most = larger(most, value[p][c]);
#pragma unroll
            for (int step = 1; step < SHARES; step *= 2) most = larger(most, __shfl_xor_sync(0xffffffffu, most, step));
#pragma unroll
            for (int c = 0; c < MINE; ++c) total += value[p][c] = __expf(value[p][c] - most);
#pragma unroll
            for (int step = 1; step < SHARES; step *= 2) total += __shfl_xor_sync(0xffffffffu, total, step);
            float scale = 1.0f / total;
#pragma unroll
            for (int c = 0; c < MINE; ++c)
                best[c] = r + p ? larger(best[c], value[p][c] * scale) : value[p][c] * scale;
        }
    }
#pragma unroll
    for (int step = SHARES; step < PER; step *= 2)
#pragma unroll
        for (int c = 0; c < MINE; ++c) best[c] = larger(best[c], __shfl_xor_sync(0xffffffffu, best[c], step));
    if (!there || part >= SHARES) return;
    float* to = y + ((size_t)n * OUT + share * MINE) * pooled + place;
#pragma unroll
    for (int c = 0; c < MINE; ++c) to[(size_t)c * pooled] = best[c];
}
