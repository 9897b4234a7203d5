"""Where evaluations run, one file each."""

TABLE = {
    "inline": "kernwright.engine.executors.inline:Inline",
    "processes": "kernwright.engine.executors.processes:Processes",
}
