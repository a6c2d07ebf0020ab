"""CSV files of profiles/measured, packed where their name ends in .gz or .xz."""
import csv
import gzip
import io
import lzma


def gzipped(data):
    """Without a name, a time and the system."""
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


OPEN = {".gz": gzip.open, ".xz": lzma.open}
PACK = {".gz": gzipped, ".xz": lambda data: lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)}


def read(path, optional=False):
    """The rows of a file as dicts; none of an optional one that is not there."""
    if optional and not path.exists():
        return []
    with OPEN.get(path.suffix, open)(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, columns, rows, others="raise"):
    """`others`: "ignore" leaves out columns that are not named, which are an error else. The same rows make the same file, packed or not."""
    text = io.StringIO()
    out = csv.DictWriter(text, columns, lineterminator="\n", extrasaction=others)
    out.writeheader()
    out.writerows(rows)
    path.write_bytes(PACK.get(path.suffix, bytes)(text.getvalue().encode()))
