"""What must hold of a sweep whose processes were killed, read from its database and the workers' journals.

It shares no code with the programs: SQL of its own, and the format that worker/store/journal_record.h describes.
"""

import hashlib
import json
import re

LENGTH, SUM, MARK = 4, 16, b"\xfaresult\x01"
ATTEMPTS = 3  # then a configuration is given up
NONCE = re.compile(rb"\xa5nonce\xd9\x20([0-9a-f]{32})")  # a key and its text, as MessagePack


def nonces_of_journal(data):
    """The nonces of all intact records of a journal, in order."""
    found = []
    at = data.find(MARK, LENGTH + SUM)
    while at >= 0:
        begin = at - SUM - LENGTH
        size = int.from_bytes(data[begin:begin + LENGTH], "little")
        record = data[at:at + size]
        whole = len(record) == size and hashlib.blake2b(record, digest_size=SUM).digest() == data[at - SUM:at]
        nonce = NONCE.search(record) if whole else None
        if nonce:
            found.append(nonce[1].decode())
        at = data.find(MARK, at + (size + LENGTH + SUM if whole else 1))
    return found


def nonces_of_database(db):
    return {nonce for table in ("result", "build", "tool") for (nonce,) in db.execute(f"SELECT nonce FROM {table}")}


def lost(db, acknowledged, journalled, waiting):
    """I1.  acknowledged: seen in the database.  journalled: seen in a journal.  waiting: still in one."""
    there = nonces_of_database(db)
    return ([f"lost: {nonce} was in the database" for nonce in sorted(acknowledged - there)] +
            [f"lost: {nonce} was in a journal, and is neither there nor in the database"
             for nonce in sorted(journalled - there - waiting)])


def twice(db):
    """I2 and I3: an identity that counts twice, a configuration with two outcomes."""
    found = []
    for table, identity in (("result", "config, shape, purpose, round, source_key, measure_key"),
                            ("tool", "purpose, config, shape, round, gpu, key")):
        rows = db.execute(f"SELECT min(nonce), count(*) FROM (SELECT DISTINCT * FROM {table}) WHERE counted = 1 "
                          f"GROUP BY {identity} HAVING count(*) > 1")
        found += [f"twice: {table} {nonce} counts {n} times" for nonce, n in rows]
    rows = db.execute("SELECT config, count(*) FROM outcome GROUP BY config, shape HAVING count(*) > 1")
    return found + [f"twice: {config} has {n} outcomes" for config, n in rows]


def given_up(db, config):
    """How often work on a configuration ended without a result, or in a crash."""
    [leases] = db.execute("SELECT count(*) FROM lease WHERE config = ? AND (ending IS NULL OR ending <> 'done')",
                          (config,)).fetchone()
    [crashes] = db.execute("SELECT count(*) FROM (SELECT nonce, config, outcome FROM result UNION ALL "
                           "SELECT nonce, config, outcome FROM build) WHERE config = ? AND outcome = 'crash'",
                           (config,)).fetchone()
    return leases + crashes


def wrong(db, wanted):
    """I3: the outcome of each configuration is the recorded one, or it was given up after enough attempts.

    wanted: word by the values of the tunables.  Returns the findings, and how many were given up.
    """
    found, n_given_up = [], 0
    rows = db.execute("SELECT c.key, c.params, o.outcome FROM config c LEFT JOIN outcome o ON o.config = c.key")
    seen = set()
    for config, params, outcome in rows.fetchall():
        values = tuple(json.loads(params).values())
        seen.add(values)
        if outcome == wanted.get(values):
            continue
        if outcome in ("lost", "crash") and given_up(db, config) >= ATTEMPTS:
            n_given_up += 1
        else:
            found.append(f"wrong: {values} ends as {outcome}, not as {wanted.get(values)}")
    return found + [f"wrong: {values} is missing" for values in sorted(set(wanted) - seen)], n_given_up


def unfinished(db):
    """I8: a lease of the last run that never ended; a last run that is not done."""
    rows = db.execute("SELECT id FROM lease WHERE ended_utc IS NULL AND epoch = (SELECT max(epoch) FROM run)")
    found = [f"unfinished: lease {id} of the last run" for (id,) in rows]
    [ending] = db.execute("SELECT ending FROM run ORDER BY epoch DESC LIMIT 1").fetchone()
    return found + ([] if ending == "done" else [f"unfinished: the last run is {ending}"])
