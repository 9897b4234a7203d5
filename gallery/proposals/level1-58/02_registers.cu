// Transposed convolution, kernel 3 x 5 x 7, stride 1, no padding, 16 filters, rows of 64; a thread has 10 x 16 outputs.
constexpr int KD = 3, KH = 5, KW = 7, OUT = 16, WIDTH = 64, EACH = 10, GROUPS = 7, THREADS = (GROUPS * ROWS + 31) / 32 * 32;
constexpr int OUT_WIDTH = WIDTH + KW - 1, LINE = WIDTH + 2 * (KW - 1), LINES = ROWS + KH - 1;
static_assert(OUT_WIDTH == EACH * GROUPS, "groups fill a row");

extern "C" __global__ void __launch_bounds__(THREADS) direct(const float* __restrict__ x,
                                                             const float* __restrict__ weight,
                                                             const float* __restrict__ bias, float* __restrict__ y,
                                                             int channels, int depth, int height, int bands) {
    __shared__ __align__(16) float lines[CHANNELS][LINES][LINE];
    __shared__ __align__(16) float taps[CHANNELS][KH * KW][OUT];
    int out_depth = depth + KD - 1, out_height = height + KH - 1;
    int band = blockIdx.x % bands, d = blockIdx.x / bands % out_depth, n = blockIdx.x / bands / out_depth;
    int first = band * ROWS, row = threadIdx.x / GROUPS, group = threadIdx.x % GROUPS;
    bool works = row < ROWS;
    if (!works) row = 0;

    float sum[OUT][EACH];
#pragma unroll
    for (int f = 0; f < OUT; ++f) {
        float start = bias ? bias[f] : 0.0f;
#pragma unroll
        for (int p = 0; p < EACH; ++p) sum[f][p] = start;
    }
    for (int kd = max(0, d - depth + 1); kd <= min(KD - 1, d); ++kd) {
        for (int base = 0; base < channels; base += CHANNELS) {
            __syncthreads();
            for (int i = threadIdx.x; i < CHANNELS * LINES * LINE; i += THREADS) {
                int col = i % LINE - (KW - 1), line = i / LINE % LINES, channel = i / (LINE * LINES);
                int h = first - (KH - 1) + line;
                float v = 0;
                if (col >= 0 && col < WIDTH && h >= 0 && h < height)
                    v = __ldg(x + (((n * channels + base + channel) * depth + d - kd) * height + h) * WIDTH + col);
                (&lines[0][0][0])[i] = v;
            }
            for (int i = threadIdx.x; i < CHANNELS * OUT * KH * KW; i += THREADS) {
                int tap = i % (KH * KW), filter = i / (KH * KW) % OUT, channel = i / (KH * KW * OUT);
                taps[channel][tap][filter] =
                    __ldg(weight + (((base + channel) * OUT + filter) * KD + kd) * (KH * KW) + tap);
            }
            __syncthreads();
#pragma unroll 1
            for (int step = 0; step < CHANNELS * KH; ++step) {
                int channel = step / KH, kh = step % KH;
                const float* at = &lines[channel][row + KH - 1 - kh][group * EACH];
                float v[EACH + KW - 1];
#pragma unroll
                for (int i = 0; i < EACH + KW - 1; i += 2) {
                    float2 two = *reinterpret_cast<const float2*>(at + i);
                    v[i] = two.x, v[i + 1] = two.y;
                }
#pragma unroll
                for (int kw = 0; kw < KW; ++kw)
#pragma unroll
                    for (int quad = 0; quad < OUT / 4; ++quad) {
                        float4 w = *reinterpret_cast<const float4*>(&taps[channel][kh * KW + kw][quad * 4]);
#pragma unroll
                        for (int p = 0; p < EACH; ++p) {
                            float value = v[p + KW - 1 - kw];
                            sum[quad * 4][p] += w.x * value;
                            sum[quad * 4 + 1][p] += w.y * value;
                            sum[quad * 4 + 2][p] += w.z * value;
                            sum[quad * 4 + 3][p] += w.w * value;
                        }
                    }
            }
        }
    }
    if (!works || first + row >= out_height) return;
#pragma unroll
    for (int f = 0; f < OUT; ++f) {
        float* to = y + (((size_t)(n * OUT + f) * out_depth + d) * out_height + first + row) * OUT_WIDTH + group * EACH;
#pragma unroll
        for (int p = 0; p < EACH; p += 2) *reinterpret_cast<float2*>(to + p) = make_float2(sum[f][p], sum[f][p + 1]);
    }
}
