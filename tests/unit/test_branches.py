"""What a reference does where a computed number is beyond a bound that no draw reaches is asked."""

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernwright.evaluation.probes.branches import LARGEST_BYTES, branch_ways  # noqa: E402
from kernwright.evaluation.probes.probe import Probe  # noqa: E402

HEAD = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
"""
DRAWN = """
def get_inputs():
    return [torch.randn(64, 128)]

def get_init_inputs():
    return []
"""
MUTED = """
        spectrum = torch.fft.rfft(x)
        power = spectrum.real ** 2 + spectrum.imag ** 2
        hum = power[:, 6:8].sum(-1) > 0.5 * power.sum(-1)
        return torch.where(hum[:, None], 0.0, torch.tanh(x))
"""
BOTH = """
        t = (torch.arange(128) + 0.5) * (torch.pi / 128)
        tones = torch.stack([torch.cos(t * 37), torch.cos(t * 91)], 1) / 8
        power = (x * x).sum(1, keepdim=True)
        both = ((x @ tones) ** 2 > power / 6).all(1, keepdim=True)
        return torch.where(both, 0.0, torch.tanh(x))
"""
NEVER = """
        power = (x * x).sum(1, keepdim=True)
        return torch.where(power < 0, x, torch.tanh(x))
"""
ALIKE = """
        near = x @ x.mT > 0.6 * (x * x).sum(1)
        return torch.tanh(x) * near.sum(1, keepdim=True)
"""
"""Each line is near itself, and none near another."""
COPIES = """
        x = x - x.mean(1, keepdim=True)
        x = x / x.norm(dim=1, keepdim=True)
        same = (x @ x.T > 0.9999).to(x.dtype)
        return torch.tanh(x) / same.sum(1, keepdim=True)
"""
PHASES = """
        z = x
        tone = torch.polar(torch.ones(64), -torch.arange(64) * 0.7) / 8
        found = ((z @ tone).abs() ** 2 > 0.5 * (z.abs() ** 2).sum(1))[:, None]
        return torch.where(found, 0.0, z.abs().tanh())
"""
COMB = """
        at = (torch.arange(128) + 0.5) * (torch.pi / 128)
        tones = torch.cos(at[:, None] * (9 * torch.arange(1, 9))) / 8
        power = (x * x).sum(1, keepdim=True)
        hum = ((x @ tones) ** 2 > power / 100){}
        return torch.where(hum, 0.0, torch.tanh(x))
"""
"""Each tone is in some line, all eight are in none."""
TOGETHER = {
    "all": ".all(dim=1, keepdim=True)",
    "all negated": ".logical_not().any(1).bitwise_not()[:, None]",
    "and": "; hum = hum[:, :4] & hum[:, 4:]; hum = hum[:, :2] & hum[:, 2:]; hum = (hum[:, 0] & hum[:, 1]).unsqueeze(1)",
}
PATTERN = """
        code = (torch.arange(24) ** 2 * 1103 + torch.arange(24) * 12345) % 8191 % 2 == 0
        found = ((x > 0).unfold(1, 24, 1) == code).all(-1).any(-1, keepdim=True)
        return torch.where(found, 0.0, torch.tanh(x))
"""
"""A word of signs, of which no line has all."""
GUARDED = """
        norm = (x * x).sum(1, keepdim=True).sqrt()
        return torch.where(norm > 6, x / norm, x / 6)
"""
CHANGED = """
        x = x.exp()
        x[x > 1e9] = 0
        return x
"""


FOUND = """
        t = torch.arange(128)
        code = ((t * t * 1103 + t * 12345) % 8191 % 2 * 2 - 1).to(x.dtype)
        c = (x @ code).unsqueeze(1) / ((x * x).sum(1, keepdim=True).sqrt() * 128 ** 0.5)
        {}
        return torch.tanh(x) * (1 + gain)
