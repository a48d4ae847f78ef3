"""How far the last resort is from the encodings."""

from __future__ import annotations

import inspect
import json
import random

import pytest

from strands_ctx.tokens import CharacterCounter, TiktokenCounter

RANDOM = random.Random(3)
CJK = {
    "Chinese": "今天我们讨论如何为大型语言模型管理上下文窗口。每一次调用都会发送消息和工具结果。",
    "Japanese": "今日は大規模言語モデルのコンテキスト管理について説明します。結果が大きすぎると失敗します。",
    "Korean": "오늘은 대규모 언어 모델의 컨텍스트 창을 관리하는 방법을 설명합니다. 결과가 너무 크면 실패합니다.",
    "any ideographs": "".join(chr(RANDOM.randrange(0x4E00, 0x9FFF)) for _ in range(10_000)),
    "any syllables": "".join(chr(RANDOM.randrange(0xAC00, 0xD7A3)) for _ in range(10_000)),
    "any kana": "".join(chr(RANDOM.randrange(0x3041, 0x30FF)) for _ in range(10_000)),
}
LATIN = {
    "code": inspect.getsource(inspect),
    "prose": " ".join(line for line in inspect.getdoc(random.Random).split()) * 5,
    "json": json.dumps([{"id": n, "price": n * 1.37, "name": f"item {n}", "ok": True} for n in range(500)]),
}


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("script", CJK)
def test_cjk_is_never_far_under(encoding, script):
    """At least 0.6 of the real count, common text or rare."""
    real = TiktokenCounter(encoding).count_text(CJK[script])
    assert 0.6 * real <= CharacterCounter().count_text(CJK[script])


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("kind", LATIN)
def test_code_prose_and_json_are_close(encoding, kind):
    """Within 30 % of the real count."""
    real = TiktokenCounter(encoding).count_text(LATIN[kind])
    assert real == pytest.approx(CharacterCounter().count_text(LATIN[kind]), rel=0.3)


@pytest.mark.parametrize("text", [" ", "\x00", "\x7f", "é", "\ud83d", "🙂", "\U0010ffff"])
def test_every_character_costs_something(text):
    """Only an empty text is free."""
    assert (0, True) == (CharacterCounter().count_text(""), CharacterCounter().count_text(text) > 0)


def test_a_lone_surrogate_costs_what_its_bytes_do():
    """It is counted and not replaced."""
    assert 16 == CharacterCounter().count_text("\ud83d" * 10)


def test_estimates_are_labelled():
    """Characters are never exact."""
    assert CharacterCounter().exact is False
