// Depthwise 3 x 3 without padding, on rows of 512: rows come and results go by bulk copies, a thread for each column.
constexpr int WIDTH = 512, OUT_WIDTH = 510, REACH = 3, EACH = WIDTH / THREADS, STAGED = ROWS * OUT_WIDTH / 4 * 4 + 8;
extern __shared__ __align__(128) float shared[];

// PTX is "asm"; the CPU shim, which knows none, takes the other branches: copies by the first thread, no barriers in memory.
typedef unsigned long long Barrier;

#ifdef KERNWRIGHT_ARCH
__device__ __forceinline__ void init(Barrier*, unsigned) {}
__device__ __forceinline__ void inits_seen() {}
__device__ __forceinline__ void expect(Barrier*, unsigned) {}
__device__ __forceinline__ void wait(Barrier*, unsigned) { __syncthreads(); }
__device__ __forceinline__ void bulk_load(float* to, const float* from, unsigned bytes, Barrier*) {
    for (unsigned i = 0; i < bytes / 4; ++i) to[i] = from[i];
}
__device__ __forceinline__ void bulk_store(float* to, const float* from, unsigned bytes) {
    for (unsigned i = 0; i < bytes / 4; ++i) to[i] = from[i];
}
__device__ __forceinline__ void written() {}
__device__ __forceinline__ void wait_for_stores() {}
__device__ __forceinline__ void wait_for_all_stores() {}
#else
__device__ __forceinline__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(Barrier* b, unsigned count) {
    PTX volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void inits_seen() { PTX volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect(Barrier* b, unsigned bytes) {
    PTX volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Barrier* b, unsigned parity) {
    unsigned done;
    do {
        PTX volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(place(b)), "r"(parity)
            : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_load(float* to, const float* from, unsigned bytes, Barrier* b) {
    PTX volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(to)),
                 "l"(from), "r"(bytes), "r"(place(b))
                 : "memory");
}
__device__ __forceinline__ void bulk_store(float* to, const float* from, unsigned bytes) {
    PTX volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(place(from)), "r"(bytes)
                 : "memory");
    PTX volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void written() { PTX volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// All but the last one have read what they store.
__device__ __forceinline__ void wait_for_stores() { PTX volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); }
__device__ __forceinline__ void wait_for_all_stores() { PTX volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
#endif

// A block walks down one of `parts` stretches of a plane, ROWS rows of input a step; SLOTS of them are loaded ahead. The
// outputs of a step are contiguous, and go from shared memory, where they lie at the same place within 16 bytes.
extern "C" __global__ void __launch_bounds__(THREADS) depthwise(const float* __restrict__ x, const float* __restrict__ weight,
    const float* __restrict__ bias, float* __restrict__ y, int channels, int height, int parts) {
    __shared__ Barrier full[SLOTS];
    float* const ring = shared;
    float* const staged = shared + SLOTS * ROWS * WIDTH;
    int tid = threadIdx.x, out_height = height - 2;
    size_t plane = blockIdx.x / parts;
    int share = (out_height + parts - 1) / parts, begin = blockIdx.x % parts * share, end = min(out_height, begin + share);
    if (begin >= end) return;
    x += plane * height * WIDTH;
    y += plane * out_height * OUT_WIDTH;
    // Row `top` of the input is the first one that output row `begin` meets; it may be padding.
    int top = begin, steps = (end - begin + REACH - 1 + ROWS - 1) / ROWS;
    if (tid == 0) {
        for (int i = 0; i < SLOTS; ++i) init(&full[i], 1);
        inits_seen();
    }
    __syncthreads();
    auto fill = [&](int step) {
        int first = max(0, top + step * ROWS), last = min(height, top + step * ROWS + ROWS);
        int bytes = max(0, last - first) * WIDTH * 4;
        expect(&full[step % SLOTS], bytes);
        float* to = ring + (step % SLOTS * ROWS + first - (top + step * ROWS)) * WIDTH;
        if (bytes) bulk_load(to, x + (size_t)first * WIDTH, bytes, &full[step % SLOTS]);
    };
    if (tid == 0)
        for (int step = 0; step < min(SLOTS, steps); ++step) fill(step);
    int channel = int(plane % channels);
    float w[9], shift = bias ? bias[channel] : 0.0f;
#pragma unroll
    for (int i = 0; i < 9; ++i) w[i] = weight[channel * 9 + i];
    float here[EACH] = {}, later[EACH] = {};

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        // Outputs of this step: rows `first` to `last`, of which the first may lie before `begin`.
        int first = max(begin, begin + step * ROWS - (REACH - 1)), last = min(end, begin + step * ROWS + ROWS - (REACH - 1));
        float* to = y + (size_t)first * OUT_WIDTH;
        int phase = int(reinterpret_cast<size_t>(to) / 4 % 4), count = max(0, last - first) * OUT_WIDTH;
        float* out = staged + step % 2 * STAGED + phase;
        wait(&full[step % SLOTS], step / SLOTS % 2);
        const float* from = ring + step % SLOTS * ROWS * WIDTH;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            int col = tid + k * THREADS;
            int next = min(WIDTH - 1, col + 1), after = min(WIDTH - 1, col + 2);
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                int row = top + step * ROWS + i, to_row = row - (REACH - 1);
                float p = 0, q = 0, r = 0;
                if (row < height) {
                    const float* at = from + i * WIDTH;
                    p = at[col], q = at[next], r = at[after];
                }
                if (to_row >= first && to_row < last && col < OUT_WIDTH)
                    out[(to_row - first) * OUT_WIDTH + col] = here[k] + (p * w[6] + q * w[7] + r * w[8]);
                here[k] = later[k] + (p * w[3] + q * w[4] + r * w[5]);
                later[k] = shift + p * w[0] + q * w[1] + r * w[2];
            }
        }
        written();
        __syncthreads();
        int head = min(count, (4 - phase) % 4), body = (count - head) / 4 * 4;
        if (tid == 0) {
            if (body) bulk_store(to + head, out + head, body * 4);
            if (step + SLOTS < steps) fill(step + SLOTS);
            wait_for_stores();
        }
        if (tid >= 32 && tid < 32 + head) to[tid - 32] = out[tid - 32];
        if (tid >= 64 && tid < 64 + count - head - body) to[head + body + tid - 64] = out[head + body + tid - 64];
        __syncthreads();
    }
    if (tid == 0) wait_for_all_stores();
}
