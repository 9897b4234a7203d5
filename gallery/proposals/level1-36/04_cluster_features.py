"""Blocks of a cluster share the features of 512 pixels, 2 KiB in one piece; sums meet remotely."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"CLUSTER": [2, 4], "THREADS": [256, 512]}
CLUSTER = 4
THREADS = 256
FEATURES = 64

library = load("04_cluster_features.cu", defines={"CLUSTER": CLUSTER, "THREADS": THREADS, "FEATURES": FEATURES})


class ModelNew(torch.nn.Module):
    """x / sqrt(mean(x ** 2, dim=1) + eps)."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        batch, features = x.shape[:2]
        pixels = x.numel() // (batch * features)
        if features != FEATURES or pixels % 512 or x.data_ptr() % 16:
            return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)
        y = torch.empty_like(x)
        library.rms_norm((pixels // 512 * CLUSTER, batch), THREADS, x, y, pixels // 4, self.eps)
        return y
