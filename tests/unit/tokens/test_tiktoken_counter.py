"""The default counter: exact, offline, bounded, and never raising."""

from __future__ import annotations

import base64
import inspect
import logging
import random
import subprocess
import sys
import threading

import pytest
from tiktoken_ext import openai_public

from strands_ctx import errors
from strands_ctx.tokens import TiktokenCounter, tables, tiktoken_counter
from strands_ctx.types import TokenCounter

MILLION = 1_000_000
RANDOM = random.Random(11)
LONG_TEXTS = {
    "spaces": " " * MILLION,
    "tabs": "\t" * MILLION,
    "a": "a" * MILLION,
    "line ends": "\n" * MILLION,
    "no-break spaces": "\u00a0" * MILLION,
    "base64": base64.b64encode(RANDOM.randbytes(MILLION * 3 // 4)).decode(),
    "cjk": "".join(chr(RANDOM.randrange(0x4E00, 0x9FFF)) for _ in range(MILLION)),
    "code": (inspect.getsource(inspect) * 10)[:MILLION],
}


@pytest.fixture
def fresh(monkeypatch):
    """A process in which no encoding was loaded yet."""
    monkeypatch.setattr(tiktoken_counter, "_loaded", {})


@pytest.fixture
def no_tables(fresh, monkeypatch):
    """A machine that holds no table."""
    monkeypatch.setattr(tables, "_read_package", lambda _url, _name: None)


def whole_count(encoding, text):
    """Tiktoken's count of a whole text, or None where it panics."""
    try:
        return len(tiktoken_counter._encoding(encoding).encode_ordinary(text))
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


@pytest.mark.parametrize(("encoding", "expected"), [("o200k_base", [24912, 2375]), ("cl100k_base", [15339, 1917])])
def test_tokens_are_tiktokens(encoding, expected):
    """The encoding built from the packaged table gives the ids that tiktoken is known for."""
    TiktokenCounter(encoding).count_text("")
    assert expected == tiktoken_counter._encoding(encoding).encode_ordinary("hello world")


def test_the_counter_is_a_token_counter():
    """The protocol's attributes are all there."""
    assert isinstance(TiktokenCounter(), TokenCounter)


@pytest.mark.parametrize("encoding", tiktoken_counter.ENCODINGS)
@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_a_million_characters_are_counted(encoding, kind):
    """Long runs end in a number within 0.1 % of the count of the whole, where there is one."""
    text = LONG_TEXTS[kind]
    counted = TiktokenCounter(encoding).count_text(text)
    whole = whole_count(encoding, text)
    assert counted == pytest.approx(whole or counted, rel=0.001)


@pytest.mark.parametrize("text", ["", "<|endoftext|>", "\ud83d", "\ude00\ud83d", "a\x00b", "\U0010ffff", "👨‍👩‍👧‍👦🇫🇷"])
def test_odd_texts_are_counted(text):
    """Special tokens, lone surrogates and control characters are text like any other."""
    counted = TiktokenCounter().count_text(text)
    assert (len(text) > 0, int) == (counted > 0, type(counted))


def test_no_file_is_fetched_and_nothing_is_loaded_at_import(tmp_path):
    """With sockets refused and an empty cache, a new process loads tiktoken at the first count and is exact."""
    code = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse\n"
        "from strands_ctx.tokens import TiktokenCounter\n"
        "counter = TiktokenCounter()\n"
        "early = 'tiktoken' in sys.modules\n"
        "print(early, counter.count_text('The log is not the view.'), counter.exact)\n"
    )
    environment = {"TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ("False 7 True\n", []) == (shown.stdout, list(tmp_path.iterdir()))


def test_an_encoding_is_built_once_in_a_process(fresh, monkeypatch):
    """Counters in many threads share one encoding."""
    built = []
    build = tiktoken_counter._build
    monkeypatch.setattr(tiktoken_counter, "_build", lambda name: built.append(name) or build(name))
    threads = [threading.Thread(target=lambda: TiktokenCounter().count_text("some text")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["o200k_base"] == built


def test_tiktokens_own_loader_is_left_in_place(fresh):
    """Another user of tiktoken in the process never meets our loader."""
    TiktokenCounter().count_text("some text")
    assert "tiktoken.load" == openai_public.load_tiktoken_bpe.__module__


def test_without_a_table_characters_are_counted_with_one_warning(no_tables, caplog):
    """The last resort says that it is one, once."""
    caplog.set_level(logging.WARNING)
    counters = [TiktokenCounter(), TiktokenCounter()]
    counts = [counter.count_text("some text of many words") for counter in counters]
    assert (1, [False, False], True) == (len(caplog.records), [counter.exact for counter in counters], min(counts) > 0)


class Panicking:
    """An encoding that panics on anything longer than 5,000 characters, as tiktoken does on some runs."""

    name = "panicking"

    def encode_ordinary(self, text):
        """One token a character."""
        if len(text) > 5_000:
            raise type("PanicException", (BaseException,), {})("stack overflow")
        return [0] * len(text)


def test_tiktoken_never_gets_more_than_a_piece(monkeypatch):
    """A long text arrives in pieces of at most 100,000 characters."""
    sizes = []

    class Recording(Panicking):
        def encode_ordinary(self, text):
            sizes.append(len(text))
            return [0]

    monkeypatch.setattr(tiktoken_counter, "_loaded", {"o200k_base": Recording()})
    TiktokenCounter().count_text("x" * 250_000)
    assert [100_000, 100_000, 50_000] == sizes


def test_a_panic_is_answered_with_smaller_pieces(monkeypatch):
    """A panic of tiktoken's Rust code, which is no Exception, never reaches the caller."""
    monkeypatch.setattr(tiktoken_counter, "_loaded", {"o200k_base": Panicking()})
    assert 30_000 == TiktokenCounter().count_text("x" * 30_000)


def test_an_interrupt_passes(monkeypatch):
    """Other exceptions that are no Exception are not swallowed."""

    class Interrupted(Panicking):
        def encode_ordinary(self, text):
            raise KeyboardInterrupt

    monkeypatch.setattr(tiktoken_counter, "_loaded", {"o200k_base": Interrupted()})
    with pytest.raises(KeyboardInterrupt):
        TiktokenCounter().count_text("some text of many words")


def test_a_second_count_of_a_text_is_remembered(monkeypatch):
    """The encoding is asked once for equal texts."""
    asked = []

    class Recording(Panicking):
        def encode_ordinary(self, text):
            asked.append(len(text))
            return [0]

    monkeypatch.setattr(tiktoken_counter, "_loaded", {"o200k_base": Recording()})
    counter = TiktokenCounter()
    text = "some text of many words"
    counter.count_text(text)
    counter.count_text(text[:5] + text[5:])
    assert [23] == asked


def test_pieces_end_before_a_word():
    """A long text is cut before a space and a letter."""
    assert ["one two", " three"] == list(tiktoken_counter.split_pieces("one two three", 10))


def test_pieces_end_before_a_line_where_no_word_starts():
    """Where no word starts, a line end is the cut."""
    assert ["1234567", "\n89012"] == list(tiktoken_counter.split_pieces("1234567\n89012", 10))


def test_pieces_keep_a_combining_sequence_whole():
    """A base character and its marks stay together."""
    assert ["aaaaaaaa", "e\u0301\u0301aa"] == list(tiktoken_counter.split_pieces("aaaaaaaae\u0301\u0301aa", 10))


def test_an_unknown_encoding_is_refused():
    """An encoding without a packaged table is an error at construction."""
    with pytest.raises(errors.ConfigError, match="encoding='gpt2'"):
        TiktokenCounter("gpt2")


def test_the_packaged_tables_are_tiktokens_own():
    """Both tables rebuild to the files whose hashes tiktoken states."""
    assert [True, True] == [TiktokenCounter(name).exact for name in tiktoken_counter.ENCODINGS]