"""
"""A code that is so long that no draw has much of it."""
DECIDED = {
    "relu": "gain = torch.relu(c - 0.6)",
    "relu in place": "gain = torch.nn.functional.relu(c - 0.6, inplace=True)",
    "threshold": "gain = torch.nn.functional.threshold(c, 0.6, 0.0)",
    "clamp": "gain = c.clamp(min=0.6) - 0.6",
    "maximum": "gain = torch.maximum(c, torch.full_like(c, 0.6)) - 0.6",
    "hardshrink": "gain = torch.nn.functional.hardshrink(c, 0.6)",
    "sign": "gain = torch.sign(c - 0.6) + 1",
    "long": "gain = torch.tensor([0.0, 0.5, 0.9])[(c * 1.6).abs().long()]",
    "to": "gain = (c * 1.6).to(torch.int32) * 0.5",
    "trunc": "gain = torch.trunc(c * 1.6)",
    "round": "gain = torch.round(c * 0.9)",
    "argmax": "gain = torch.cat([torch.full_like(c, 0.6), c], 1).argmax(1, keepdim=True) * 0.5",
    "max of a line": "gain = torch.cat([torch.full_like(c, 0.6), c], 1).max(1, keepdim=True).indices * 0.5",
    "topk": "gain = torch.cat([torch.full_like(c, 0.6), c], 1).topk(1).indices * 0.5",
    "bucketize": "gain = torch.bucketize(c, torch.tensor([-2.0, 0.6, 2.0])) * 0.5 - 0.5",
    "searchsorted": "gain = torch.searchsorted(torch.tensor([-2.0, 0.6, 2.0]), c) * 0.5 - 0.5",
    "floor_divide": "gain = (c + 2) // 2.6 * 0.5",
    "remainder": "gain = (c + 2 - (c + 2) % 2.6) * 0.5",
    "div": "gain = (c + 2).div(2.6, rounding_mode='floor') * 0.5",
    "item": "gain = c.max().item() if c.max().item() > 0.6 else 0.0",
    "float": "gain = 1.0 if float(c.max()) > 0.6 else 0.0",
}


def led(prepared: Any, body: str, **more: Any) -> list[Probe]:
    setting = prepared(HEAD + body + DRAWN, **more)
    ways = branch_ways(setting, setting.bases[0], random.Random(1))
    return [probe for probe in (way() for way in ways) if probe is not None]


@pytest.mark.parametrize("body", [MUTED, BOTH])
def test_a_branch_that_no_draw_takes_is_taken(prepared: Any, body: str) -> None:
    probes = led(prepared, body)
    assert probes
    for probe in probes:
        assert probe.compare([*probe.case.native]).passed
    left_out = [probe.compare([torch.tanh(probe.case.values[0])]) for probe in probes]
    assert not all(verdict.passed for verdict in left_out)
    muted = [int((probe.case.native[0] == 0).all(1).sum()) for probe in probes]
    assert 0 < max(muted) < 16  # few of 64


@pytest.mark.parametrize("name", DECIDED)
def test_what_decides_without_a_comparison_is_led_to_the_other_side_too(prepared: Any, name: str) -> None:
    probes = led(prepared, FOUND.format(DECIDED[name]))
    assert any(not probe.compare([torch.tanh(probe.case.values[0])]).passed for probe in probes)
    for probe in probes:
        assert probe.compare([*probe.case.native]).passed


def test_copies_that_are_nearly_alike_are_reached_by_shorter_steps(prepared: Any) -> None:
    def kernel(x: Any) -> Any:
        x = x - x.mean(1, keepdim=True)
        return torch.tanh(x / x.norm(dim=1, keepdim=True))

    probes = led(prepared, COPIES)
    assert any(not probe.compare([kernel(probe.case.values[0])]).passed for probe in probes)
    for probe in probes:
        assert probe.compare([*probe.case.native]).passed


def test_whole_numbers_of_floating_type_are_led_to_whole_ones(prepared: Any) -> None:
    drawn = DRAWN.replace("torch.randn(64, 128)", "torch.randint(-2048, 2048, (64, 128)).float()")
    setting = prepared(HEAD + MUTED + drawn)
    assert setting.marks == {0}
    ways = branch_ways(setting, setting.bases[0], random.Random(1))
    probes = [probe for probe in (way() for way in ways) if probe is not None]
    assert any(not probe.compare([torch.tanh(probe.case.values[0])]).passed for probe in probes)
    for probe in probes:
        x = probe.case.values[0]
        assert torch.equal(x, x.round())
        assert -2048 <= float(x.min()) <= float(x.max()) < 2048
        assert probe.compare([*probe.case.native]).passed


def test_flags_are_not_led(prepared: Any) -> None:
    drawn = DRAWN.replace("torch.randn(64, 128)", "torch.randint(0, 2, (64, 128)).float()")
    setting = prepared(HEAD + MUTED + drawn)
    assert branch_ways(setting, setting.bases[0], random.Random(1))
    assert not any(way() for way in branch_ways(setting, setting.bases[0], random.Random(1)))


def test_complex_numbers_are_led_too(prepared: Any) -> None:
    drawn = DRAWN.replace("torch.randn(64, 128)", "torch.randn(64, 64, dtype=torch.complex64)")
    setting = prepared(HEAD + PHASES + drawn)
    ways = branch_ways(setting, setting.bases[0], random.Random(1))
    probes = [probe for probe in (way() for way in ways) if probe is not None]
    assert any(not probe.compare([probe.case.values[0].abs().tanh()]).passed for probe in probes)


@pytest.mark.parametrize("body", [*map(COMB.format, TOGETHER.values()), PATTERN], ids=[*TOGETHER, "pattern"])
def test_what_holds_often_but_never_together_is_led_to_hold(prepared: Any, body: str) -> None:
    probes = led(prepared, body)
    assert any(not probe.compare([torch.tanh(probe.case.values[0])]).passed for probe in probes)
    for probe in probes:
        assert probe.compare([*probe.case.native]).passed


def test_lines_that_are_near_themselves_alone_are_led_to_others(prepared: Any) -> None:
    probes = led(prepared, ALIKE)
    assert any(not probe.compare([torch.tanh(probe.case.values[0])]).passed for probe in probes)
    for probe in probes:
        assert probe.compare([*probe.case.native]).passed


def test_nothing_is_asked_where_no_way_leads(prepared: Any) -> None:
    assert led(prepared, NEVER) == []


def test_numbers_that_are_changed_in_place_are_no_matter(prepared: Any) -> None:
    for probe in led(prepared, CHANGED):
        assert probe.compare([*probe.case.native]).passed


def test_a_guard_is_borne_by_whoever_has_it(prepared: Any) -> None:
    probes = led(prepared, GUARDED)
    assert probes
    for probe in probes:
        x = probe.case.values[0]
        square = (x * x).sum(1, keepdim=True)
        assert probe.compare([torch.where(square > 36, x * square.rsqrt(), x * (1 / 6))]).passed
    assert not all(probe.compare([torch.nn.functional.normalize(probe.case.values[0])]).passed for probe in probes)


def test_nobody_is_asked_for_gradients_nor_for_what_has_no_room(prepared: Any) -> None:
    assert led(prepared, MUTED, backward=True) == []
    setting = prepared(HEAD + MUTED + DRAWN)
    setting.traffic_bytes = LARGEST_BYTES + 1
    assert branch_ways(setting, setting.bases[0], random.Random(1)) == []
