// Convolution 3 -> 16 channels, 3 x 3 x 3, softmax, maximum over 4 x 4 x 4: a task is a row of windows, rows of 32.
#include <cuda_fp16.h>

constexpr int IN = 3, OUT = 16, WIDTH = 32, PLACES = 36, THREADS = 128;
typedef __half Region[6][6][PLACES][4];  // four halves a place: three channels and a zero

// PTX is "asm"; the CPU shim, which knows none, takes the other branches.
#ifdef KERNWRIGHT_ARCH
__shared__ unsigned lane_has[4][32][6];
#endif

// c (16 x 8) += a (16 x 16) b (16 x 8)
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#ifdef KERNWRIGHT_ARCH
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 4; ++i) lane_has[warp][lane][i] = a[i];
    lane_has[warp][lane][4] = b0, lane_has[warp][lane][5] = b1;
    __syncwarp();
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k) {
            int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2, pair = k % 8 / 2, high = k / 8;
            unsigned u = lane_has[warp][row % 8 * 4 + pair][row / 8 + 2 * high], v = lane_has[warp][col * 4 + pair][4 + high];
            __half2 p = reinterpret_cast<__half2&>(u), q = reinterpret_cast<__half2&>(v);
            c[i] += k % 2 ? __high2float(p) * __high2float(q) : __low2float(p) * __low2float(q);
        }
    __syncwarp();
#else
    PTX volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// Of the largest magnitude; no less than -100, so that its factor is a float.
__device__ __forceinline__ int exponent_of(float largest) { return max((__float_as_int(largest) >> 23) - 127, -100); }
__device__ __forceinline__ float power(int exponent) { return __int_as_float((exponent + 127) << 23); }

// A NaN stays one, as in PyTorch.
__device__ __forceinline__ float larger(float a, float b) { return a > b || a != a ? a : b; }

__device__ __forceinline__ unsigned together(float a, float b) {
    __half2 v = __halves2half2(__float2half_rn(a), __float2half_rn(b));
    return reinterpret_cast<unsigned&>(v);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) fused(const float* __restrict__ x,
                                                                    const float* __restrict__ weight,
                                                                    const float* __restrict__ bias,
                                                                    float* __restrict__ y, int tasks, int depth,
                                                                    int height, int pd, int ph, int pw) {
    __shared__ __align__(16) Region large, small;
    __shared__ float of_warps[4], bests[2][32][8];
    const unsigned all = 0xffffffffu;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = warp % 2, part = warp / 2, t = lane % 4, g = lane / 4;

    // Weights of all nine depth and row taps, as lanes take them: k is a column tap (the fourth is zero) and a channel.
    unsigned b[2][9][2][2];
    float back[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float w[9][4], top = 0;
#pragma unroll
        for (int tap = 0; tap < 9; ++tap)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int k = t * 2 + i / 2 * 8 + i % 2, kw = k / 4, c = k % 4;
                w[tap][i] = kw < 3 && c < IN ? __ldg(weight + ((half * 8 + g) * IN + c) * 27 + tap * 3 + kw) : 0.0f;
                top = fmaxf(top, fabsf(w[tap][i]));
            }
        top = fmaxf(top, __shfl_xor_sync(all, top, 1));
        top = fmaxf(top, __shfl_xor_sync(all, top, 2));
        int scale = exponent_of(top);
        back[half] = power(scale - 14);  // of filter half * 8 + g
#pragma unroll
        for (int tap = 0; tap < 9; ++tap)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                float p = w[tap][2 * i] * power(14 - scale), q = w[tap][2 * i + 1] * power(14 - scale);
                b[0][tap][half][i] = together(p, q);
                b[1][tap][half][i] = together(p - __half2float(__float2half_rn(p)), q - __half2float(__float2half_rn(q)));
            }
    }
    // A lane's results are of filters half * 8 + 2 t and the next one.
    float undo[4], shift[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        undo[i] = __shfl_sync(all, back[i / 2], (t * 2 + i % 2) * 4);
        shift[i] = bias[i / 2 * 8 + t * 2 + i % 2];
    }

    // 108 rows of 32 numbers.
    constexpr int EACH = IN * 36 * WIDTH / THREADS;
    float mine[EACH];
    auto fetch = [&](int task) {
        int wh = task % ph, wd = task / ph % pd, n = task / ph / pd;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            int row = i * 4 + warp, c = row / 36, d = row / 6 % 6, h = row % 6;
            mine[i] = __ldg(x + (((size_t)(n * IN + c) * depth + 4 * wd + d) * height + 4 * wh + h) * WIDTH + lane);
        }
    };
    if (blockIdx.x < tasks) fetch(blockIdx.x);
