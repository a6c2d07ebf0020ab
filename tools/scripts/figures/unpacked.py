"""Databases that are packed in the repository, unpacked in a folder and merged there."""
import hashlib
import lzma
import os
import shutil
import subprocess


def packed_in(name, archive, merged):
    """The archives that a database is made of."""
    return [path for part in merged(name) for path in packed_in(part, archive, merged)] or [archive(name)]


def unpacked(folder, name, archive, merged, program):
    """The database's path; it is made if it is not there. `archive(name)`: where it is packed. `merged(name)`: the names of those
    that it is merged of, none of one that is packed. Another archive gives another path, so a folder of before is no trap."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in packed_in(name, archive, merged))).hexdigest()[:8]
    path = folder / f"{name}-{digest}.db"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    first, *others = [unpacked(folder, one, archive, merged, program) for one in merged(name)] or [None]
    if first:
        shutil.copyfile(first, part)
        for other in others:
            subprocess.run([program, "db", "merge", str(other), "--db", str(part), "-q"], check=True, stdout=subprocess.DEVNULL)
    else:
        with lzma.open(archive(name)) as source, open(part, "wb") as out:
            shutil.copyfileobj(source, out)
    os.replace(part, path)
    return path
