"""The small model's server is there while it is needed, and gone afterwards, whatever becomes of who started it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from strands_ctx.analysis import small_model
from strands_ctx.analysis.small_model import SmallModelError, serve_small_model
from tests.support.small_model import require_small_model

pytestmark = pytest.mark.llm

OWNER = """
import threading, time
import httpx
from strands_ctx.analysis.small_model import serve_small_model
if __name__ == "__main__":
    with serve_small_model() as server:
        body = {"prompt": "word " * 1_900, "n_predict": 4}
        threading.Thread(target=httpx.post, args=(server.url + "/completion",), kwargs={"json": body}).start()
        time.sleep(1)
        print(server.url, flush=True)
        time.sleep(600)
"""
DEADLINE_S = 10


@pytest.fixture(autouse=True)
def installed():
    """Skip or fail where the model is not installed."""
    require_small_model()


def is_served(url):
    """Whether somebody accepts connections at an address."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=5).close()
    except OSError:
        return False
    return True


def test_the_server_ends_with_its_block():
    """Inside the block it accepts connections, after it nobody does."""
    with serve_small_model() as server:
        inside = is_served(server.url)
    assert (True, False) == (inside, is_served(server.url))


def test_the_server_ends_with_a_killed_owner():
    """A test run that is killed leaves no server behind, also while that reads a prompt."""
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        url = owner.stdout.readline().strip()
        inside = is_served(url)
        owner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + DEADLINE_S
    while is_served(url) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert (True, False) == (inside, is_served(url))


def test_a_server_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    """A file that is no model ends in an error of ours, and in no process that is left."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    monkeypatch.setattr(small_model, "_model_path", lambda: broken)
    with pytest.raises(SmallModelError, match="did not start"), serve_small_model():
        pass