#pragma unroll 1
    for (int task = blockIdx.x; task < tasks; task += gridDim.x) {
        int wh = task % ph, wd = task / ph % pd, n = task / ph / pd;

        // The task's part of x, which came while the last one was multiplied, with a power of two of its own as scale.
        float most = 0;
#pragma unroll
        for (int i = 0; i < EACH; ++i) most = fmaxf(most, fabsf(mine[i]));
#pragma unroll
        for (int step = 16; step; step /= 2) most = fmaxf(most, __shfl_xor_sync(all, most, step));
        if (lane == 0) of_warps[warp] = most;
        for (int i = threadIdx.x; i < 36 * PLACES; i += THREADS) {
            reinterpret_cast<uint2*>(large)[i] = make_uint2(0, 0);
            reinterpret_cast<uint2*>(small)[i] = make_uint2(0, 0);
        }
        __syncthreads();
        int exponent = exponent_of(fmaxf(fmaxf(of_warps[0], of_warps[1]), fmaxf(of_warps[2], of_warps[3])));
        float factor = power(14 - exponent), back_x = power(exponent - 14);
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            int row = i * 4 + warp, c = row / 36, d = row / 6 % 6, h = row % 6;
            float v = mine[i] * factor;
            __half first = __float2half_rn(v);
            large[d][h][lane][c] = first;
            small[d][h][lane][c] = __float2half_rn(v - __half2float(first));
        }

        if (task + gridDim.x < tasks) fetch(task + gridDim.x);
        __syncthreads();

        float best[8];
#pragma unroll 1
        for (int pair = 0; pair < 2; ++pair) {
            int d = part * 2 + pair;
#pragma unroll 1
            for (int row = 0; row < 4; ++row) {
                float sum[2][4];
                float some[3][2][4] = {};
#pragma unroll
                for (int product = 0; product < 3; ++product)
#pragma unroll
                    for (int kh = 0; kh < 3; ++kh)
#pragma unroll
                        for (int kd = 0; kd < 3; ++kd) {
                            const __half* at = &(product == 0 ? small : large)[d + kd][row + kh][tile * 16 + g][0] + 2 * t;
                            unsigned a[4];
#pragma unroll
                            for (int i = 0; i < 4; ++i)
                                a[i] = *reinterpret_cast<const unsigned*>(at + i % 2 * 32 + i / 2 * 8);
#pragma unroll
                            for (int half = 0; half < 2; ++half) {
                                const unsigned* w = b[product == 1][kd * 3 + kh][half];
                                multiply(some[kd][half], a, w[0], w[1]);
                            }
                        }
#pragma unroll
                for (int i = 0; i < 8; ++i) sum[i / 4][i % 4] = (some[0][i / 4][i % 4] + some[1][i / 4][i % 4]) + some[2][i / 4][i % 4];
#pragma unroll
                for (int high = 0; high < 2; ++high) {
                    float v[4], highest = 0, total = 0;
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        v[i] = sum[i / 2][high * 2 + i % 2] * undo[i] * back_x + shift[i];
                        highest = i ? larger(highest, v[i]) : v[i];
                    }
                    highest = larger(highest, __shfl_xor_sync(all, highest, 1));
                    highest = larger(highest, __shfl_xor_sync(all, highest, 2));
#pragma unroll
                    for (int i = 0; i < 4; ++i) total += v[i] = __expf(v[i] - highest);
                    total += __shfl_xor_sync(all, total, 1);
                    total += __shfl_xor_sync(all, total, 2);
                    float scale = 1.0f / total;
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        float p = v[i] * scale, &to = best[high * 4 + i];
                        to = pair + row ? larger(to, p) : p;
                    }
                }
            }
        }
        if (part == 1)
#pragma unroll
            for (int i = 0; i < 8; ++i) bests[tile][lane][i] = best[i];
        __syncthreads();
        if (part == 0)
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            best[i] = larger(best[i], bests[tile][lane][i]);
            best[i] = larger(best[i], __shfl_xor_sync(all, best[i], 4));
            best[i] = larger(best[i], __shfl_xor_sync(all, best[i], 8));
            int ww = tile * 4 + i / 4 * 2 + g / 4, filter = i % 4 / 2 * 8 + t * 2 + i % 2;
            if (g % 4 == 0 && ww < pw) y[(((size_t)(n * OUT + filter) * pd + wd) * ph + wh) * pw + ww] = best[i];
        }
        __syncthreads();
    }
}
