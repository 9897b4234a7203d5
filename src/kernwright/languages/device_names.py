"""Takes every mention of a CUDA device in calls to PyTorch for another device."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_IS_CUDA = vars(torch._C.TensorBase)["is_cuda"].__get__


class Renamed(TorchFunctionMode):
    """While active, `"cuda"` and the number of a device mean `device`.

    `torch.device("cuda", 0)` is for tensors that are fake: without an index PyTorch would ask the driver which device
    is current. `torch.device("cpu")` is for kernels that an interpreter runs; tensors then say of themselves that
    they are on a GPU, which is what code that is written for one asserts.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.device:
            return self._rename(func(*args, **(kwargs or {})))
        args = tuple(map(self._rename, args))
        kwargs = {name: self._rename(value) for name, value in (kwargs or {}).items()}
        if isinstance(kwargs.get("device"), int):  # PyTorch would ask what is there for the kind of device
            kwargs["device"] = self.device
        if func is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
            args = (args[0], self.device, *args[2:])
        if func is torch.Tensor.cuda:
            tensor, *rest = args
            kwargs.pop("device", None)
            return tensor.to(self.device, *[value for value in rest if isinstance(value, bool)], **kwargs)
        if self.device.type == "cpu" and func == _IS_CUDA:  # each access of the property makes another such object
            return True
        return func(*args, **kwargs)

    def _rename(self, value: Any) -> Any:
        if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
            return self.device
        if isinstance(value, torch.device) and value.type == "cuda":
            return self.device
        return value
