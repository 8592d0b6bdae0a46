"""Files that are damaged, forged, cut off or cannot be written: an error of the family, or what was there before.

`file_attacks` draws the files and reads them in a process with 2 GiB of memory and ten seconds for each.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from separatrix import MaxMargin, ModelError, load, save
from separatrix.persistence.output import write_atomically

resource = pytest.importorskip("resource", reason="no limits of memory and file size here")


def attack(kind, seed, count, folder):
    """What became of so many files."""
    program = Path(__file__).with_name("file_attacks.py")
    command = [sys.executable, str(program), kind, str(seed), str(count), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    trial = (folder / "trial").read_text() if (folder / "trial").exists() else "none"
    assert done.returncode == 0, (kind, seed, trial, done.returncode, done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found.get("wrong"), found["examples"]
    assert found["refused"] + found["answers"] == count
    return found


@pytest.mark.parametrize("kind", ["data", "models"])
def test_damaged_and_forged_files(tmp_path, kind):
    found = attack(kind, 0, 100, tmp_path)
    assert min(found["answers"], found["refused"]) > 1, found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("kind", ["data", "models"])
def test_a_hundred_thousand_damaged_and_forged_files(tmp_path, kind, seed):
    print(kind, seed, attack(kind, seed, 10_000, tmp_path))


SAVING = """
import os, random, signal, sys, time
from separatrix import MaxMargin, load, save
path, count, rng = sys.argv[1], int(sys.argv[2]), random.Random(0)
models = [MaxMargin(C=C).fit([[0.0], [1.0], [3.0]], [0, 0, 1]) for C in (1.0, 2.0)]
save(models[0], path)
for _ in range(count):
    child = os.fork()
    while not child:
        for model in models:
            save(model, path)
    time.sleep(rng.uniform(0.001, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert load(path).C in (1.0, 2.0)
"""


@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_while_saving(tmp_path, count):
    """A process that saves two models in turn is killed at random moments: the file is always one of them."""
    path = tmp_path / "m.sx"
    subprocess.run([sys.executable, "-c", SAVING, str(path), str(count)], check=True)
    save(MaxMargin(C=3.0).fit([[0.0], [1.0]], [0, 1]), path)
    assert list(tmp_path.iterdir()) == [path]  # what the killed ones left is gone
    assert load(path).C == 3.0


FULL = """
import resource, signal, sys
from separatrix import MaxMargin, SeparatrixError, save
model = MaxMargin(C=2.0).fit([[0.0], [1.0], [3.0]], [0, 0, 1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save(model, sys.argv[1])
except SeparatrixError as error:
    print(error)
"""


def test_no_room_for_a_file(tmp_path):
    """The old file stays, and nothing is left beside it."""
    path = tmp_path / "m.sx"
    save(MaxMargin(C=1.0).fit([[0.0], [1.0]], [0, 1]), path)
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cannot be written: File too large" in done.stdout
    assert load(path).C == 1.0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_disk_that_is_full(tmp_path, monkeypatch):
    """Writing succeeds, and what is written cannot be kept."""
    fsync = os.fsync

    def full(handle):
        with open("/dev/full", "wb", buffering=0) as device:
            device.write(b"x")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match="No space left on device"):
        write_atomically(tmp_path / "m.sx", b"content")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_is_read_only(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ModelError, match="is read-only"):
            save(MaxMargin().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m.sx")
    finally:
        tmp_path.chmod(0o700)
