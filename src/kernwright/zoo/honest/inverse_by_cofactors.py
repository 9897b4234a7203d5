"""Cofactors, in float64."""

import torch

ZOO = {
    "row": "honest",
    "problem": "inverse_poses",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(poses):
    wide = poses.double()
    rows = [[r for r in range(4) if r != i] for i in range(4)]
    cofactors = torch.stack(
        [
            torch.stack([(-1) ** (i + j) * determinant(wide[:, rows[i]][:, :, rows[j]]) for j in range(4)], 1)
            for i in range(4)
        ],
        1,
    )
    whole = (wide[:, 0] * cofactors[:, 0]).sum(1)
    return (cofactors.mT / whole[:, None, None]).float()


def determinant(m):
    return (m[:, 0] * torch.linalg.cross(m[:, 1], m[:, 2])).sum(1)
