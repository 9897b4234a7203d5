"""Whoever is to be verified runs beside the best that is."""

from pathlib import Path

from engine_runs import created, journal, scripted

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.graph import fold
from kernwright.core.plan import FULL, QUICK
from kernwright.engine import service
from kernwright.engine.journal import Journal
from kernwright.engine.wiring import job_of
from kernwright.store.sql import SqlStore

OTHER = Candidate(language="torch", files=(SourceFile(name="other.py", text="def kernel(x): return x\n"),))


def test_the_champion_is_the_rival_of_a_confirmation_and_of_nothing_else(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"))
    service.drive(tmp_path, run, resume=False)
    champion = fold(journal(tmp_path, run)).champion()
    assert champion is not None
    assert champion.candidate is not None
    store = SqlStore(tmp_path)
    try:
        state = Journal(store, run)
        best = state.candidate(champion.candidate)
        assert job_of(state, tmp_path, OTHER, FULL).champion == best
        assert job_of(state, tmp_path, OTHER, FULL).champion_language
        assert job_of(state, tmp_path, OTHER, QUICK).champion is None
        assert job_of(state, tmp_path, best, FULL).champion is None
    finally:
        store.close()
