"""Whether all that the headers of a shared library speak of lies inside its file.

A loader maps what they say and does not look at the file's size: whoever touches what is not there dies of
SIGBUS. What lies inside the file may be wrong all the same; that is for the compiler to answer for.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_ELF = b"\x7fELF"
_MACH_O, _MACH_O_OF_MANY = b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"
# Sections without bytes in the file, and the one that names the others.
_NOBITS, _STRTAB = 8, 3
_SEGMENT = 0x19


@dataclass(frozen=True)
class _Layout:
    """The fields that are looked at in ELF headers of one width: the file's own, a segment's, a section's.

    Of a segment and a section these are where its bytes begin and how many they are; of a section its type
    comes before.
    """

    file: str
    segment: str
    section: str


# By the byte behind the magic number: 1 for 32 bits, 2 for 64.
_LAYOUTS = {
    1: _Layout("28xII6xHHHHH", "4xI8xI", "4xI8xII"),
    2: _Layout("32xQQ6xHHHHH", "8xQ16xQ", "4xI16xQQ"),
}
_ORDERS = {1: "<", 2: ">"}


def broken_headers(content: bytes) -> str | None:
    """Why a library must not be loaded, or None; of other formats than ELF and Mach-O the loader judges."""
    try:
        if content.startswith(_ELF):
            places = _elf(content)
        elif content.startswith(_MACH_O):
            places = _mach_o(content)
        elif content.startswith(_MACH_O_OF_MANY):
            return _mach_o_of_many(content)
        else:
            return None
        for what, begin, size in places:
            if begin + size > len(content):
                return f"it has {len(content):,} bytes, and {what} would end at byte {begin + size:,}"
    except struct.error:
        return f"its headers do not fit into its {len(content):,} bytes"
    except ValueError as error:
        return str(error)
    return None


def _elf(content: bytes) -> Iterator[tuple[str, int, int]]:
    """What the headers of ELF speak of, where it begins and how many bytes it has."""
    width, order = struct.unpack_from("BB", content, len(_ELF))
    if width not in _LAYOUTS or order not in _ORDERS:
        raise ValueError("it begins like ELF, and goes on like nothing known")
    layout, mark = _LAYOUTS[width], _ORDERS[order]
    found = struct.unpack_from(mark + layout.file, content)
    segments, sections, segment_size, segment_count, section_size, section_count, names = found
    yield "the headers of segments", segments, segment_size * segment_count
    yield "the headers of sections", sections, section_size * section_count
    for number in range(segment_count):
        begin, size = struct.unpack_from(mark + layout.segment, content, segments + number * segment_size)
        yield f"segment {number}", begin, size
    for number in range(section_count):
        kind, begin, size = struct.unpack_from(
            mark + layout.section, content, sections + number * section_size
        )
        if number == names != 0 and kind != _STRTAB:
            raise ValueError("the headers of its sections have been overwritten")
        if kind != _NOBITS:
            yield f"section {number}", begin, size


def _mach_o(content: bytes) -> Iterator[tuple[str, int, int]]:
    count, size = struct.unpack_from("<16xII", content)
    place = 32
    yield "the commands", place, size
    for number in range(count):
        kind, length = struct.unpack_from("<II", content, place)
        if length < struct.calcsize("<II"):
            raise ValueError(f"command {number} has {length} bytes")
        if kind == _SEGMENT:
            yield f"segment {number}", *struct.unpack_from("<40xQQ", content, place)
        place += length


def _mach_o_of_many(content: bytes) -> str | None:
    """The same of a file that has a library for each of several processors."""
    (count,) = struct.unpack_from(">4xI", content)
    for number in range(count):
        begin, size = struct.unpack_from(">8xII", content, 8 + number * 20)
        if begin + size > len(content):
            return f"it has {len(content):,} bytes, and part {number} would end at byte {begin + size:,}"
        part = content[begin : begin + size]
        # No part has parts in turn.
        if not part.startswith(_MACH_O_OF_MANY) and (problem := broken_headers(part)):
            return problem
    return None
