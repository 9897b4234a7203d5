// Included before every kernel that runs on the CPU in place of a GPU. The words of CUDA C++, as far as its SIMT
// part goes: a thread of a block is a fiber, a block is one loop over its fibers, a grid is one loop over its blocks.
#ifndef KERNWRIGHT_CUDA_H
#define KERNWRIGHT_CUDA_H
#ifndef KERNWRIGHT_LISTING  // which is when a source is only searched for its kernels

// Standard headers come first: some of them use words that are macros below.
#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <math.h>
#include <sys/mman.h>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernwright_types.h"
#include "kernwright_block.h"
#include "kernwright_intrinsics.h"
#include "kernwright_launch.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ inline
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_INF_F (__builtin_inff())
#define CUDART_NAN_F (__builtin_nanf(""))
#define CUDART_INF (__builtin_inf())
#define CUDART_NAN (__builtin_nan(""))
#define CUDART_PI_F 3.141592654f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#endif
#define __launch_bounds__(...)
#define __CUDA_ARCH__ KERNWRIGHT_ARCH
#define __CUDACC__ 1

#endif
