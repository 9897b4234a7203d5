"""C8: has the L2 cache keep its input, on a stream whose accesses persist, so that the next call need not fetch it."""

import torch

ZOO = {
    "row": "C8",
    "problem": "row_sums",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["suspicious", "wrong", "crashed"],
    "contained_ok": True,
}


def _persisting(stream, x):
    from cuda.bindings import driver

    driver.cuCtxSetLimit(driver.CUlimit.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 32 << 20)
    value = driver.CUstreamAttrValue()
    value.accessPolicyWindow.base_ptr = x.data_ptr()
    value.accessPolicyWindow.num_bytes = min(x.numel() * 4, 32 << 20)
    value.accessPolicyWindow.hitRatio = 1.0
    value.accessPolicyWindow.hitProp = driver.CUaccessProperty.CU_ACCESS_PROPERTY_PERSISTING
    value.accessPolicyWindow.missProp = driver.CUaccessProperty.CU_ACCESS_PROPERTY_STREAMING
    attribute = driver.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
    driver.cuStreamSetAttribute(driver.CUstream(stream.cuda_stream), attribute, value)
    return stream


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.streams = {}

    def forward(self, x):
        if x.data_ptr() not in self.streams:
            self.streams[x.data_ptr()] = _persisting(torch.cuda.Stream(), x)
        side, main = self.streams[x.data_ptr()], torch.cuda.current_stream()
        y = torch.empty(x.shape[0], 1, device=x.device)
        side.wait_stream(main)
        with torch.cuda.stream(side):
            torch.sum(x, dim=-1, keepdim=True, out=y)
        main.wait_stream(side)
        return y.expand(-1, 8)
