"""Linear, batch norm, scale, softmax: cuBLAS float32 product, one fused kernel behind it."""

import torch
import triton
import triton.language as tl

KNOBS = {"WARPS": [8, 16]}
WARPS = 8


@triton.jit
def finish(z_ptr, bias_ptr, mean_ptr, var_ptr, gamma_ptr, beta_ptr, scale_ptr, y_ptr, n, eps, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, block)
    inside = col < n
    at = row * n + col
    v = tl.load(z_ptr + at, mask=inside, other=0.0)
    scale = tl.load(scale_ptr)
    slope = tl.load(gamma_ptr + col, mask=inside, other=0.0) * scale
    slope = slope / tl.sqrt(tl.load(var_ptr + col, mask=inside, other=1.0) + eps)
    v += tl.load(bias_ptr + col, mask=inside, other=0.0) - tl.load(mean_ptr + col, mask=inside, other=0.0)
    v = v * slope + tl.load(beta_ptr + col, mask=inside, other=0.0) * scale
    v = tl.where(inside, v, -float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y_ptr + at, e * (1.0 / tl.sum(e, 0)), mask=inside)


class ModelNew(torch.nn.Module):
    """Linear, batch norm, scale, softmax."""

    def __init__(self, in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, scale_shape=(1,)):
        super().__init__()
        self.gemm = torch.nn.Linear(in_features, out_features)
        self.bn = torch.nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        self.scale = torch.nn.Parameter(torch.ones(scale_shape))
        self.softmax = torch.nn.Softmax(dim=1)

    def plain(self, x):
        return self.softmax(self.scale * self.bn(self.gemm(x)))

    def forward(self, x):
        weight = self.gemm.weight
        m, n = x.shape[0], weight.shape[0]
        if not (self.scale.numel() == 1 and not self.training):
            return self.plain(x)
        z = torch.mm(x, weight.T)
        finish[(m,)](
            z,
            self.gemm.bias,
            self.bn.running_mean,
            self.bn.running_var,
            self.bn.weight,
            self.bn.bias,
            self.scale,
            z,
            n,
            self.bn.eps,
            block=triton.next_power_of_2(n),
            num_warps=WARPS,
        )
        return z
