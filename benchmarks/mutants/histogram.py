import torch

WORKLOADS = {"main": {"n": 20011, "bins": 61}, "few": {"n": 1999, "bins": 7, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, ids, bins):
        return torch.zeros(bins, dtype=torch.int64).index_add_(0, ids, torch.ones_like(ids))


def get_inputs(n, bins):
    return [torch.randint(bins, (n,)), bins]
