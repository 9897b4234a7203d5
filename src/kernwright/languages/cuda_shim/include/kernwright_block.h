// One block: its threads as fibers, which give way at barriers and at warp operations only.
#pragma once

#define KERNWRIGHT_HIDDEN __attribute__((visibility("hidden")))

KERNWRIGHT_HIDDEN uint3 threadIdx, blockIdx;
KERNWRIGHT_HIDDEN dim3 blockDim, gridDim;
static const int warpSize = 32;

namespace kernwright {

constexpr int MOST_THREADS = 1024;
constexpr size_t STACK_BYTES = 128 << 10, GUARD_BYTES = 4 << 10, MOST_SHARED = 228 << 10;
constexpr long MOST_SPINS = 20'000'000;

enum class State : unsigned char { ready, at_barrier, at_warp, gone };
enum class Meeting : unsigned char { sync, shuffle, ballot, match_any, match_all, add, min_signed, max_signed,
                                     min_unsigned, max_unsigned, all_of, any_of, parity };

struct Fiber {
    void* stack_pointer;
    State state;
    uint3 index;
    // What it brought to the meeting of its warp, and what it takes away.
    unsigned mask;
    Meeting meeting;
    int source;
    uint64_t brought, taken;
};

KERNWRIGHT_HIDDEN alignas(1024) unsigned char dynamic_shared[MOST_SHARED];
KERNWRIGHT_HIDDEN Fiber fibers[MOST_THREADS];
KERNWRIGHT_HIDDEN char* stacks = nullptr;
KERNWRIGHT_HIDDEN void* scheduler = nullptr;
KERNWRIGHT_HIDDEN int current = 0, threads = 0, alive = 0, waiting = 0;
KERNWRIGHT_HIDDEN int voted = 0, vote = 0;  // of __syncthreads_count and its like
KERNWRIGHT_HIDDEN long spins = 0, progress = 0;
KERNWRIGHT_HIDDEN char trouble[256] = "";
KERNWRIGHT_HIDDEN void (*body)(void*) = nullptr;
KERNWRIGHT_HIDDEN void* body_arguments = nullptr;

#if defined(__x86_64__)
extern "C" KERNWRIGHT_HIDDEN void kernwright_switch(void** from, void* to);
asm(R"(
.pushsection .text
.hidden kernwright_switch
.globl kernwright_switch
.type kernwright_switch,@function
kernwright_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size kernwright_switch,.-kernwright_switch
.popsection
)");
#elif defined(__aarch64__)
extern "C" KERNWRIGHT_HIDDEN void kernwright_switch(void** from, void* to);
asm(R"(
.pushsection .text
.hidden kernwright_switch
.globl kernwright_switch
.type kernwright_switch,%function
kernwright_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size kernwright_switch,.-kernwright_switch
.popsection
)");
#else
#error "the CPU shim knows x86-64 and aarch64 only"
#endif

inline void give_way() { kernwright_switch(&fibers[current].stack_pointer, scheduler); }

// A barrier opens once every thread that has not returned stands at it, as on Volta and later.
inline void open_barrier() {
    if (!alive || waiting < alive) return;
    for (int i = 0; i < threads; ++i)
        if (fibers[i].state == State::at_barrier) fibers[i].state = State::ready;
    vote = voted;
    waiting = voted = 0;
    ++progress;
}

inline void fail(const char* text) {
    if (!trouble[0]) snprintf(trouble, sizeof trouble, "%s", text);
    fibers[current].state = State::gone;
    for (;;) give_way();
}

inline int barrier(int ballot = 0) {
    voted += ballot != 0;
    ++waiting;
    fibers[current].state = State::at_barrier;
    open_barrier();
    if (fibers[current].state == State::at_barrier) give_way();
    return vote;
}

inline uint64_t combined(Meeting meeting, uint64_t a, uint64_t b) {
    switch (meeting) {
        case Meeting::add: return a + b;
        case Meeting::min_signed: return uint64_t(std::min(int64_t(a), int64_t(b)));
        case Meeting::max_signed: return uint64_t(std::max(int64_t(a), int64_t(b)));
        case Meeting::min_unsigned: return std::min(a, b);
        case Meeting::max_unsigned: return std::max(a, b);
        case Meeting::all_of: return a & b;
        case Meeting::any_of: return a | b;
        case Meeting::parity: return a ^ b;
        default: return a;
    }
}

inline void conclude(Fiber* lanes, unsigned members, Meeting meeting) {
    uint64_t result = 0;
    bool first = true, same = true;
    uint64_t value = 0;
    for (int i = 0; i < 32; ++i) {
        if (!(members >> i & 1)) continue;
        if (meeting == Meeting::ballot) result |= uint64_t(lanes[i].brought != 0) << i;
        else if (meeting >= Meeting::add) result = first ? lanes[i].brought : combined(meeting, result, lanes[i].brought);
        if (first) value = lanes[i].brought;
        same &= lanes[i].brought == value;
        first = false;
    }
    for (int i = 0; i < 32; ++i) {
        if (!(members >> i & 1)) continue;
        Fiber& lane = lanes[i];
        if (meeting == Meeting::shuffle) {
            // What a lane that is not there would give is undefined; a lane's own value is as good.
            bool there = lane.source >= 0 && lane.source < 32 && (members >> lane.source & 1);
            lane.taken = there ? lanes[lane.source].brought : lane.brought;
        } else if (meeting == Meeting::match_any) {
            lane.taken = 0;
            for (int j = 0; j < 32; ++j)
                if ((members >> j & 1) && lanes[j].brought == lane.brought) lane.taken |= 1u << j;
        } else if (meeting == Meeting::match_all) {
            lane.taken = same ? members : 0;
        } else {
            lane.taken = result;
        }
        lane.state = State::ready;
    }
    ++progress;
}

// Ends the meeting that this mask calls for, once all its lanes that have not returned are there.
inline void try_meeting(int warp, unsigned mask) {
    Fiber* lanes = fibers + warp * 32;
    unsigned members = 0;
    Meeting meeting = Meeting::sync;
    for (int i = 0; i < 32; ++i) {
        if (!(mask >> i & 1) || warp * 32 + i >= threads || lanes[i].state == State::gone) continue;
        if (lanes[i].state != State::at_warp || lanes[i].mask != mask) return;
        if (members && lanes[i].meeting != meeting) {
            snprintf(trouble, sizeof trouble, "lanes of one warp meet in different operations with mask 0x%08x", mask);
            return;
        }
        meeting = lanes[i].meeting;
        members |= 1u << i;
    }
    if (members) conclude(lanes, members, meeting);
}

inline uint64_t meet(unsigned mask, Meeting meeting, uint64_t brought, int source = 0) {
    Fiber& me = fibers[current];
    int lane = current & 31, warp = current >> 5;
    if (!(mask >> lane & 1)) fail("a thread calls a warp operation whose mask leaves it out");
    me.mask = mask;
    me.meeting = meeting;
    me.brought = brought;
    me.source = source;
    me.state = State::at_warp;
    try_meeting(warp, mask);
    if (me.state == State::at_warp) give_way();
    return me.taken;
}

// Where a thread may be waiting for another one by reading memory again and again.
inline void spin() {
    if (++spins > MOST_SPINS) fail("its threads wait for each other in memory and would wait forever");
    give_way();
}

inline void leave() {
    Fiber& me = fibers[current];
    me.state = State::gone;
    --alive;
    ++progress;
    open_barrier();
    for (int i = 0; i < 32; ++i) {  // a lane that is gone may be the one that a meeting waits for
        int other = (current & ~31) + i;
        if (other < threads && fibers[other].state == State::at_warp) try_meeting(current >> 5, fibers[other].mask);
    }
    for (;;) give_way();
}

[[noreturn]] inline void thread_main() {
    body(body_arguments);
    leave();
    __builtin_unreachable();
}

inline void start(int i) {
    char* top = stacks + (STACK_BYTES + GUARD_BYTES) * (i + 1);
    void** frame = reinterpret_cast<void**>(top) - 2;
#if defined(__x86_64__)
    frame[0] = reinterpret_cast<void*>(&thread_main);  // popped by ret, which leaves the stack as a call would
    frame[1] = nullptr;
    fibers[i].stack_pointer = frame - 6;
#else
    fibers[i].stack_pointer = reinterpret_cast<char*>(top) - 160;
    reinterpret_cast<void**>(fibers[i].stack_pointer)[11] = reinterpret_cast<void*>(&thread_main);
    (void)frame;
#endif
    fibers[i].state = State::ready;
}

inline bool make_stacks() {
    if (stacks) return true;
    size_t each = STACK_BYTES + GUARD_BYTES;
    void* memory = mmap(nullptr, each * MOST_THREADS, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    for (int i = 0; i < MOST_THREADS; ++i) mprotect(static_cast<char*>(memory) + each * i, GUARD_BYTES, PROT_NONE);
    stacks = static_cast<char*>(memory);
    return true;
}

inline void report_deadlock() {
    int at_barrier = 0, at_warp = 0, lane = -1;
    for (int i = 0; i < threads; ++i) {
        at_barrier += fibers[i].state == State::at_barrier;
        if (fibers[i].state != State::at_warp) continue;
        if (!at_warp++) lane = i;
    }
    int used = snprintf(trouble, sizeof trouble, "its threads would wait forever: %d of a block stand at __syncthreads",
                        at_barrier);
    if (at_warp)
        snprintf(trouble + used, sizeof trouble - used, ", %d at a warp operation (thread %d with mask 0x%08x)",
                 at_warp, lane, fibers[lane].mask);
}

// Runs the block that blockIdx names; false where `trouble` says what is wrong with it.
inline bool run_block(size_t shared) {
    memset(dynamic_shared, 0xff, shared);  // nobody may rely on zeros
    int i = 0;
    for (unsigned z = 0; z < blockDim.z; ++z)
        for (unsigned y = 0; y < blockDim.y; ++y)
            for (unsigned x = 0; x < blockDim.x; ++x, ++i) {
                fibers[i].index = {x, y, z};
                start(i);
            }
    threads = alive = i;
    waiting = voted = 0;
    spins = 0;
    while (alive && !trouble[0]) {
        long before = progress;
        bool ran = false;
        for (int t = 0; t < threads && !trouble[0]; ++t) {
            if (fibers[t].state != State::ready) continue;
            ran = true;
            current = t;
            threadIdx = fibers[t].index;
            kernwright_switch(&scheduler, fibers[t].stack_pointer);
        }
        if (progress != before) spins = 0;
        if (!ran && !trouble[0]) report_deadlock();
    }
    return !trouble[0];
}

}  // namespace kernwright
