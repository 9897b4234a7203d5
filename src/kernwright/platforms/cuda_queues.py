"""How many hardware queues a process with a GPU opens, which is half of what its context costs."""

import re
from collections.abc import Mapping, Sequence

_SEVERAL = re.compile(
    r"""
    (?<!current_)(?<!default_)(?<!CurrentCUDA)(?<!DefaultCUDA)[Ss]tream\s*\(
    | \.Stream\b | \bStream\s+as\b | ::stream\b             # by another name, or with braces in C++
    | [Ss]tream[Cc]reate | create_stream | [Ff]rom_?[Pp]ool | thrust::async
    | [Ss]treamPerThread | STREAM_PER_THREAD | default-stream  # beside PyTorch's own
    | [Gg]raph | reduce-overhead | max-autotune                # these modes of torch.compile replay graphs
    | LSTM | GRU | RNN | (?<![A-Za-z])(?:lstm|gru|rnn)(?![a-z]) | cudnn
    | linalg | cusolver | \.(?:
        p?inverse | s?(?:log)?det | lstsq | (?:cholesky|svd|lu)(?:_\w+)? | qr | geqrf | or[gm]qr | triangular_solve
      )\s*\(
    """,
    re.VERBOSE,
)
"""What makes streams or graphs, or calls what makes some inside. Who hides that has fewer queues, which makes nobody
faster."""


def queues(texts: Sequence[str]) -> Mapping[str, str]:
    """Environment for a process that runs these sources: one queue for kernels and one for copies where no source can
    have several streams, else the driver's own number, eight of each.

    Work in one stream goes through one queue in any case. The driver opens all of them with a context, and for one
    process at a time (CUDA C++ Programming Guide, "CUDA Environment Variables").
    """
    if not texts or any(_SEVERAL.search(text) for text in texts):
        return {}
    return {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1"}
