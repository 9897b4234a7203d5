"""What a problem's code draws from beside PyTorch, alike in the judge's process and in every runner."""

import random


def seed_python(seed: int) -> None:
    """Python's generator, and NumPy's where there is one."""
    random.seed(seed)
    try:
        import numpy
    except ModuleNotFoundError:
        return
    numpy.random.seed(seed % 2**32)
