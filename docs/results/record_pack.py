"""A database that can be published: packed, without paths of the machine, and sound to 'fa-coord verify'."""
import gzip
import hashlib
import os
import shutil
import sqlite3
import struct
import tempfile

TABLES, COLUMNS = ("request", "sweep"), ("folder", "hosts_file", "settings")  # that hold paths
WRAP = 1 << 64


def hashed(value):
    """A column as coordinator/sql/checksum.h hashes it."""
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"I" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"d" + struct.pack("<d", value or 0.0)
    text = value.encode()
    return b"t" + struct.pack("<q", len(text)) + text


def checksum(columns):
    """Of a small row: its columns without the checksum."""
    return struct.unpack("<q", hashlib.blake2b(b"".join(map(hashed, columns)), digest_size=16).digest()[:8])[0]


def seal(db, table, key):
    """Write the checksums of a table's rows again."""
    for row in db.execute(f"SELECT {key}, * FROM {table}").fetchall():
        db.execute(f"UPDATE {table} SET checksum = ? WHERE {key} = ?", (checksum(row[1:-1]), row[0]))


def shorten(db, base):
    """Make 'base' and paths below it relative."""
    for table in TABLES:
        for column in COLUMNS:
            db.execute(f"UPDATE {table} SET {column} = replace({column}, ?, '')", (base + "/",))
        db.execute(f"UPDATE {table} SET folder = '.' WHERE folder = ?", (base,))
        seal(db, table, "id")
        total = sum(row[0] for row in db.execute(f"SELECT checksum FROM {table}"))
        db.execute("UPDATE tally SET checksum_sum = ? WHERE name = ?",
                   ((total + WRAP // 2) % WRAP - WRAP // 2, table))
    seal(db, "tally", "name")


def pack(path):
    """Write PATH.gz; paths below the current folder are relative there."""
    with tempfile.TemporaryDirectory(prefix="fa-record-") as folder:
        copy = os.path.join(folder, "copy.db")
        source, to = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro", uri=True), sqlite3.connect(copy)
        source.backup(to)
        shorten(to, os.getcwd())
        to.commit()
        to.execute("PRAGMA journal_mode = DELETE")
        to.execute("VACUUM")
        for db in (source, to):
            db.close()
        with open(copy, "rb") as plain, open(path + ".gz.new", "wb") as file:
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                shutil.copyfileobj(plain, packed)
    os.replace(path + ".gz.new", path + ".gz")
