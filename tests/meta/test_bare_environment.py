"""The suite itself has no network and no AWS environment, wherever it runs."""

from __future__ import annotations

import os
import socket

import pytest


def test_connections_that_leave_the_machine_are_refused():
    """A test that would connect to another machine fails at once."""
    # Connecting a datagram socket sends nothing, should the guard be missing.
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as remote,
        pytest.raises(ConnectionRefusedError, match="tests have no network"),
    ):
        remote.connect(("192.0.2.1", 9))


def test_other_machines_are_not_looked_up():
    """A test that would resolve another machine's name fails at once."""
    with pytest.raises(socket.gaierror, match=r"asked for provider\.invalid"):
        socket.getaddrinfo("provider.invalid", 443)


def test_a_server_on_this_machine_can_be_reached():
    """Local servers, as the tests of providers start them, stay within reach."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert server.getsockname() == client.getpeername()


def test_the_shell_s_credentials_and_caches_are_hidden():
    """Neither AWS settings nor a tiktoken cache of the shell that runs the tests can be seen by them."""
    hidden = {"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_REGION", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"}
    assert set() == hidden & set(os.environ)
