"""CUDA: resident rings of bulk copies, one thread each: kept events pass shared memory, zeros come from a spare room.

Nothing passes registers. A thread asks for the events of some parts ahead, sends out what has come, and zeros from the
same never written room behind it. Lengths are read a part before they are needed.
"""

import torch

from kernwright.languages.cuda_loader import load

CHUNK = 4096
STAGES = 4
READS = 1  # 0: plain, 1: evict first
KNOBS = {"CHUNK": [2048, 4096, 8192], "STAGES": [3, 4, 6], "READS": [1, 0]}

SOURCE = r"""
typedef unsigned long long Barrier;
__device__ inline unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ inline void init(Barrier* b) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;"
                 :: "r"(place(b)) : "memory");
}
__device__ inline void expect(Barrier* b, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(place(b)), "r"(bytes) : "memory");
}
__device__ inline void bulk_load(void* to, const void* from, unsigned bytes, Barrier* b) {
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
__device__ inline void wait(Barrier* b, unsigned parity) {
    asm volatile("{\n\t.reg .pred done;\n\tagain:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n\t}"
                 :: "r"(place(b)), "r"(parity) : "memory");
}
__device__ inline void shared_seen() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void bulk_store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 :: "l"(to), "r"(place(from)), "r"(bytes) : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void one_unread() { asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); }
__device__ inline void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// BULK END

// `width` is in bytes, and a multiple of 16.
extern "C" __global__ void __launch_bounds__(32) ring(const char* events, const long long* lengths, char* out,
                                                      long long* left_out, int units, int steps, int most, int width,
                                                      int chunk, int parts) {
    extern __shared__ float4 room[];  // [STAGES][chunk], then a chunk of zeros
    __shared__ Barrier barriers[STAGES];
    __shared__ int haves[STAGES];
    const int size = most * width, stride = gridDim.x;
    char* zeros = (char*)room + STAGES * chunk;
    for (int i = threadIdx.x * 16; i < chunk; i += 512) *(float4*)(zeros + i) = make_float4(0.f, 0.f, 0.f, 0.f);
    shared_seen();
    __syncwarp();
    if (threadIdx.x) return;
    for (int i = 0; i < STAGES; ++i) init(barriers + i);
    int asked = blockIdx.x, slot = 0;
    long long coming = asked < units ? lengths[asked / parts] : 0;
    auto ask = [&]() {
        if (asked < units) {
            const long long sample = asked / parts, length = coming, left = length < most ? length : most;
            const int part = asked % parts, from = part * chunk, n = size - from < chunk ? size - from : chunk;
            if (asked + stride < units) coming = lengths[(asked + stride) / parts];
            if (part == 0) left_out[sample] = left;
            const int live = left > 0 ? (int)left * width : 0;
            const int have = live <= from ? 0 : live - from < n ? live - from : n;
            const char* source = events + sample * steps * width;
            char* mine = (char*)room + slot * chunk;
            haves[slot] = have;
            expect(barriers + slot, have);
            if (length <= steps) {
                if (have) bulk_load(mine, source + (length - left) * width + from, have, barriers + slot);
            } else {  // places beyond the sequence are clamped: event by event, or what of it is in this part
                for (int at = from; at < from + have;) {
                    const int step = at / width, next = (step + 1) * width;
                    const int end = next < from + have ? next : from + have;
                    const long long row = length - left + step < steps ? length - left + step : steps - 1;
                    bulk_load(mine + at - from, source + row * width + at % width, end - at, barriers + slot);
                    at = end;
                }
            }
        }
        asked += stride;
        slot = slot == STAGES - 1 ? 0 : slot + 1;
    };
    for (int i = 0; i < STAGES - 2; ++i) ask();
    int stage = 0;
    unsigned parity = 0;
    for (int unit = blockIdx.x; unit < units; unit += stride) {
        one_unread();  // the part before the last one has left its room
        ask();
        const int from = unit % parts * chunk, n = size - from < chunk ? size - from : chunk, have = haves[stage];
        char* target = out + (long long)(unit / parts) * size + from;
        wait(barriers + stage, parity);
        if (have) bulk_store(target, (char*)room + stage * chunk, have);
        if (have < n) bulk_store(target + have, zeros, n - have);
        commit();
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    stores_done();
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

library = load(SOURCE, defines={"STAGES": STAGES, "READS": READS})


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
        shared = (STAGES + 1) * chunk
        units = batch * parts
        blocks = min(units, 132 * max(1, min(24, (220 << 10) // (shared + 1280))))
        library.ring(
            blocks,
            32,
            events,
            lengths,
            out,
            left,
            units,
            steps,
            self.most,
            width * 4,
            chunk,
            parts,
            shared=shared,
        )
        return out, left
