"""Which job is done next, with several workers on the jobs of several problems."""

import asyncio
from dataclasses import replace

from engine_runs import spec

from kernwright.engine.jobs.facts import Job, Kind
from kernwright.engine.jobs.queue import Queue


def job(kind: Kind, problem: str, node: int, candidate: str = "") -> Job:
    settings = spec()
    return Job(
        kind=kind,
        run=f"run-{problem}",
        problem=problem,
        problem_blob="",
        spec=settings,
        node=node,
        candidate=candidate or f"{problem}{node}",
    )


def said(jobs: list[Job]) -> list[str]:
    return [f"{each.kind} {each.problem}{each.node}" for each in jobs]


def test_a_worker_stays_with_its_problem_and_takes_another_kind_only_then() -> None:
    async def worked() -> list[Job]:
        written = [job("seeds", "a", 9), job("judge", "a", 0), job("judge", "b", 0), job("judge", "a", 1)]
        return [each async for each in Queue(written, lambda _: 0.0).taken()]

    assert said(asyncio.run(worked())) == ["judge a0", "judge a1", "judge b0", "seeds a9"]


def test_what_is_new_is_judged_before_the_best_is_confirmed() -> None:
    async def worked() -> list[Job]:
        written = [replace(job("judge", "a", 0), purpose="confirm"), job("judge", "b", 1), job("judge", "a", 2)]
        return [each async for each in Queue(written, lambda _: 0.0).taken()]

    assert said(asyncio.run(worked())) == ["judge b1", "judge a2", "judge a0"]


def test_workers_spread_over_problems_before_they_share_one() -> None:
    async def worked() -> list[Job]:
        written = [job("judge", problem, node) for problem in "ab" for node in range(3)]
        queue = Queue(written, lambda _: 0.0)
        one, two = queue.taken(), queue.taken()
        taken = [await anext(one), await anext(two), await anext(one), await anext(two)]
        assert queue.count == 4
        return [*taken, await anext(one), await anext(one)]

    assert said(asyncio.run(worked())) == ["judge a0", "judge b0", "judge a1", "judge b1", "judge a2", "judge b2"]


def test_a_job_is_followed_by_another_of_its_kind_and_problem() -> None:
    async def worked() -> list[bool]:
        queue = Queue([job("judge", "a", 0), job("judge", "a", 1), job("seeds", "a", 9)], lambda _: 0.0)
        return [queue.is_followed(each) async for each in queue.taken()]

    assert asyncio.run(worked()) == [True, False, False]


def test_a_tuning_waits_for_its_own_judgement_and_the_best_goes_first() -> None:
    async def worked() -> list[Job]:
        written = [job("tune", "a", 0), job("tune", "a", 1), job("judge", "a", 0), job("judge", "a", 1)]
        merits = {0: 1.1, 1: 1.7}
        queue = Queue(written, lambda each: merits[each.node or 0])
        one, two = queue.taken(), queue.taken()
        first, second = await anext(one), await anext(two)
        waiting = asyncio.ensure_future(anext(one))  # node 0 is judged: its tuning alone may begin
        third = await waiting
        assert (first.kind, second.kind, said([third])) == ("judge", "judge", ["tune a0"])
        return [third, await anext(two)]

    assert said(asyncio.run(worked())) == ["tune a0", "tune a1"]


def test_a_worker_that_finds_nothing_to_do_yet_waits_for_the_others() -> None:
    async def worked() -> list[Job]:
        queue = Queue([job("judge", "a", 0), job("tune", "a", 0)], lambda _: 1.0)
        one, two = queue.taken(), queue.taken()
        await anext(one)
        idle = asyncio.ensure_future(anext(two, None))
        await asyncio.sleep(0)
        assert not idle.done()
        # The judgement is given back: one of them gets the tuning, and nothing is left for the other.
        return [each for each in await asyncio.gather(idle, anext(one, None)) if each is not None]

    assert said(asyncio.run(worked())) == ["tune a0"]
