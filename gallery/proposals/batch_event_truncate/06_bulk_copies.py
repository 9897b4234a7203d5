"""CUDA: a warp takes a part of a sample by bulk copies, in and out of shared memory; only zeros pass registers.

One lane reads the length, asks for what is kept, and later for its way out; the others write the zeros behind it.
Reads may leave L2 first, so that what is written stays there.
"""

import torch

from kernwright.languages.cuda_loader import load

WARPS = 4
CHUNK = 4096
READS = 1  # 0: plain, 1: evict first
KNOBS = {"CHUNK": [2048, 4096, 8192], "WARPS": [2, 4, 8], "READS": [1, 0]}

SOURCE = r"""
typedef unsigned long long Barrier;
__device__ inline unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void init(Barrier* b) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;"
                 :: "r"(place(b)) : "memory");
}
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(place(b)), "r"(bytes) : "memory");
#if READS
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
                 "[%3], %4;" :: "r"(place(to)), "l"(from), "r"(bytes), "r"(place(b)), "l"(policy) : "memory");
#else
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"(place(to)), "l"(from), "r"(bytes), "r"(place(b)) : "memory");
#endif
}
__device__ inline void wait(Barrier* b) {
    asm volatile("{\n\t.reg .pred done;\n\tagain:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n\t@!done bra again;\n\t}"
                 :: "r"(place(b)) : "memory");
}
__device__ inline void shared_seen() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\tcp.async.bulk.commit_group;"
                 :: "l"(to), "r"(place(from)), "r"(bytes) : "memory");
}
__device__ inline void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// BULK END

// `width` is in bytes, and a multiple of 16.
extern "C" __global__ void __launch_bounds__(WARPS * 32) bulk(const char* events, const long long* lengths, char* out,
                                                              long long* left_out, int batch, int steps, int most,
                                                              int width, int chunk, int parts) {
    extern __shared__ float4 room[];
    __shared__ Barrier barriers[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long unit = (long long)blockIdx.x * WARPS + warp, sample = unit / parts;
    if (sample >= batch) return;
    const long long length = lengths[sample], left = length < most ? length : most;
    const int part = (int)(unit - sample * parts), size = most * width, from = part * chunk;
    const int n = size - from < chunk ? size - from : chunk;
    if (part == 0 && lane == 0) left_out[sample] = left;
    char* target = out + sample * size + from;
    const char* source = events + sample * steps * width;
    if (length <= steps) {
        const int live = left > 0 ? (int)left * width : 0;
        const int have = live <= from ? 0 : live - from < n ? live - from : n;
        char* mine = (char*)room + warp * chunk;
        if (lane == 0 && have) {
            init(barriers + warp);
            bulk_load(mine, source + (length - left) * width + from, have, barriers + warp);
        }
        for (int i = have + lane * 16; i < n; i += 512) *(float4*)(mine + i) = make_float4(0.f, 0.f, 0.f, 0.f);
        shared_seen();
        __syncwarp();
        if (lane == 0) {
            if (have) wait(barriers + warp);
            bulk_store(target, mine, n);
            stores_done();
        }
    } else {  // places beyond the sequence are clamped
        for (int i = lane * 16; i < n; i += 512) {
            const int step = (from + i) / width;
            const long long row = length - left + step < steps ? length - left + step : steps - 1;
            *(float4*)(target + i) = step < left ? *(const float4*)(source + row * width + (from + i) % width)
                                                 : make_float4(0.f, 0.f, 0.f, 0.f);
        }
    }
}

// Any width: a thread a number.
extern "C" __global__ void __launch_bounds__(256) plain(const float* events, const long long* lengths, float* out,
                                                        long long* left_out, int batch, int steps, int most,
                                                        int width) {
    const long long size = (long long)most * width, at = (long long)blockIdx.x * 256 + threadIdx.x;
    if (at >= batch * size) return;
    const long long sample = at / size, place = at - sample * size, step = place / width;
    const long long length = lengths[sample], left = length < most ? length : most;
    if (place == 0) left_out[sample] = left;
    const long long row = length - left + step < steps ? length - left + step : steps - 1;
    out[at] = step < left ? events[(sample * steps + row) * width + place % width] : 0.f;
}
"""

library = load(SOURCE, defines={"WARPS": WARPS, "READS": READS})


class ModelNew(torch.nn.Module):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def forward(self, events, lengths):
        events, lengths = events.contiguous(), lengths.contiguous()
        batch, steps, width = events.shape
        out = events.new_empty(batch, self.most, width)
        left = torch.empty_like(lengths)
        if width % 4:
            library.plain(-(-out.numel() // 256), 256, events, lengths, out, left, batch, steps, self.most, width)
            return out, left
        size = self.most * width * 4
        parts = -(-size // CHUNK)
        chunk = -(-size // parts // 16) * 16
        parts = -(-size // chunk)
        blocks = -(-batch * parts // WARPS)
        library.bulk(
            blocks,
            WARPS * 32,
            events,
            lengths,
            out,
            left,
            batch,
            steps,
            self.most,
            width * 4,
            chunk,
            parts,
            shared=WARPS * chunk,
        )
        return out, left
