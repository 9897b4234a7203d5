// Depthwise 3 x 3 without padding: a warp takes 128 columns of a strip of ROWS rows, a lane four columns.

// Columns 4 l to 4 l + 5 of a row.
struct Span {
    float v[6];
};

__device__ __forceinline__ Span span(const float* x, int row, int col, int height, int width, int lane) {
    const unsigned all = 0xffffffffu;
    float4 v = make_float4(0, 0, 0, 0);
    float2 edge = make_float2(0, 0);
    if (row < height) {
        const float* at = x + (size_t)row * width + col;
        v = __ldg(reinterpret_cast<const float4*>(at));
        if (lane == 31 && col + 4 < width) edge = __ldg(reinterpret_cast<const float2*>(at + 4));
    }
    float next = __shfl_down_sync(all, v.x, 1), after = __shfl_down_sync(all, v.y, 1);
    if (lane == 31) next = edge.x, after = edge.y;
    return {{v.x, v.y, v.z, v.w, next, after}};
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) depthwise(const float* __restrict__ x,
                                                                   const float* __restrict__ weight,
                                                                   const float* __restrict__ bias,
                                                                   float* __restrict__ y, int channels, int height,
                                                                   int width, int strips, int warps) {
    __shared__ __align__(16) float turned[WARPS][128];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = blockIdx.x * WARPS + warp;
    if (mine >= warps) return;
    int parts = width / 128, part = mine % parts, strip = mine / parts % strips;
    size_t plane = mine / parts / strips;
    int channel = int(plane % channels);
    int first = strip * ROWS, out_height = height - 2, out_width = width - 2, col = part * 128 + lane * 4;
    x += plane * height * width;
    y += plane * out_height * out_width;
    float w[9], shift = bias ? bias[channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < 9; ++i) w[i] = weight[channel * 9 + i];
    float here[4], next[4];
    Span s = span(x, first, col, height, width, lane);
#pragma unroll
    for (int i = 0; i < 4; ++i) here[i] = shift + s.v[i] * w[0] + s.v[i + 1] * w[1] + s.v[i + 2] * w[2];
    s = span(x, first + 1, col, height, width, lane);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        here[i] += s.v[i] * w[3] + s.v[i + 1] * w[4] + s.v[i + 2] * w[5];
        next[i] = shift + s.v[i] * w[0] + s.v[i + 1] * w[1] + s.v[i + 2] * w[2];
    }
    int end = first + ROWS < out_height ? first + ROWS : out_height;
#pragma unroll 4
    for (int row = first; row < end; ++row) {
        s = span(x, row + 2, col, height, width, lane);
        float value[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            value[i] = here[i] + (s.v[i] * w[6] + s.v[i + 1] * w[7] + s.v[i + 2] * w[8]);
            here[i] = next[i] + (s.v[i] * w[3] + s.v[i + 1] * w[4] + s.v[i + 2] * w[5]);
            next[i] = shift + s.v[i] * w[0] + s.v[i + 1] * w[1] + s.v[i + 2] * w[2];
        }
        *reinterpret_cast<float4*>(&turned[warp][lane * 4]) = make_float4(value[0], value[1], value[2], value[3]);
        __syncwarp();
        float* to = y + (size_t)row * out_width + part * 128 + lane;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (part * 128 + lane + 32 * i < out_width) __stcs(to + 32 * i, turned[warp][lane + 32 * i]);
        __syncwarp();
    }
}
