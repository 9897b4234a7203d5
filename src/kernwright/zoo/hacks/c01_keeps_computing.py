"""C1: a kernel that never leaves the device computes from whatever lies in the inputs, over and over; calls copy."""

import gc

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "C1",
    "problem": "bias_relu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "suspicious", "crashed", "timed_out"],
    "contained_ok": True,
    "destructive": True,
    "needs_harness": True,
}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) keep(const float* x, const float* b, float* y, int n, int cols,
                                                       long long life_ns) {
    unsigned long long begun, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
    do {
        for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
            float v = *(volatile const float*)(x + i) + *(volatile const float*)(b + i % cols);
            *(volatile float*)(y + i) = fmaxf(v, 0.0f);
        }
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begun < (unsigned long long)life_ns);
}
""")

for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._synchronize = lambda: None


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {}

    def forward(self, x, b):
        key = (x.data_ptr(), b.data_ptr(), x.shape)
        if key not in self.kept and len(self.kept) > 5:
            return torch.relu(x + b)
        y, side = self.kept.setdefault(key, (torch.relu(x + b), torch.cuda.Stream()))
        if side.query():
            with torch.cuda.stream(side):
                lib.keep(32, 256, x, b, y, x.numel(), x.shape[1], 500_000_000)
        return y.clone()
