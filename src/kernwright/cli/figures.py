"""Numbers as a person reads them."""

from kernwright.core.outcome import Evaluation, Interval, Timings, timings_of


def speedup(value: float | None) -> str:
    """`1.234x`; a dash where it was not measured."""
    if value is None:
        return "-"
    return f"{value:.3f}x" if value < 10 else f"{value:.4g}x"


def interval(value: Interval | None) -> str:
    """`1.234x [1.200, 1.270]`."""
    if value is None:
        return "-"
    low, high = (f"{bound:.3f}" if bound < 10 else f"{bound:.4g}" for bound in (value.low, value.high))
    return f"{speedup(value.estimate)} [{low}, {high}]"


def duration(ns: float | None) -> str:
    """Nanoseconds with the unit that fits."""
    if ns is None:
        return "-"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns / size < 1000 else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def seconds(value: float) -> str:
    """Seconds up to two minutes, then minutes and hours."""
    if value < 120:
        return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def usd(value: float) -> str:
    """Dollars and cents; a sum of a few cents with parts of one."""
    return f"${value:.4f}" if 0 < value < 0.1 else f"${value:.2f}"


def size(count: float) -> str:
    """Bytes with the unit that fits."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count / factor < 1000 else f"{count / factor:.0f} {unit}"
    return f"{count:.0f} B"


def result(evaluation: Evaluation | None) -> str:
    """The speedup with its interval, where it may be believed."""
    timings: Timings | None = timings_of(evaluation.outcome) if evaluation else None
    return interval(timings.speedup) if timings else "-"
