"""Who gets how many hardware queues."""

import pytest

from kernwright.platforms.cuda_queues import queues

ONE = {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1"}


@pytest.mark.parametrize(
    "text",
    [
        "kernel[(4,)](x, out)",
        "lib.add(grid, block, torch.cuda.current_stream().cuda_stream)",
        "torch.cuda.default_stream()",
        "auto stream = at::cuda::getCurrentCUDAStream();",
        "# streams rows through shared memory",
        "c10::cuda::CUDAStream stream = at::cuda::getDefaultCUDAStream();",
        "void launch(cuda::stream_ref stream);",
        "constexpr int ITEMS_PER_THREAD = 4; int rows_per_thread;",
        "table.lut(x); grunt; detach(); x.detach()",
    ],
)
def test_one_where_all_work_is_in_one_stream(text: str) -> None:
    assert queues([text]) == ONE


@pytest.mark.parametrize(
    "text",
    [
        "side = torch.cuda.Stream()",
        "with torch.cuda.stream(side):",
        "cudaStreamCreateWithFlags(&s, 1)",
        "driver.cuStreamCreate(0)",
        "device.create_stream()",
        "at::cuda::getStreamFromPool()",
        "g = torch.cuda.CUDAGraph()",
        "cudaGraphLaunch(g, s)",
        "self.lstm = torch.nn.LSTM(4, 4)",
        "torch.ops.aten.lstm",
        "torch.linalg.inv(x)",
        "torch.ops.aten.linalg_inv_ex",
        "torch.inverse(x)",
        "x.logdet()",
        "torch.slogdet(x)",
        "torch.cholesky_solve(b, x)",
        "torch.lu_solve(b, x, pivots)",
        "torch.svd(x)",
        "torch.rnn_tanh(x, h, weights)",
        "from torch.cuda import Stream as Side",
        "make = torch.cuda.Stream",
        "cuda::stream side{cuda::device_ref{0}};",
        "thrust::async::reduce(first, last)",
        "add<<<grid, block, 0, cudaStreamPerThread>>>(x);",
        "driver.CU_STREAM_PER_THREAD",
        'flags = ["--default-stream=per-thread"]',
        'torch.compile(forward, mode="reduce-overhead")',
        'torch.compile(forward, mode="max-autotune")',
    ],
)
def test_the_drivers_own_number_where_there_may_be_several(text: str) -> None:
    assert queues(["x = 1", text]) == {}


def test_the_drivers_own_number_where_nothing_is_known() -> None:
    assert queues([]) == {}
