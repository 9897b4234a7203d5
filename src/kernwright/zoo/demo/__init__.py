"""The demo: a problem, and a recording of kernels that a model wrote for it through `ask` and `tell`."""
