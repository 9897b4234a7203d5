"""Where problems come from: one source per file, looked up by name."""

TABLE = {
    "file": "kernwright.problems.file:File",
    "kernelbench": "kernwright.problems.kernelbench:KernelBench",
}
