"""What every store must do, as tests: subclass `StoreContract`, override one fixture. Needs pytest and hypothesis."""

from collections.abc import Iterator
from typing import Any, Protocol, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernwright.core.digest import digest_bytes
from kernwright.core.events import Entry, Event, RunFinished
from kernwright.core.inbox import Told
from kernwright.core.ports import Inbox, Store


class FullStore(Store, Inbox, Protocol):
    """Both seams, which the contract tests together."""


EVENTS: st.SearchStrategy[Event] = st.one_of([st.from_type(kind) for kind in get_args(Event)])
"""Any event: NaN, infinities, empty and non-ASCII text, control characters and large integers included."""
QUICK = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # the store outlives an example, so each one has a run of its own
        HealthCheck.differing_executors,  # to be run for several subclasses is what a contract is for
    ],
)
RUN_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=20)


class StoreContract:
    """Override `store` with a fixture that yields an empty store."""

    @pytest.fixture
    def store(self) -> Iterator[Any]:
        """An empty store, closed afterwards."""
        raise NotImplementedError("override the fixture `store` with one that yields an empty store")

    def _new_run(self, store: FullStore, name: str = "run") -> str:
        return f"{name}-{len(store.runs())}"

    def test_nothing_in_an_empty_store(self, store: FullStore) -> None:
        assert list(store.runs()) == []
        assert list(store.events("none")) == []
        assert list(store.inbox("none")) == []
        with pytest.raises(KeyError):
            store.get(digest_bytes(b"never put"))

    @QUICK
    @given(written=st.lists(EVENTS, min_size=1, max_size=6), name=RUN_NAMES)
    def test_events_come_back_as_they_were(self, store: FullStore, written: list[Event], name: str) -> None:
        run = self._new_run(store, name)
        appended = [store.append(run, event) for event in written]
        read = list(store.events(run))
        assert [entry.seq for entry in appended] == list(range(1, len(written) + 1))
        assert [(e.seq, e.at) for e in read] == [(e.seq, e.at) for e in appended]
        # As text, since NaN equals nothing while 1, 1.0 and True equal each other.
        assert [repr(entry.event) for entry in read] == [repr(event) for event in written]

    @QUICK
    @given(order=st.lists(st.sampled_from("abc"), max_size=30), after=st.integers(0, 12))
    def test_each_run_is_numbered_by_itself(self, store: FullStore, order: list[str], after: int) -> None:
        prefix = self._new_run(store)
        expected: dict[str, list[Entry]] = {}
        for node, letter in enumerate(order):
            run = prefix + letter
            expected.setdefault(run, []).append(store.append(run, RunFinished(reason=letter, champion=node)))
        for run, entries in expected.items():
            assert list(store.events(run)) == entries
            assert list(store.events(run, after)) == entries[after:]
            assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))

    def test_runs_are_listed_oldest_first(self, store: FullStore) -> None:
        for run in ("zeta", "alpha", "zeta", "mid"):
            store.append(run, RunFinished(reason="", champion=None))
        assert list(store.runs()) == ["zeta", "alpha", "mid"]

    def test_events_can_be_appended_while_others_are_read(self, store: FullStore) -> None:
        for _ in range(3):
            store.append("run", RunFinished(reason="", champion=None))
        reading = store.events("run")
        assert next(reading).seq == 1
        assert store.append("run", RunFinished(reason="later", champion=None)).seq == 4
        assert [entry.seq for entry in reading][:2] == [2, 3]

    @QUICK
    @given(data=st.binary(max_size=300))
    def test_blobs_are_named_by_their_content(self, store: FullStore, data: bytes) -> None:
        id = store.put(data)
        assert id == digest_bytes(data)
        assert store.put(data) == id
        assert store.get(id) == data

    @pytest.mark.parametrize("id", ["", "x", "../../etc/passwd", "0" * 31, "0" * 33, "Z" * 32])
    def test_what_is_no_id_is_no_blob(self, store: FullStore, id: str) -> None:
        with pytest.raises(KeyError):
            store.get(id)

    @QUICK
    @given(actions=st.lists(st.one_of(st.text(max_size=5), st.integers(0, 9)), max_size=20))
    def test_messages_wait_until_acknowledged(self, store: FullStore, actions: list[str | int]) -> None:
        """A text posts it; a number acknowledges the message at that place, where there is one."""
        run = self._new_run(store)
        store.append(run, RunFinished(reason="", champion=None))
        waiting: list[Told] = []
        for action in actions:
            if isinstance(action, str):
                message = Told(node=len(waiting), candidate="c" * 32, summary=action)
                store.post(run, message)
                waiting.append(message)
            elif action < len(waiting):
                store.acknowledge(run, store.inbox(run)[action][0])
                del waiting[action]
            assert [message for _, message in store.inbox(run)] == waiting

    def test_a_message_reaches_its_run_alone(self, store: FullStore) -> None:
        store.post("mine", Told(node=1, candidate="c"))
        store.post("theirs", Told(node=2, candidate="c"))
        [(id, message)] = store.inbox("mine")
        assert message.node == 1
        store.acknowledge("theirs", id)
        assert [message.node for _, message in store.inbox("mine")] == [1]
        store.acknowledge("mine", id)
        store.acknowledge("mine", id)
        assert list(store.inbox("mine")) == []
        assert [message.node for _, message in store.inbox("theirs")] == [2]

    def test_a_large_event_is_kept_whole(self, store: FullStore) -> None:
        text = "reason \N{SNOWMAN}\n" * 200_000
        store.append("run", RunFinished(reason=text, champion=None))
        [entry] = store.events("run")
        assert entry.event == RunFinished(reason=text, champion=None)
