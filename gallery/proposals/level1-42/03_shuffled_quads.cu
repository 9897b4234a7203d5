// Maxima of 4 x 4 with padding 1: a warp takes 128 columns of a strip of ROWS rows, a lane four columns.

// A NaN stays one, as in PyTorch. PTX is "asm"; the CPU shim, which knows none, takes the other branch.
__device__ __forceinline__ float larger(float a, float b) {
#ifdef KERNWRIGHT_ARCH
    return a > b || a != a ? a : b;
#else
    float c;
    PTX("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
#endif
}

struct Quad {
    float x, y, z, w;
};

__device__ __forceinline__ Quad larger(Quad a, Quad b) {
    return {larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z), larger(a.w, b.w)};
}

// For outputs 4 l to 4 l + 3 of a row: the largest of columns 4 l - 1 to 4 l + 2, and so on.
__device__ __forceinline__ Quad across(const float* x, int row, int col, int height, int width, int lane) {
    const float lowest = -INFINITY;
    const unsigned all = 0xffffffffu;
    float4 v = make_float4(lowest, lowest, lowest, lowest);
    float2 edge = make_float2(lowest, lowest);
    if (row >= 0 && row < height) {
        const float* at = x + (size_t)row * width + col;
        v = __ldg(reinterpret_cast<const float4*>(at));
        if (lane == 0 && col > 0) edge = __ldg(reinterpret_cast<const float2*>(at - 2));
        if (lane == 31 && col + 4 < width) edge = __ldg(reinterpret_cast<const float2*>(at + 4));
    }
    float before = __shfl_up_sync(all, v.w, 1), next = __shfl_down_sync(all, v.x, 1), after = __shfl_down_sync(all, v.y, 1);
    if (lane == 0) before = edge.y;
    if (lane == 31) next = edge.x, after = edge.y;
    float a = larger(before, v.x), b = larger(v.x, v.y), c = larger(v.y, v.z), d = larger(v.z, v.w),
          e = larger(v.w, next), f = larger(next, after);
    return {larger(a, c), larger(b, d), larger(c, e), larger(d, f)};
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) pool(const float* __restrict__ x, float* __restrict__ y,
                                                              int height, int width, int strips, int warps) {
    __shared__ __align__(16) float turned[WARPS][128];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = blockIdx.x * WARPS + warp;
    if (mine >= warps) return;
    int parts = width / 128, part = mine % parts, strip = mine / parts % strips;
    size_t plane = mine / parts / strips;
    int first = strip * ROWS, out_height = height - 1, out_width = width - 1, col = part * 128 + lane * 4;
    x += plane * height * width;
    y += plane * out_height * out_width;
    Quad c = across(x, first + 1, col, height, width, lane);
    Quad b = across(x, first, col, height, width, lane);
    Quad ab = larger(across(x, first - 1, col, height, width, lane), b);
    Quad bc = larger(b, c);
    int end = first + ROWS < out_height ? first + ROWS : out_height;
#pragma unroll 4
    for (int row = first; row < end; ++row) {
        Quad d = across(x, row + 2, col, height, width, lane);
        Quad cd = larger(c, d), value = larger(ab, cd);
        *reinterpret_cast<float4*>(&turned[warp][lane * 4]) = make_float4(value.x, value.y, value.z, value.w);
        __syncwarp();
        float* to = y + (size_t)row * out_width + part * 128 + lane;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (part * 128 + lane + 32 * i < out_width) __stcs(to + 32 * i, turned[warp][lane + 32 * i]);
        __syncwarp();
        ab = bc;
        bc = cd;
        c = d;
    }
}
