"""Large shared allocations serve again, empty, until their memory is wanted."""

import pytest
import torch

pytestmark = [pytest.mark.device, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")]


def test_a_large_buffer_serves_again_and_nothing_of_what_it_held_is_left() -> None:
    from kernwright.platforms.cuda_buffers import LARGE_BYTES, Pool

    pool = Pool(0)
    first = pool.buffer(LARGE_BYTES)
    first.bytes.fill_(7)
    address = first.bytes.data_ptr()
    held = torch.cuda.mem_get_info()[0]
    first.close()
    first.close()
    assert torch.cuda.mem_get_info()[0] == held
    again = pool.buffer(LARGE_BYTES)
    assert again.bytes.data_ptr() == address
    assert not again.bytes.any()
    other = pool.buffer(LARGE_BYTES)
    assert other.bytes.data_ptr() != address
    again.close()
    other.close()
    pool.free()
    torch.cuda.empty_cache()  # what looking at the bytes took
    assert torch.cuda.mem_get_info()[0] >= held + LARGE_BYTES


def test_what_is_in_stock_is_new_and_had_once() -> None:
    from kernwright.platforms.cuda_buffers import LARGE_BYTES, Pool

    pool, some = Pool(0), (2 << 20, 64 << 20, 64 << 20)
    free = torch.cuda.mem_get_info()[0]
    pool.stock([*some, LARGE_BYTES])
    stocked = torch.cuda.mem_get_info()[0]
    assert free - LARGE_BYTES < stocked <= free - sum(some)
    pool.stock(some)
    assert torch.cuda.mem_get_info()[0] == stocked
    had = [pool.buffer(nbytes) for nbytes in some]
    assert torch.cuda.mem_get_info()[0] == stocked
    assert len({buffer.bytes.data_ptr() for buffer in had}) == len(some)
    assert not any(bool(buffer.bytes.any()) for buffer in had)
    another = pool.buffer(some[0])
    pool.stock([some[0]])
    pool.stock([])
    for buffer in (*had, another):
        buffer.close()
    pool.stock([some[1]])
    pool.free()
    torch.cuda.empty_cache()  # what looking at the bytes took
    assert torch.cuda.mem_get_info()[0] >= free


def test_a_small_buffer_is_always_new() -> None:
    from kernwright.platforms.cuda_buffers import LARGE_BYTES, Pool

    pool = Pool(0)
    before = torch.cuda.mem_get_info()[0]
    pool.buffer(LARGE_BYTES // 2).close()
    assert torch.cuda.mem_get_info()[0] >= before


def test_what_is_discarded_while_a_device_is_timed_is_given_back_afterwards_or_before_others_are_made() -> None:
    from kernwright.platforms.cuda_buffers import LARGE_BYTES, Pool

    pool = Pool(0)
    pool.buffer(LARGE_BYTES).discard()
    free = torch.cuda.mem_get_info()[0]
    with pool.discards_later():
        pool.buffer(LARGE_BYTES).discard()
        assert torch.cuda.mem_get_info()[0] <= free - LARGE_BYTES
        pool.buffer(LARGE_BYTES).discard()
        assert free - 2 * LARGE_BYTES < torch.cuda.mem_get_info()[0] <= free - LARGE_BYTES
    pool.discard_all()
    assert torch.cuda.mem_get_info()[0] == free
    pool.buffer(LARGE_BYTES).discard()
    assert torch.cuda.mem_get_info()[0] == free


def test_what_pytorch_keeps_of_freed_memory_makes_room_for_a_buffer() -> None:
    from kernwright.platforms.cuda_buffers import Pool

    torch.cuda.empty_cache()
    part = torch.cuda.mem_get_info()[0] // 4
    kept = [torch.empty(part, dtype=torch.uint8, device="cuda") for _ in range(3)]
    del kept
    assert torch.cuda.mem_get_info()[0] < 2 * part  # the rest is PyTorch's
    pool = Pool(0)
    first, second = pool.buffer(part), pool.buffer(part)
    assert not torch.empty(part, dtype=torch.uint8, device="cuda").is_cpu
    for buffer in (first, second):
        buffer.discard()
    torch.cuda.empty_cache()
