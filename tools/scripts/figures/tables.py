"""CSV files of profiles/measured, packed where their name ends in .gz."""
import csv
import gzip
import io


def read(path, optional=False):
    """The rows of a file as dicts; none of an optional one that is not there."""
    if optional and not path.exists():
        return []
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, columns, rows, others="raise"):
    """`others`: "ignore" leaves out columns that are not named, which are an error else. The same rows make the same file, packed or not."""
    text = io.StringIO()
    out = csv.DictWriter(text, columns, lineterminator="\n", extrasaction=others)
    out.writeheader()
    out.writerows(rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)
