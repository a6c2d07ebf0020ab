#!/usr/bin/env python3
"""Whether every piece of GPU code in a library is there for each of these architectures.

    tests/packaging/architectures.py LIBRARY elf:80 elf:90 elf:100 ptx:100

nvcc puts the code of a file for all architectures into one container: a header of 16 bytes (magic number, version, its own
size, bytes that follow), then for each a header with its kind, its own size, the bytes of its code and the architecture, and
the code. Prints how many pieces have what. The toolkit's cuobjdump would tell as much, and is not installed everywhere.
"""

import collections
import pathlib
import struct
import sys

MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)
KINDS = {1: "ptx", 2: "elf"}


def containers(data):
    """Of each: kind and architecture of what is in it."""
    at = data.find(MAGIC)
    while at >= 0:
        (size,) = struct.unpack_from("<Q", data, at + 8)
        entry, end = at + 16, at + 16 + size
        found = []
        while entry + 32 <= min(end, len(data)):
            kind, _, header, code = struct.unpack_from("<HHIQ", data, entry)
            (architecture,) = struct.unpack_from("<I", data, entry + 28)
            if kind not in KINDS or header < 32:
                break
            found.append(f"{KINDS[kind]}:{architecture}")
            entry += header + code
        if found:
            yield found
        at = data.find(MAGIC, at + 16)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    pieces = list(containers(pathlib.Path(sys.argv[1]).read_bytes()))
    if not pieces:
        sys.exit(f"{sys.argv[1]}: expected GPU code, found none; was it built with nvcc?")
    count = collections.Counter(word for found in pieces for word in set(found))
    print(f"{len(pieces)} pieces: " + ", ".join(f"{word} in {n}" for word, n in sorted(count.items())))
    for word in sys.argv[2:]:
        if count[word] < len(pieces):
            sys.exit(f"{sys.argv[1]}: expected {word} in all {len(pieces)} pieces, found it in {count[word]}")


if __name__ == "__main__":
    main()
