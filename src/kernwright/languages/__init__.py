"""Languages, one file each."""

TABLE = {
    "cpp": "kernwright.languages.cpp:Cpp",
    "torch": "kernwright.languages.torch:Torch",
}
"""Asked in this order when a file does not say its language."""
