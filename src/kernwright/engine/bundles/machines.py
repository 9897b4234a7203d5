"""Whether all that a bundle says of its machine agrees: target, name, environment, isolation, what is known of it."""

from kernwright.core.outcome import Evaluation
from kernwright.platforms import TABLE

from .facts import Bundle, Refused, shown

PROCESSOR = "cpu"
MISSING = "isolation_missing"
STRONGEST = "namespaces"


def is_processor(target: str) -> bool:
    """Whether calls are synchronous there, and nobody knows what memory can do."""
    return target.partition(":")[0] == PROCESSOR


def require_one_machine(bundle: Bundle) -> None:
    """For a bundle whose target and isolation level are named.

    Raises:
        Refused: two statements are of two machines.
    """
    evaluation = bundle.evaluation
    if evaluation.target.partition(":")[0] in TABLE:  # what others' platforms say of themselves is theirs
        _target(evaluation)
        _name(evaluation)
    if evaluation.isolation != STRONGEST and not evaluation.environment.get(MISSING):
        raise Refused(
            "environment",
            f"the isolation was {shown(evaluation.isolation)}, and why not {STRONGEST!r} was expected "
            f"under {MISSING!r}, where nothing is",
        )
    for each in bundle.verified.timings.workloads:
        if is_processor(evaluation.target) and each.floor_ns is not None:
            raise Refused(
                "evaluation",
                f"it states a floor of {shown(each.floor_ns)} ns on {shown(each.workload)}, and none was expected: "
                "there is no datasheet of a processor's memory",
            )


def _target(evaluation: Evaluation) -> None:
    stated, target = evaluation.environment, evaluation.target
    isa, gpu = stated.get("isa"), stated.get("gpu")
    if isa is not None and target != f"{PROCESSOR}:{isa}":
        raise Refused("environment", f"its 'isa' is {shown(isa)}, and one of the target {shown(target)} was expected")
    if gpu is not None and is_processor(target):
        raise Refused("environment", f"its 'gpu' is {shown(gpu)}, and none was expected on the target {shown(target)}")


def _name(evaluation: Evaluation) -> None:
    stated, machine = evaluation.environment, evaluation.machine
    kind = PROCESSOR if is_processor(evaluation.target) else "gpu"
    model = stated.get(kind)
    # A processor that does not tell its model has the machine called by its kind.
    if model is not None and not machine.startswith((f"{model}/", f"{PROCESSOR}/")):
        raise Refused(
            "environment", f"its {kind!r} is {shown(model)}, and one of the machine {shown(machine)} was expected"
        )
    cores = stated.get("cores")
    if kind == PROCESSOR and cores is not None and f"/{cores} cores/" not in machine:
        raise Refused(
            "environment", f"its 'cores' are {shown(cores)}, and those of the machine {shown(machine)} were expected"
        )
