"""Persistent blocks: tiles of features come by bulk copies into a ring while others are normalised."""

import torch

from kernwright.languages.cuda_loader import load

KNOBS = {"PIXELS": [128, 256], "ROOM": [98304, 131072, 196608]}
PIXELS = 256
ROOM = 196608
FEATURES = 64
MULTIPROCESSORS = 132
SLOTS = max(ROOM // (FEATURES * PIXELS * 4), 2)

library = load("03_bulk_ring.cu", defines={"PIXELS": PIXELS, "SLOTS": SLOTS, "FEATURES": FEATURES})


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
        if features != FEATURES or pixels % PIXELS or x.data_ptr() % 16:
            return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + self.eps)
        y = torch.empty_like(x)
        across = pixels // PIXELS
        tiles = across * batch
        library.rms_norm(
            min(MULTIPROCESSORS, tiles),
            288,
            x,
            y,
            pixels,
            across,
            tiles,
            self.eps,
            shared=SLOTS * FEATURES * PIXELS * 4,
        )
        return y
