"""The problem's own code, run in the judge's process: inputs, weights, outputs and the oracle."""

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, cast

import torch

from kernwright.core.errors import UserError, first_line
from kernwright.core.loading import import_file
from kernwright.core.nesting import nested, unnested
from kernwright.core.plan import Limits
from kernwright.core.problem import Problem, Workload
from kernwright.evaluation.drawing.origins import Made, origins_of
from kernwright.evaluation.drawing.provenance import Origins
from kernwright.evaluation.numbers import same_bytes, widened
from kernwright.evaluation.participants.scratch import make_folder, remove
from kernwright.evaluation.runner import precision
from kernwright.evaluation.runner.keys import keys_of
from kernwright.evaluation.runner.seeds import seed_python
from kernwright.evaluation.runner.structure import flatten
from kernwright.evaluation.weights.beside import drawn_beside, drawn_plain, mark
from kernwright.evaluation.weights.state import state_of, train, vary

from .bounds import Bounds
from .cases import Asked, Case, Ready, Values
from .casts import Casts
from .deadline import Overdue, deadline
from .gradients import Slope, back_and_forth, directions, result_names, slopes_of
from .kinds import fit_for_sketch, require_inputs, require_outputs, require_returned, require_weights
from .known import Known
from .own_limits import limits_of, own_type
from .place import HOST, Place
from .turns import Turns
from .wider import wide_if_room


class TooLarge(UserError):
    """Memory did not suffice for what the problem's code was asked."""


