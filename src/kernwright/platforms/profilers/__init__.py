"""What looks at candidates on each kind of device, one file each."""

TABLE = {
    "cpu": "kernwright.platforms.profilers.cpu:Cpu",
    "cuda": "kernwright.platforms.profilers.cuda:Cuda",
}
"""By the platform's name."""
