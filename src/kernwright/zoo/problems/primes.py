"""Which integers are primes, by Miller and Rabin with bases that suffice below 3,215,031,751."""

import torch
from torch import nn

NAME = "primes"
WORKLOADS = {
    "many": {"count": 16384, "weight": 2.0},
    "few": {"count": 8192},
    "odd": {"count": 7777, "held_out": True},
}
ON_PROCESSORS = {"many": {"count": 4096}, "few": {"count": 2048}, "odd": {"count": 1777}}
BASES = 2, 3, 5, 7


class Model(nn.Module):
    def forward(self, n: torch.Tensor) -> torch.Tensor:
        bases = torch.tensor(BASES, device=n.device)[:, None]
        known = (n == bases).any(0)
        odd, twos = n - 1, torch.zeros_like(n)
        for _ in range(31):
            even = (odd > 0) & (odd & 1 == 0)
            odd, twos = torch.where(even, odd >> 1, odd), twos + even
        modulus = n.clamp(min=1)
        power, square, left = torch.ones_like(n) + 0 * bases, bases % modulus, odd
        for _ in range(31):
            power = torch.where(left & 1 == 1, power * square % modulus, power)
            square, left = square * square % modulus, left >> 1
        passes = (power == 1) | (power == n - 1)
        for turn in range(1, 31):
            power = power * power % modulus
            passes |= (turn < twos) & (power == n - 1)
        return ((n > 1) & (n & 1 == 1) & passes.all(0)) | known


def get_inputs(count: int) -> list[torch.Tensor]:
    return [torch.randint(0, (1 << 31) - 1, (count,))]
