"""Importing the package does nothing: no heavy module, and quickly."""

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "numpy", "scipy", "pydantic", "sqlalchemy", "typer", "rich", "optuna")
LIMIT_S = 0.150
"""Of processor time, which does not depend on what else the machine does."""
_IMPORT = """\
import json, sys, time
before = set(sys.modules)
start = time.process_time()
import {name}
spent = time.process_time() - start
print(json.dumps([spent, sorted({{m.partition(".")[0] for m in set(sys.modules) - before}})]))
"""


@pytest.mark.parametrize("name", ["kernwright", "kernwright.api"])
def test_importing_loads_nothing_heavy_and_is_quick(name: str) -> None:
    spent, loaded = [], set()
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", _IMPORT.format(name=name)], capture_output=True, text=True, check=True
        )
        seconds, modules = json.loads(done.stdout)
        spent.append(seconds)
        loaded |= set(modules)
    assert "kernwright" in loaded
    assert not loaded & set(HEAVY)
    assert min(spent) <= LIMIT_S


def test_help_loads_no_store_and_no_torch() -> None:
    code = (
        "import sys; from kernwright.cli.main import run; code = run(['--help']); "
        f"print('LOADED', code, sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "judge" in done.stdout
    loaded = done.stderr.rpartition("LOADED 0 ")[2]
    assert loaded
    assert not {"torch", "numpy", "pydantic", "sqlalchemy", "optuna"} & set(json.loads(loaded.replace("'", '"')))
