"""The import contracts hold, and notice when they do not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VIOLATIONS = {
    "src/kernwright/core/planted.py": "import kernwright.engine\n",
    "src/kernwright/core/planted_library.py": "import pydantic\n",
    "src/kernwright/search/planted.py": "import kernwright.evaluation\n",
    "src/kernwright/knowledge/planted.py": "import kernwright.store\n",
    "src/kernwright/evaluation/runner/planted.py": "import kernwright.store\n",
    "src/kernwright/engine/planted.py": "import kernwright.testing\n",
}


def _lint(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the linter over `root`, whose `src` comes before the installed package."""
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
        capture_output=True,
        text=True,
    )


def test_the_arrows_point_down() -> None:
    done = _lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_planted_violations_are_caught(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in VIOLATIONS.items():
        (tmp_path / name).write_text(text)
    done = _lint(tmp_path)
    assert done.returncode == 1
    broken = [line for line in done.stdout.splitlines() if " BROKEN" in line]
    assert len(broken) == 4, done.stdout
    for name in VIOLATIONS:
        module = name.removeprefix("src/").removesuffix(".py").replace("/", ".")
        assert module in done.stdout, f"{module} was not noticed"
