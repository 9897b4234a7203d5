"""Processes that tests start find the package in the checkout, installed or not."""

import os
from pathlib import Path

SOURCE = str(Path(__file__).parents[2] / "src")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (SOURCE, os.environ.get("PYTHONPATH"))))
