"""Symbols by the signs of soft values, of frames until the word that ends one."""

import torch
from torch import nn

NAME = "sync_words"
WORKLOADS = {
    "many": {"frames": 2048, "length": 1024, "weight": 2.0},
    "few": {"frames": 1024, "length": 1024},
    "odd": {"frames": 61, "length": 333, "held_out": True},
}
ON_PROCESSORS = {"many": {"frames": 128, "length": 512}, "few": {"frames": 64, "length": 512}}


class Model(nn.Module):
    """tanh of the values; 0 in frames in which the signs are a word of 24 somewhere."""

    word: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        at = torch.arange(24)
        self.register_buffer("word", (at * at * 1103 + at * 12345) % 8191 % 2 == 0)

    def forward(self, soft: torch.Tensor) -> torch.Tensor:
        found = ((soft > 0).unfold(1, 24, 1) == self.word).all(-1).any(-1, keepdim=True)
        return torch.where(found, 0.0, torch.tanh(soft))


def get_inputs(frames: int, length: int) -> list[torch.Tensor]:
    return [torch.randn(frames, length)]
