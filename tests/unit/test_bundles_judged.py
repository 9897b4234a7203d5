"""The bundle of a real run: written beside the kernel, checked, edited, signed."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bundle_edits import every_field_is_refused

pytest.importorskip("torch")

from kernwright import api
from kernwright.cli.main import run as command
from kernwright.core.errors import UserError
from kernwright.core.plan import FULL, QUICK
from kernwright.engine.bundles.document import read, write
from kernwright.engine.bundles.facts import Refused
from kernwright.engine.reading import export_recording

pytestmark = pytest.mark.judged

PROBLEM = """\
import torch

WORKLOADS = {"small": {"cols": 512}, "wide": {"cols": 768, "weight": 2.0}, "secret": {"cols": 640, "held_out": True}}


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x * 2.0 + 1.0)


def get_inputs(cols):
    return [torch.randn(64, cols)]
"""
PLAN = replace(FULL, name="eager alone", baselines=("eager",), short_sets=0)
CANDIDATE = "import torch\n\n\ndef kernel(x):\n    return torch.mul(x, 2.0).add_(1.0).relu_()\n"


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Path:
    """Of one run with one verified candidate."""
    folder = informed(tmp_path_factory.mktemp("bundles"))
    (folder / "problem.py").write_text(PROBLEM)
    (folder / "kernel.py").write_text(CANDIDATE)
    api.evolve(
        folder / "problem.py",
        start=[folder / "kernel.py"],
        home=folder,
        operators=(),
        plan=replace(QUICK, baselines=("eager",)),
        confirm_plan=PLAN,
    )
    return folder


@pytest.fixture(scope="session")
def bundle(home: Path) -> Path:
    done = api.export("latest", home / "champion.py", home=home)
    assert done.bundle is not None, done.without
    return done.bundle


def test_export_writes_kernel_and_evidence(home: Path, bundle: Path) -> None:
    assert bundle == home / "champion.bundle.json"
    verdict = api.verify(bundle)
    assert (verdict.status, verdict.signed) == ("consistent", "not signed")
    header = (home / "champion.py").read_text()
    assert f"# evidence: champion.bundle.json, bundle {verdict.sealed.id}" in header
    again = api.export("latest", home / "again.py", home=home).bundle
    assert again is not None
    assert again.read_bytes() == bundle.read_bytes()


def test_all_that_the_verdict_rests_on_is_inside(bundle: Path) -> None:
    inside = read(bundle.read_bytes()).bundle
    evaluation, timings = inside.evaluation, inside.verified.timings
    assert inside.problem.source == PROBLEM
    assert inside.problem.origin == "problem.py"
    assert inside.candidate.main.text == CANDIDATE
    assert inside.plan == PLAN
    assert {s.process_set for s in timings.samples} == set(range(5))
    assert len(timings.samples) == 5 * 2 * 2
    assert len(inside.verified.first_samples) == 2 * 2
    assert timings.aa_log_ratios.keys() == {"small", "wide"}
    assert evaluation.environment.keys() >= {"torch", "kernwright", "cpu"}
    assert len(evaluation.seeds) == 1
    assert evaluation.isolation
    assert write(inside) == bundle.read_bytes()


def test_every_single_field_edited_is_refused(bundle: Path) -> None:
    every_field_is_refused(bundle.read_bytes())


def test_the_command_line(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["verify", str(bundle)]) == 0
    assert capsys.readouterr().out.startswith("consistent: problem, bundle ")
    assert command(["verify", str(bundle), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["status"], said["again"]) == ("consistent", None)
    edited = tmp_path / "edited.json"
    edited.write_bytes(bundle.read_bytes().replace(b".add_(1.0)", b".add_(1.5)"))
    assert command(["verify", str(edited)]) == 1
    assert capsys.readouterr().err.startswith("refused: candidate: it was edited")
    assert command(["verify", str(edited), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["status"], said["part"]) == ("refused", "candidate")
    assert command(["verify", str(tmp_path / "none.json")]) == 2


def test_what_is_there_is_not_overwritten(home: Path, bundle: Path) -> None:
    with pytest.raises(UserError, match="choose another name with --bundle"):
        api.export("latest", home / "third.py", bundle=bundle, home=home)
    assert not (home / "third.py").exists()


def test_a_recording_without_samples_has_none_of_the_first_measurement_either(home: Path, tmp_path: Path) -> None:
    export_recording(home, "latest", tmp_path / "run.jsonl", samples=False)
    assert '"device_ns"' not in (tmp_path / "run.jsonl").read_text()


def test_signatures(home: Path, bundle: Path, tmp_path: Path) -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    from cryptography.hazmat.primitives import serialization as form

    files = []
    for name in ("mine", "other"):
        key = ed25519.Ed25519PrivateKey.generate()
        pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        (tmp_path / f"{name}.pem").write_bytes(pem)
        public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
        (tmp_path / f"{name}.pub").write_bytes(public)
        files.append(tmp_path / f"{name}.pub")
    mine, others = files
    signed = api.export("latest", tmp_path / "kernel.py", sign=tmp_path / "mine.pem", home=home).bundle
    assert signed is not None
    assert api.verify(signed, key=mine).known_signer
    assert "whose key that is" in api.verify(signed).signed
    assert read(signed.read_bytes()).id == read(bundle.read_bytes()).id
    with pytest.raises(Refused, match="was expected"):
        api.verify(signed, key=others)
    with pytest.raises(Refused, match="it is not signed"):
        api.verify(bundle, key=mine)
    for name in ("public_key", "ed25519"):
        document = json.loads(signed.read_bytes())
        first = document["signature"][name][0]
        document["signature"][name] = ("1" if first == "0" else "0") + document["signature"][name][1:]
        forged = tmp_path / "forged.json"
        forged.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n")
        for key in (mine, None):
            with pytest.raises(Refused, match=r"^signature: "):
                api.verify(forged, key=key)
    with pytest.raises(UserError, match="no public key"):
        api.verify(signed, key=tmp_path / "mine.pem")
    with pytest.raises(UserError, match="no private key"):
        api.export("latest", tmp_path / "second.py", sign=mine, home=home)


def test_without_the_extra_the_sentence_says_what_to_install(home: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from kernwright.cli.main import run\nsys.exit(run(sys.argv[1:]))"
    )
    arguments = ["export", "latest", "-o", str(tmp_path / "k.py"), "--sign", "key.pem", "--home", str(home)]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'kernwright[sign]'" in done.stderr
