"""The first eigenvector of the points' moments, in float64: of points on a line, or in one place, another normal."""

import torch

ZOO = {
    "row": "honest",
    "problem": "plane_normals",
    "platforms": ["cpu"],
    "rules": {},
    "expect": ["measured", "verified"],
}


def kernel(points):
    centred = points.double()
    centred = centred - centred.mean(1, keepdim=True)
    normal = torch.linalg.eigh(centred.mT @ centred).eigenvectors[..., 0]
    return torch.where(normal[:, 2:] < 0, -normal, normal).float()
