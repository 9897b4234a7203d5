"""Kinds of device, one file each."""

TABLE = {
    "cpu": "kernwright.platforms.cpu:Cpu",
    "cuda": "kernwright.platforms.cuda:Cuda",
    "rocm": "kernwright.platforms.rocm:Rocm",
}
