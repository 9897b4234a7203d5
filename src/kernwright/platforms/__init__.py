"""Platforms, one file each."""

TABLE = {
    "cpu": "kernwright.platforms.cpu:Cpu",
}

ARCHITECTURES = {
    "cpu": ("x86-64-v2", "x86-64-v3", "x86-64-v4"),
    "cuda": ("sm_80", "sm_90a", "sm_100a"),
    "rocm": ("gfx942", "gfx950"),
}
"""What a run may be for although this machine lacks it."""
