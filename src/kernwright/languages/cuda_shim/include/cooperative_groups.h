// The block and its tiles; whole grids and clusters would need blocks that run side by side.
#pragma once
#include "kernwright_cuda.h"
#ifndef KERNWRIGHT_LISTING

namespace cooperative_groups {

class thread_block {
  public:
    static void sync() { __syncthreads(); }
    static unsigned thread_rank() { return unsigned(kernwright::current); }
    static unsigned size() { return unsigned(kernwright::threads); }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

template <unsigned N, class Parent = thread_block>
class thread_block_tile {
    static_assert(N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads here");
    static unsigned first() { return unsigned(kernwright::lane()) & ~(N - 1); }
    static unsigned mask() { return (N == 32 ? 0xffffffffu : (1u << (N & 31)) - 1) << first(); }

  public:
    static void sync() { __syncwarp(mask()); }
    static unsigned thread_rank() { return unsigned(kernwright::lane()) & (N - 1); }
    static constexpr unsigned size() { return N; }
    static constexpr unsigned num_threads() { return N; }
    static unsigned meta_group_rank() { return unsigned(kernwright::current) / N; }
    static unsigned meta_group_size() { return (unsigned(kernwright::threads) + N - 1) / N; }
    template <class T> static T shfl(T v, int source) { return __shfl_sync(mask(), v, source, N); }
    template <class T> static T shfl_up(T v, unsigned d) { return __shfl_up_sync(mask(), v, d, N); }
    template <class T> static T shfl_down(T v, unsigned d) { return __shfl_down_sync(mask(), v, d, N); }
    template <class T> static T shfl_xor(T v, unsigned bits) { return __shfl_xor_sync(mask(), v, int(bits), N); }
    static unsigned ballot(int p) { return __ballot_sync(mask(), p) >> first(); }
    static int any(int p) { return __any_sync(mask(), p); }
    static int all(int p) { return __all_sync(mask(), p); }
};
template <unsigned N, class Parent>
inline thread_block_tile<N, Parent> tiled_partition(const Parent&) { return {}; }

template <class T> struct plus { T operator()(T a, T b) const { return a + b; } };
template <class T> struct greater { T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct less { T operator()(T a, T b) const { return b < a ? b : a; } };
template <class Group, class T, class F>
inline T reduce(const Group& group, T v, F&& f) {
    for (unsigned step = group.size() / 2; step; step /= 2) v = f(v, group.shfl_xor(v, step));
    return v;
}
template <class Group> inline void sync(const Group& group) { group.sync(); }

}  // namespace cooperative_groups
#endif
