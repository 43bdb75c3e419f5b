"""The checksums of rows (coordinator/sql/checksum.h), for tests that change a database as fa-coord would."""

import hashlib
import struct


def of(values):
    """The 16 bytes of a row."""
    hash = hashlib.blake2b(digest_size=16)
    for value in values:
        if value is None:
            hash.update(b"n")
        elif isinstance(value, int):
            hash.update(b"I" + struct.pack("<q", value))
        elif isinstance(value, float):
            hash.update(b"d" + struct.pack("<d", value + 0.0))
        else:
            text = value.encode()
            hash.update(b"t" + struct.pack("<Q", len(text)) + text)
    return hash.digest()


def seal(db, table):
    """Make the rows of a table hold as they are."""
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")][:-1]
    digits = table in ("build", "result", "tool")
    for row in db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall():
        checksum = of(row).hex() if digits else struct.unpack("<q", of(row)[:8])[0]
        where = " AND ".join(f"{column} IS ?" for column in columns)
        db.execute(f"UPDATE {table} SET checksum = ? WHERE {where}", (checksum, *row))
    count(db, table)


def count(db, table):
    """Make the count of a table fit its rows (coordinator/store/tally.h)."""
    values = [int(c[:16], 16) if isinstance(c, str) else c for (c,) in db.execute(f"SELECT checksum FROM {table}")]
    total = sum(values) % 2**64
    row = (table, len(values), total - 2**64 if total >= 2**63 else total)
    [checksum] = struct.unpack("<q", of(row)[:8])
    db.execute("INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?)", (*row, checksum))
