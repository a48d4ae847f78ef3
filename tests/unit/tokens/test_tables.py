"""Where rank tables come from, and when they are refused."""

from __future__ import annotations

import base64
import hashlib
import lzma

import pytest

from strands_ctx.tokens import tables

URL = "https://tables.example/encodings/tiny.tiktoken"
TOKENS = [b"a", b"b", b"ab", bytes(range(128))]
ORIGINAL = b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(TOKENS))
HASH = hashlib.sha256(ORIGINAL).hexdigest()
RANKS = {token: rank for rank, token in enumerate(TOKENS)}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An empty package data folder."""
    folder = tmp_path / "package"
    (folder / "data").mkdir(parents=True)
    monkeypatch.setattr(tables, "files", lambda _package: folder)
    return folder / "data"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty tiktoken cache."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder / hashlib.sha1(URL.encode()).hexdigest()


def packed(tokens):
    """A packaged table."""
    return lzma.compress(tables.pack(tokens))


def test_a_packaged_table_gives_the_ranks(package):
    """The compact form gives each token its rank."""
    (package / "tiny.xz").write_bytes(packed(TOKENS))
    assert RANKS == tables.load_ranks(URL, HASH)


def test_the_applications_cache_comes_before_the_package(package, cache):
    """A table in the cache is used, though the package holds another one."""
    (package / "tiny.xz").write_bytes(packed([b"z"]))
    cache.write_bytes(ORIGINAL)
    assert RANKS == tables.load_ranks(URL)


@pytest.mark.parametrize("content", [b"", b"garbage", ORIGINAL[:-9], ORIGINAL + b"!! 4\n", b"YQ== 7\n"])
def test_a_bad_cached_table_is_left_alone_and_the_package_used(package, cache, content):
    """A cached table of another hash is neither used nor deleted nor repaired."""
    (package / "tiny.xz").write_bytes(packed(TOKENS))
    cache.write_bytes(content)
    assert (RANKS, content) == (tables.load_ranks(URL, HASH), cache.read_bytes())


def test_an_empty_cache_stays_empty(package, cache):
    """Nothing is written into the application's cache."""
    (package / "tiny.xz").write_bytes(packed(TOKENS))
    tables.load_ranks(URL, HASH)
    assert [] == list(cache.parent.iterdir())


@pytest.mark.parametrize(
    "content", [b"", b"garbage", packed([b"a", b"c"]), lzma.compress(b"\xff\xff\xff\xff"), packed(TOKENS)[:-8]]
)
def test_a_bad_packaged_table_is_refused(package, content):
    """A table that is damaged, or intact but of another hash, gives no ranks."""
    (package / "tiny.xz").write_bytes(content)
    with pytest.raises(tables.TableUnavailableError):
        tables.load_ranks(URL, HASH)


def test_without_any_table_the_error_names_the_encoding(package):
    """A missing table is told by name."""
    with pytest.raises(tables.TableUnavailableError, match="tiny"):
        tables.load_ranks(URL, HASH)


def test_packing_can_be_undone():
    """What is packed comes back in the same order."""
    assert TOKENS == tables.unpack(tables.pack(TOKENS))


@pytest.mark.parametrize(
    "body", [b"", b"abc", b"\x01\x00\x00\x00", b"\x01\x00\x00\x00\x02a", b"\x01\x00\x00\x00\x01ab"]
)
def test_a_body_whose_lengths_do_not_add_up_is_refused(body):
    """Too short, too long, or broken off."""
    with pytest.raises(ValueError, match="token table"):
        tables.unpack(body)


@pytest.mark.parametrize("data", [b"YQ== 1\n", b"YQ==\n", b"YQ== 0\nYg== 2\n", b"YQ== -1\n", b"!! 0\n"])
def test_an_original_whose_ranks_do_not_count_up_is_refused(data):
    """The compact form has no place for ranks."""
    with pytest.raises(ValueError, match=r"rank|base64|padding|character"):
        tables.parse_original(data)