def is_shortage(error: BaseException) -> bool:
    """Whether an allocation failed, on a device or on the host."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "allocate" in str(error)


@dataclass(frozen=True, slots=True)
class Sketch:
    """Of what size a workload is."""

    inputs: Values
    """Arguments; tensors without memory."""
    other_bytes: int | None
    """Of weights and outputs; None where that could not be found out without running it."""


class Reference:
    """A loaded problem.

    Raises:
        UserError: the file does not import, lacks something, or its code fails; one sentence.
    """

    def __init__(self, problem: Problem, limit_s: float = Limits().reference_s, place: Place = HOST) -> None:
        self.problem = problem
        self.place = place
        self._limit_s = limit_s
        self.notes: list[str] = []
        self.known = Known()
        self.turns = Turns()
        self.has_all_memory = True
        """Whether no other evaluation may hold some of the device's memory."""
        self._sketches: dict[str, Sketch] = {}
        self._slopes: dict[str, tuple[Slope, ...]] = {}
        self._known_made: dict[str, Made] = {}
        self._plain: dict[str, tuple[str, ...]] = {}
        """Of each workload, tensors beside parameters and buffers that the module's seed decides."""
        self.keys: Any = None
        """Of the latest results, as a runner is told, where these are dictionaries."""
        self._nestings: list[Any] = []
        """How `get_inputs` nests its tensors, once it was called."""
        self._mutates = True
        """Whether the reference may change its inputs, so that it gets copies."""
        self._bounds = Bounds(place.device)
        self.casts = Casts()
        self._folder = make_folder()
        self.path = self._folder / "problem.py"
        self.path.write_text(problem.source)
        self._on_host: set[str] = set()
        self._cast = precision.NARROW.get(problem.rules.precision)
        precision.pin(problem.rules.precision)
        self._module: ModuleType = self._run("importing it", lambda: import_file(self.path, "kernwright_problem"))

    def close(self) -> None:
        """Remove the copy of the source."""
        remove(self._folder)

    def sketch(self, workload: Workload) -> Sketch:
        """Its sizes, found without memory where the problem's code allows that."""
        if workload.name not in self._sketches:
            self._sketches[workload.name] = self.sketched(workload)
        return self._sketches[workload.name]

    def sketched(self, workload: Workload, around: Callable[[Callable[[], Any]], Any] = lambda call: call()) -> Sketch:
        """The same, made anew, for whoever watches how: `around` is given the forward pass, and makes it."""
        make, build = self._member("get_inputs"), self._member(self.problem.entry)
        try:
            with torch.device("meta"):
                values = self._unnested(self._run("get_inputs()", lambda: make(**_accepted(make, workload))))
        except UserError:  # a generator may need numbers that the meta device does not have
            values = None
        if not fit_for_sketch(values):
            return Sketch([_bodiless(v) for v in self._drawn(workload, 0)], None)
        try:
            with torch.device("meta"), torch.no_grad():
                model = self._run("its model", lambda: build(*self.init(workload)).eval())
                call = nested(model, self.nesting)
                given = self._run("its forward()", lambda: around(lambda: call(*values)))
        except UserError:
            return Sketch(list(values), None)
        leaves = [*state_of(model).values(), *flatten(given)]
        return Sketch(list(values), sum(t.numel() * t.element_size() for t in leaves if isinstance(t, torch.Tensor)))

    def inputs(self, workload: Workload, seed: int) -> Values:
        """What `get_inputs` gives under this seed; then, where gradients are asked for, what these are taken along."""
        return [*self._drawn(workload, seed), *directions(self.slopes(workload), seed, self.place.device)]

    def slopes(self, workload: Workload) -> tuple[Slope, ...]:
        """Outputs that have a gradient; empty where none is asked for."""
        if not self.problem.backward:
            return ()
        if workload.name not in self._slopes:
            model, values = self.model(workload, self.init(workload), 0, None), self._drawn(workload, 0)
            known = next(iter(self._slopes.values()), None)
            call = nested(model, self.nesting)
            found = self._run("its forward()", lambda: slopes_of(call, values, self.problem.name, known))
            self._slopes[workload.name] = found
        return self._slopes[workload.name]

    def origins(self, workload: Workload) -> Origins:
        """How `get_inputs` makes each argument; of what gradients are taken along nothing is known."""
        return [*self.how_made(workload).origins, *([None] * len(self.slopes(workload)))]

    def how_made(self, workload: Workload) -> Made:
        """The same, and which of its plain numbers are always the same."""
        if workload.name not in self._known_made:
            self._drawn(workload, 0)  # tells of odd kinds; within the watch, to look at a tensor would be to use it
            self._known_made[workload.name] = origins_of(partial(self._generated, workload), self.place.device)
        return self._known_made[workload.name]

    def _generated(self, workload: Workload, seed: int) -> Any:
        make = self._member("get_inputs")
        return self._unnested(self._made(lambda: make(**_accepted(make, workload)), "get_inputs()", seed))

    def _unnested(self, given: Any) -> Any:
        """Inputs one after the other; what is no list stays as it is."""
        if not isinstance(given, list | tuple):
            return given
        values, nesting = unnested(given, torch.is_tensor)
        if not self._nestings:
            self._nestings.append(nesting)
        elif nesting != self._nestings[0]:
            raise UserError(
                f"problem {self.problem.name!r}: get_inputs() nests its tensors in lists, tuples or dicts otherwise "
                "at one time than at another; give as many, under the same keys, for every workload and seed."
            )
        return values

    @property
    def nesting(self) -> Any:
        """How inputs are nested (`unnested`), once some were made."""
        return self._nestings[0] if self._nestings else None

    def _drawn(self, workload: Workload, seed: int) -> Values:
        values = require_inputs(self._generated(workload, seed), self.problem.name)
        return [self._placed(v) if isinstance(v, torch.Tensor) else v for v in values]

    def _made(self, make: Callable[[], Any], what: str, seed: int) -> Any:
        """What the problem's code makes, on the device where it can; what insists on the host is moved later."""
        if what not in self._on_host and self.place.device != "cpu":
            self._seed(seed)
            try:
                with torch.device(self.place.device):
                    return self._run(what, make)
            except UserError:
                self._on_host.add(what)
        self._seed(seed)
        return self._run(what, make)

    def _seed(self, seed: int) -> None:
        self._seed_torch(seed)
        seed_python(seed)

    def _seed_torch(self, seed: int) -> None:
        """As torch.manual_seed, which also formats a traceback for every kind of device that is not there."""
        torch.default_generator.manual_seed(seed)
        if self.place.device != "cpu":
            torch.get_device_module(torch.device(self.place.device)).manual_seed(seed)

    def _placed(self, tensor: torch.Tensor) -> torch.Tensor:
        cast = self._cast if self._cast is not None and tensor.is_floating_point() else tensor.dtype
        return tensor.detach().to(device=self.place.device, dtype=cast)

    def init(self, workload: Workload) -> Values:
        """What `get_init_inputs` gives; empty where the file has none."""
        make = getattr(self._module, "get_init_inputs", None)
        if make is None:
            return []
        values = self._run("get_init_inputs()", lambda: make(**_accepted(make, workload)))
        return list(values)

    def model(self, workload: Workload, init: Values, seed: int, state_seed: int | None) -> torch.nn.Module:
        """A module in eval mode, built under `seed`; constant weights are varied under `state_seed`, all where weights
        may be packed.

        Weights that are all equal (a fresh norm's ones and zeros) would let a candidate that ignores
        them pass, so they get noise; None leaves them.
        """
        build = self._member(self.problem.entry)
        model: torch.nn.Module = self._made(lambda: build(*init), f"{self.problem.entry}()", seed)
        if workload.name not in self._plain:
            again = partial(self._made, lambda: build(*init), f"{self.problem.entry}()")
            self._plain[workload.name] = drawn_plain(model, lambda more: again(seed + more))
        mark(model, self._plain[workload.name])
        require_weights(model, self.problem.name)
        self._run("moving its weights", lambda: model.to(device=self.place.device, dtype=self._cast))
        model.eval()
        if state_seed is not None:
            generator = torch.Generator(self.place.device).manual_seed(state_seed)
            if self.problem.rules.prepack:  # where no weights change once they are packed
                train(model, generator)
            for tensor in state_of(model).values():
                vary(tensor, generator)
        return model

    def case(
        self,
        model: torch.nn.Module,
        double: torch.nn.Module | None,
        values: Values,
        label: str,
        seed: int,
        fan_in: tuple[float, ...] = (),
        lean: bool = False,
    ) -> Case:
        """Run the reference on these values; the oracle when asked for. `lean`: what makes it lives no longer."""
        native, again = self._forward(model, values), partial(self._forward, model)
        if lean:
            make = partial(wide_if_room, self, model, values, native)
            return Asked(values, native, label, seed, make, fan_in, again=again)
        if double is None:
            return Ready(values, native, native, label, seed, fan_in)
        wide = partial(self.wide, double)
        return Asked(values, native, label, seed, lambda: wide(values), fan_in, wide, again)

    def wide(self, double: torch.nn.Module, values: Values) -> list[torch.Tensor]:
        """What the reference gives in float64."""
        previous = torch.get_default_dtype()
        own = own_type(values, self._cast or previous)
        torch.set_default_dtype(torch.float64)
        try:
            with limits_of(own), self.casts.left_out(own, previous):
                return self._forward(double, [widened(v) for v in values])
        finally:
            torch.set_default_dtype(previous)

    @property
    def built_on_host(self) -> bool:
        """Whether the module insists on being constructed on the host, and is moved afterwards."""
        return f"{self.problem.entry}()" in self._on_host

    @property
    def mutates(self) -> bool:
        """Whether the reference changed its inputs when it was last looked at."""
        return self._mutates

    def outputs(self, model: torch.nn.Module, values: Values, seed: int = 0) -> list[torch.Tensor]:
        """What the reference gives for these values when the random generator begins at this seed."""
        return self._forward(model, values, seed)

    def see_whether_it_mutates(self, model: torch.nn.Module, values: Values) -> list[torch.Tensor]:
        """Run once on copies and compare: a reference that leaves its inputs alone needs no copies later.

        Returns what it gave.

        Raises:
            UserError: it leaves something in an input that is no output.
        """
        copies = [v.clone() if isinstance(v, torch.Tensor) else v for v in values]
        before = {name: (tensor.clone(), tensor.data_ptr()) for name, tensor in _held(model).items()}
        self._mutates = False
        outputs = self._forward(model, copies)
        self._bounds.learn()
        pairs = enumerate(zip(copies, values, strict=True))
        changed = {n: c for n, (c, v) in pairs if isinstance(v, torch.Tensor) and not same_bytes(c, v)}
        self._mutates = bool(changed)
        require_returned(changed, outputs, self.problem.name)
        beside = drawn_beside(model)
        for name, tensor in _held(model).items():
            known, place = before.get(name, (tensor, 0))
            if not same_bytes(tensor, known) or (name in beside and tensor.data_ptr() != place):
                self.note(f"a call changes {name!r} of the module, and what it leaves there is not compared")
                self._plain = {each: tuple(n for n in names if n != name) for each, names in self._plain.items()}
        mark(model, tuple(name for name in beside if any(name in each for each in self._plain.values())))
        return outputs

    def _forward(self, model: torch.nn.Module, values: Values, seed: int = 0) -> list[torch.Tensor]:
        if self._mutates:
            values = [v.clone() if isinstance(v, torch.Tensor) else v for v in values]
        self._seed_torch(seed)
        slopes = next(iter(self._slopes.values()), ())
        call = back_and_forth(model, slopes, self._seen(model)) if slopes else self._seen(model)
        with torch.no_grad(), self._bounds.watched():
            result = self._run("its forward()", lambda: call(*values))
        names = partial(result_names, model, values, slopes, keys=self.keys)
        leaves = require_outputs(result, self.problem.name, names)
        made = [torch.as_tensor(v, device=self.place.device).detach() for v in leaves]
        buffers = (
            {b.untyped_storage().data_ptr() for b in model.buffers()} if isinstance(model, torch.nn.Module) else ()
        )
        # The next call may change them.
        return [v.clone() if buffers and v.untyped_storage().data_ptr() in buffers else v for v in made]

    def _seen(self, model: torch.nn.Module) -> Callable[..., Any]:
        """The same call, of values one after the other; what its results are called is noted."""
        inner = nested(model, self.nesting)

        def call(*values: Any) -> Any:
            result = inner(*values)
            self.keys = keys_of(result)
            return result

        return call

    def _member(self, name: str) -> Callable[..., Any]:
        member = getattr(self._module, name, None)
        if not callable(member):
            raise UserError(f"problem {self.problem.name!r} has no {name}; define it at module level.")
        return cast(Callable[..., Any], member)

    def _run(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            with deadline(self._limit_s):
                return call()
        except Overdue as error:
            raise UserError(
                f"problem {self.problem.name!r}: {what} was stopped: {error}. Make its workloads smaller."
            ) from error
        except (MemoryError, RuntimeError) as error:
            if is_shortage(error):
                raise TooLarge(
                    f"problem {self.problem.name!r} needs more memory than there is: {what} failed with "
                    f"{first_line(error)}. Make its workloads smaller."
                ) from error
            raise self._failed(what, error) from error
        except UserError:
            raise
        except (Exception, SystemExit) as error:
            raise self._failed(what, error) from error

    def _failed(self, what: str, error: BaseException) -> UserError:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(self.path)]
        where = f" at line {frames[-1].lineno}" if frames else ""
        return UserError(
            f"problem {self.problem.name!r}: {what} failed{where} with {type(error).__name__}: {first_line(error)}."
        )

    def note(self, text: str) -> None:
        """Something that a reader of the figures must know; said once."""
        if text not in self.notes:
            self.notes.append(text)


def _accepted(function: Callable[..., Any], workload: Workload) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(workload.params)
    return {name: value for name, value in workload.params.items() if name in parameters}


def _held(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """What a call may change: buffers, and what its seed draws beside them."""
    trained = dict(model.named_parameters()) if isinstance(model, torch.nn.Module) else {}
    return {name: tensor for name, tensor in state_of(model).items() if name not in trained}


def _bodiless(value: Any) -> Any:
    return value.to("meta") if isinstance(value, torch.Tensor) else value
