"""Kernwright: faster kernels for PyTorch computations, with evidence.

Importing this package does nothing; `kernwright.api` is the door for Python programs.
"""

__version__ = "0.1.0"
