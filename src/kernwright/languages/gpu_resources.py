"""What compiled GPU code needs, read from its ELF file: no device and no vendor's tool is involved.

Formats: the ELF-64 layout of the System V ABI; NVIDIA's `.nv.info` attributes, a sequence of
(format, attribute, size or value) records, as `cuobjdump -elf` prints them; AMD's code-object metadata,
MessagePack in a note, as LLVM's "User Guide for AMDGPU Backend" has it.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SIZED = 0x04
"""Format of an `.nv.info` record whose second half-word is the size of what follows; else it is the value."""
_FRAME_SIZE, _REGISTERS = 0x11, 0x2F
_AMD = {
    "registers": ".vgpr_count",
    "scalar_registers": ".sgpr_count",
    "shared_bytes": ".group_segment_fixed_size",
    "spill_bytes": ".private_segment_fixed_size",
}


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    data: bytes
    size: int


def cubin_resources(path: Path) -> dict[str, float]:
    """`registers`, `shared_bytes` (static), `spill_bytes` and `cubin_bytes` of a cubin, the largest over its kernels.

    `spill_bytes` is the stack frame of a thread: spilled registers, and arrays that did not fit into any.
    Only `cubin_bytes` where the file is not an ELF file of a known form.
    """
    return image_resources(path.read_bytes())


def image_resources(image: bytes) -> dict[str, float]:
    """The same for a cubin, or an AMD code object, in memory; an AMD one has `scalar_registers` as well."""
    found = {"cubin_bytes": float(len(image))}
    try:
        sections = list(_sections(image))
    except (struct.error, UnicodeDecodeError, IndexError, ValueError):
        return found
    if any(s.name == ".nv.info" for s in sections):
        return found | _nvidia(sections)
    notes = b"".join(s.data for s in sections if s.name == ".note")
    if b"amdhsa.kernels" in notes:
        counts = {name: _numbers(notes, key) for name, key in _AMD.items()}
        return found | {name: float(max(values)) for name, values in counts.items() if values}
    return found


def _nvidia(sections: list[_Section]) -> dict[str, float]:
    attributes = [record for s in sections if s.name == ".nv.info" for record in _records(s.data)]
    frames = [value for attribute, value in attributes if attribute == _FRAME_SIZE]
    registers = [value for attribute, value in attributes if attribute == _REGISTERS]
    shared = [s.size for s in sections if s.name.startswith(".nv.shared.") and ".reserved" not in s.name]
    return {
        "registers": float(max(registers, default=0)),
        "shared_bytes": float(max(shared, default=0)),
        "spill_bytes": float(max(frames, default=0)),
    }


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """(attribute, value) of the records that hold a symbol's index and a number."""
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form != _SIZED:
            continue
        if size == 8:
            yield attribute, struct.unpack_from("<II", data, at)[1]
        at += size


def _sections(image: bytes) -> Iterator[_Section]:
    if image[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size) for i in range(count)]
    names_at = headers[names_index][4]
    nobits = 8
    for name, kind, _, _, start, length, *_ in headers:
        first = names_at + name
        text = image[first : image.index(b"\0", first)].decode()
        yield _Section(text, b"" if kind == nobits else image[start : start + length], length)


def _numbers(notes: bytes, key: str) -> list[int]:
    """Every unsigned number that MessagePack stores under `key`, a text of up to 31 bytes or up to 255."""
    found = []
    encoded = key.encode()
    header = bytes([0xA0 | len(encoded)]) if len(encoded) < 32 else bytes([0xD9, len(encoded)])
    sizes = {0xCC: 1, 0xCD: 2, 0xCE: 4}
    at = notes.find(header + encoded)
    while at >= 0:
        at += len(header) + len(encoded)
        size = sizes.get(notes[at], 0)
        found.append(int.from_bytes(notes[at + 1 : at + 1 + size], "big") if size else notes[at])
        at = notes.find(header + encoded, at)
    return found
