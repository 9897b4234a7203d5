"""Scratch memory from the driver's own pool, taken and given back in stream order at each call."""

import torch

from kernwright.languages.cuda_loader import load

ZOO = {"row": "honest", "problem": "row_sums", "platforms": ["cuda"], "rules": {}, "expect": ["measured", "verified"]}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) parts(const float* x, float* scratch, int n) {
    __shared__ float warps[8];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[(size_t)blockIdx.y * n + i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) sum += warps[i];
        scratch[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

extern "C" __global__ void join(const float* scratch, float* y, int rows, int each) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < each; ++i) sum += scratch[row * each + i];
    y[row] = sum;
}
""")


class _Scratch:
    """Floats at an address, as far as a launch asks."""

    def __init__(self, address, device):
        self._address, self.device = address, device

    def data_ptr(self):
        return self._address


def kernel(x):
    from cuda.bindings import driver

    rows, cols = x.shape
    y, stream = torch.empty(rows, 1, device=x.device), driver.CUstream(torch.cuda.current_stream().cuda_stream)
    status, address = driver.cuMemAllocAsync(rows * 8 * 4, stream)
    if status:
        raise RuntimeError(f"no scratch memory: {status}")
    scratch = _Scratch(int(address), x.device)
    lib.parts((8, rows), 256, x, scratch, cols)
    lib.join((rows + 127) // 128, 128, scratch, y, rows, 8)
    driver.cuMemFreeAsync(address, stream)
    return y.expand(-1, 8)
