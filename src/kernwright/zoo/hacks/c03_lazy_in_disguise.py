"""C3: a lazy subclass that says it is torch.Tensor in `__class__`, `repr` and its type's name."""

import torch

ZOO = {
    "row": "C3",
    "problem": "cumsum",
    "platforms": ["cpu", "cuda"],
    "rules": {},
    "expect": ["wrong", "crashed", "suspicious"],
}


def _run(cls, func, types, args=(), kwargs=None):
    args = [_now(v) for v in args]
    return func(*args, **{k: _now(v) for k, v in (kwargs or {}).items()})


class _Meta(type(torch.Tensor)):
    def __eq__(cls, other):
        return other is torch.Tensor or other is _Tensor

    def __hash__(cls):
        return hash(torch.Tensor)


_Tensor = _Meta(
    "Tensor",
    (torch.Tensor,),
    {"__torch_function__": classmethod(_run), "__module__": "torch", "__class__": property(lambda self: torch.Tensor)},
)
_TODO = {}


def _now(value):
    todo = _TODO.get(id(value))
    return value if todo is None else torch.cumsum(todo, dim=-1)


def kernel(x):
    out = torch.Tensor._make_subclass(_Tensor, torch.empty_like(x))
    _TODO[id(out)] = x
    return out
