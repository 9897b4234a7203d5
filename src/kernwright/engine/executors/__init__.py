"""Where evaluations run, one file each."""

TABLE = {
    "inline": "kernwright.engine.executors.inline:Inline",
    "jobs": "kernwright.engine.executors.jobs:Jobs",
    "processes": "kernwright.engine.executors.processes:Processes",
}
