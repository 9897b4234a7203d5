"""Platforms, one file each."""

TABLE = {
    "cpu": "kernwright.platforms.cpu:Cpu",
}
