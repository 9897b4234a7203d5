"""What is to be computed: `Problem`, its `Workload`s, tolerance and rules."""

from dataclasses import dataclass, field
from typing import Literal

from .digest import digest

Scalar = bool | int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a candidate may do. The baseline obeys the same `precision`."""

    vendor_libraries: Literal["allowed", "forbidden"] = "allowed"
    """Whether PyTorch's own operators and BLAS-like libraries may do the work."""
    reduced_precision: bool = False
    """Whether arithmetic narrower than `precision` is accepted inside."""
    prepack: bool = False
    """Whether weights may be kept in another form between calls."""
    alias_inputs: bool = False
    """Whether an output may share memory with an input."""
    reuse_outputs: bool = False
    """Whether a call may overwrite what an earlier call returned."""
    cuda_graphs: bool = True
    """Whether a text may have launches recorded and replayed."""
    l2_hints: bool = True
    """Whether it may say what the L2 cache is to keep, drop or fetch ahead."""
    deterministic: bool = False
    """Whether two runs on the same bytes must agree bit for bit."""
    precision: str = "strict_float32"
    """`strict_float32`, `tf32`, or a dtype name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far from the oracle an output may lie.

    An output passes where its RMS error is at most the larger of `rms_ratio` x PyTorch's own
    RMS error in that dtype and `epsilon_factor` x g x scale, and its largest error at most the
    larger of `max_ratio` x PyTorch's own and twice that floor at the largest scale. g is the larger
    of one rounding of the dtype and sqrt(K) x the eps of what sums are made in, float32 or wider.
    """

    rms_ratio: float = 4.0
    max_ratio: float = 8.0
    epsilon_factor: float = 4.0
    reduction: int | None = None
    """K, the longest chain of additions behind one output element; estimated from shapes where None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One concrete set of input shapes and dtypes."""

    name: str
    params: dict[str, Scalar] = field(default_factory=dict)
    """Keyword arguments of the problem's `get_inputs` (and of `get_init_inputs` where it takes them)."""
    weight: float = 1.0
    """Share in the weighted geometric mean over workloads; any positive number."""
    held_out: bool = False
    """Checked but never timed, and not told to whoever writes candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A reference computation with the inputs on which it is to be made faster."""

    name: str
    source: str
    """Python source: a module class with `forward`, `get_inputs()`, `get_init_inputs()`."""
    workloads: tuple[Workload, ...]
    entry: str = "Model"
    tolerance: Tolerance = Tolerance()
    rules: Rules = Rules()
    backward: bool = False
    origin: str = ""
    """Where it came from, for people; not part of the identity."""

    @property
    def id(self) -> str:
        """Digest of everything but `origin`."""
        return digest((self.name, self.source, self.workloads, self.entry, self.tolerance, self.rules, self.backward))

    @property
    def timed(self) -> tuple[Workload, ...]:
        """The workloads that count, in order."""
        return tuple(w for w in self.workloads if not w.held_out)
