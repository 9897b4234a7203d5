"""Buffers on a GPU get what PyTorch keeps for itself; needs no GPU."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("cuda.bindings.driver")

from kernwright.platforms import cuda_buffers  # noqa: E402
from kernwright.platforms.cuda_buffers import LARGE_BYTES, ROOM, Pool  # noqa: E402


class _Device:
    """So many bytes, of which PyTorch keeps some."""

    def __init__(self, free: int, kept: int) -> None:
        self.free, self.kept, self.emptied = free, kept, 0

    def create(self, nbytes: int, device: int) -> tuple[object, int]:
        if nbytes > self.free:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.free -= nbytes
        return SimpleNamespace(bytes=torch.empty(nbytes, dtype=torch.uint8, device="meta")), 1

    def empty_cache(self) -> None:
        self.free, self.kept, self.emptied = self.free + self.kept, 0, self.emptied + 1

    def told(self, device: int) -> tuple[int, int]:
        return self.free, self.free + self.kept


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> tuple[Pool, _Device]:
    device = _Device(*request.param)
    monkeypatch.setattr(cuda_buffers, "create", device.create)
    monkeypatch.setattr(torch.cuda, "empty_cache", device.empty_cache)
    monkeypatch.setattr(torch.cuda, "mem_get_info", device.told)
    return Pool(0), device


@pytest.mark.parametrize("pool", [(LARGE_BYTES, 3 * LARGE_BYTES)], indirect=True)
def test_a_process_that_maps_a_buffer_finds_room_of_its_own(pool: tuple[Pool, _Device]) -> None:
    pool[0].buffer(LARGE_BYTES)
    assert pool[1].free == 3 * LARGE_BYTES


@pytest.mark.parametrize("pool", [(ROOM * LARGE_BYTES, LARGE_BYTES)], indirect=True)
def test_where_there_is_room_pytorch_keeps_what_it_has(pool: tuple[Pool, _Device]) -> None:
    pool[0].buffer(LARGE_BYTES)
    assert pool[1].emptied == 0


@pytest.mark.parametrize("pool", [(1 << 20, LARGE_BYTES)], indirect=True)
def test_a_small_buffer_gets_it_where_nothing_else_is_left(pool: tuple[Pool, _Device]) -> None:
    pool[0].buffer(1 << 20)
    assert pool[1].emptied == 0
    pool[0].buffer(1 << 20)
    assert pool[1].emptied == 1


@pytest.mark.parametrize("pool", [(1 << 20, 0)], indirect=True)
def test_a_device_that_is_full_says_so(pool: tuple[Pool, _Device]) -> None:
    with pytest.raises(torch.OutOfMemoryError):
        pool[0].buffer(LARGE_BYTES)
