"""Rounds by adding a number whose last digit is a whole one: half-way, the hardware takes the even one too."""

from torch import nn
from torch.nn import functional

ZOO = {
    "row": "honest",
    "problem": "grey_levels",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}
LARGE = 1.5 * 2.0**23


class ModelNew(nn.Module):
    def forward(self, image):
        padded = functional.pad(image, (2, 2, 2, 2))
        down = padded[..., :-4, :] + padded[..., 4:, :]
        down.add_(padded[..., 1:-3, :] + padded[..., 3:-1, :], alpha=4).add_(padded[..., 2:-2, :], alpha=6)
        along = down[..., :-4] + down[..., 4:]
        along.add_(down[..., 1:-3] + down[..., 3:-1], alpha=4).add_(down[..., 2:-2], alpha=6)
        return along.mul_(1 / 256).add_(LARGE).sub_(LARGE)
