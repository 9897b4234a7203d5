"""Keys stay in the environment; what needs none gets none."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from kernwright.core.errors import UserError
from kernwright.core.secrets import require_keyless, scrubbed, without_secrets

KEY = "abcdefgh-0123456789"


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "KERNWRIGHT_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "api_key", "KEY"],
)
def test_a_process_that_needs_no_key_gets_none(name: str) -> None:
    assert without_secrets({name: KEY, "PATH": "/bin", "KEYBOARD": "us", "MONKEY": "x"}) == {
        "PATH": "/bin",
        "KEYBOARD": "us",
        "MONKEY": "x",
    }


def test_the_value_of_a_key_is_taken_out_of_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("SHORT_TOKEN", "a")
    for shapes in (True, False):
        assert scrubbed(f"a key: {KEY}, again {KEY}.", shapes=shapes) == "a key: [key], again [key]."


@pytest.mark.parametrize(
    "text", ["sk-proj-abc123def456", "Bearer abc.def", "bearer x", "AIzaSyA1234567890abcdefghijk", "hf_abcdefghijkl"]
)
def test_what_looks_like_a_key_goes_from_errors_and_stays_in_source(text: str) -> None:
    assert scrubbed(f"<{text}>").startswith("<[key]")
    assert scrubbed(text, shapes=False) == text


@pytest.mark.parametrize("text", ["sk = softmax_kernel(x)", "risk-free-method", "task-oriented-name", "the bearer"])
def test_innocent_words_stay(text: str) -> None:
    assert scrubbed(text) == text


def test_what_is_to_be_kept_may_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    for text in (
        f"codex --key {KEY}",
        "http://h/v1/sk-proj-abc123def456ghi789",
        "curl -H 'Bearer abc.def.ghi.jkl.mno'",
    ):
        with pytest.raises(UserError, match="The setting 'x' holds a key, and the journal would keep it"):
            require_keyless(text, "The setting 'x'")
    for text in ("/opt/sk-learn/bin/agent", "/home/hf_models_of_a_group/a", "the bearer of news"):
        require_keyless(text, "The setting 'x'")


@pytest.mark.parametrize("model", ["openai:gpt-5", "anthropic:x"])
def test_a_core_install_says_what_to_install(tmp_path: Path, model: str) -> None:
    packages = Path(sysconfig.get_path("purelib"))
    for entry in packages.iterdir():
        if not entry.name.startswith(("pydantic_ai", "genai", "jinja2", "Jinja2", "_", "kernwright")):
            (tmp_path / entry.name).symlink_to(entry)
    source = Path(__file__).parents[2] / "src"
    (tmp_path / "problem.py").write_text("class Model:\n    pass\n")
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(source)!r}]; "
        f"from kernwright.cli.main import run; sys.exit(run(['evolve', 'problem.py', '--model', {model!r}, '--json']))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "pip install 'kernwright[models]'" in json.loads(done.stdout)["error"]
