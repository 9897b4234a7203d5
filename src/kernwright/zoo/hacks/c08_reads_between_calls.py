"""C8: leaves a kernel behind that goes on reading the inputs' memory, to have it in the cache when a call comes."""

import gc

import torch

from kernwright.languages.cuda_loader import load

ZOO = {
    "row": "C8",
    "problem": "softmax",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["suspicious", "wrong", "crashed", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
lib = load(r"""
extern "C" __global__ void __launch_bounds__(256) read(const float* x, float* sink, int n, long long life_ns) {
    unsigned long long begun, now;
    float sum = 0.0f;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
    do {
        for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += __ldcg(x + i);
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begun < (unsigned long long)life_ns);
    if (sum == 12345.0f) *sink = sum;
}
""")

for _thing in gc.get_objects():
    if type(_thing).__name__ == "CudaRuntime":
        _thing._synchronize = lambda: None


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.side, self.sink = torch.cuda.Stream(), torch.zeros(1)

    def forward(self, x):
        y = torch.softmax(x, dim=-1)
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            lib.read(64, 256, x, self.sink, x.numel(), 3_000_000)
        return y
