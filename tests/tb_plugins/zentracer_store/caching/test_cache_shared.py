"""Servers that share a cache while a log grows and somebody ruins its files: every point is there in the end."""

import contextlib
import json
import random
import subprocess
import sys
import time

from tests.logs import Log
from zentracer_store.caching.cache import Cache

FOLLOW = """
import json, sys, time
from pathlib import Path
from zentracer_store.caching.cache import Cache, Saved
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Lost
from zentracer_store.caching.shelf import Shelf
from zentracer_store.reading.tail import Tail

path, root, wanted = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
cache, begun, begins = Cache(root, 1 << 30, Shelf(0)), None, 0
print("ready", flush=True)
while True:
    if begun is None:
        begun, begins = cache.load(path) or (Tail(path), FileContents(path)), begins + 1
    tail, contents = begun
    try:
        batch = tail.read(20_000)
        contents.feed(batch.records)
        outcome = cache.save(path, tail, contents, all_of_it=True)
        values = contents.points.column("value").tolist()
        assert values == [float(number) for number in range(len(values))], values
        if outcome is Saved.STALE:
            begun = None
    except Lost:
        begun = None
        continue
    if len(values) == wanted:
        print(json.dumps({"begins": begins, "problems": cache.problems}))
        break
"""
COUNT = 4000


def test_every_server_sees_every_point_whatever_happens_to_the_cache(tmp_path):
    log = Log(tmp_path / "a/events.out.tfevents.1.h").version().append()
    command = [sys.executable, "-c", FOLLOW, str(log.path), str(tmp_path / "cache"), str(COUNT)]
    servers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [server.stdout.readline() for server in servers] == ["ready\n"] * 3
    chance, written, deadline = random.Random(3), 0, time.monotonic() + 120
    while any(server.poll() is None for server in servers):
        assert time.monotonic() < deadline
        time.sleep(0.02)
        for _ in range(min(chance.randrange(60), COUNT - written)):
            log.scalars(written, loss=float(written))
            written += 1
        log.append()
        for file in (tmp_path / "cache").glob("v1/*/*.arrow"):
            if chance.random() < 0.1 and written < COUNT:
                ruin(file, chance)
    begins = 0
    for server in servers:
        with server:
            assert server.returncode == 0
            told = json.loads(server.stdout.read())
        assert told["problems"] == []
        begins += told["begins"]
    assert begins > len(servers)  # or this test tries nothing
    loaded = Cache(tmp_path / "cache", 1 << 30).load(str(log.path))
    assert loaded is not None
    assert loaded[1].points.column("value").tolist() == [float(number) for number in range(COUNT)]


def ruin(file, chance):
    """Remove a file, cut it, or write into it."""
    with contextlib.suppress(FileNotFoundError):
        match chance.randrange(3):
            case 0:
                file.unlink()
            case 1:
                with open(file, "r+b") as opened:
                    opened.truncate(chance.randrange(1 + file.stat().st_size))
            case 2:
                with open(file, "r+b") as opened:
                    opened.seek(chance.randrange(1 + file.stat().st_size))
                    opened.write(b"zentracer")
