"""Languages, one file each."""

TABLE = {
    "cpp": "kernwright.languages.cpp:Cpp",
    "cuda": "kernwright.languages.cuda:Cuda",
    "triton": "kernwright.languages.triton:Triton",
    "torch": "kernwright.languages.torch:Torch",
}
"""Asked in this order when a file does not say its language."""
