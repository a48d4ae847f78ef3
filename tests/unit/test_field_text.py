"""Cases from the field: texts a little too long, in every script, cut and counted."""

from __future__ import annotations

import json

import pytest

from strands_ctx import BudgetSuffixManager, CapToolResultsManager, ConfigError, PerTurnManager, TiktokenCounter
from strands_ctx.plans import Policy
from strands_ctx.tokens import CharacterCounter
from tests.builders import cycle, limits_of, load_of, planned, texts, tokens_of, turn, user, words

CHARACTERS = {
    "CJK": "漢",
    "joined emoji": "👩‍👩‍👧",
    "flag": "🇫🇷",
    "combining marks": "o\u0308\u0304",
    "surrogate pair": "\ud83d\ude00",
    "lone surrogate": "\ud800",
}
CJK = {
    "Chinese": "今天我们讨论如何为大型语言模型管理上下文窗口。每一次调用都会发送消息和工具结果。",
    "Japanese": "今日は大規模言語モデルの文脈を管理する方法について話します。呼び出しごとに結果が送られます。",
    "Korean": "오늘은 대규모 언어 모델의 문맥을 관리하는 방법을 이야기합니다. 호출마다 결과가 전송됩니다.",
    "rare": "".join(chr(0x4E00 + 7 * number) for number in range(200)),
}


@pytest.mark.parametrize("length", range(399, 449))
def test_a_result_a_little_longer_than_its_cap_never_grows(length):
    """S16: 401 to 447 characters and a cap of 400, behind the cap line of a view."""
    policy = Policy(old_result_max_bytes=400, recent_tokens=0)
    log = [user("go"), *cycle("a", "x" * length), *cycle("b", words(300)), *cycle("c")]
    plan, view = planned(log, limits_of(300), policy)
    sizes = [len(texts(message)[0]) for message in view[2::2]]
    assert ([min(length, 400), 400, 5], 1 + (length > 400)) == (sizes, plan.capped_results)


@pytest.mark.parametrize(
    ("kind", "argument"),
    [
        (CapToolResultsManager, "max_bytes_per_result"),
        (CapToolResultsManager, "max_bytes_per_message"),
        (BudgetSuffixManager, "max_bytes_per_result"),
        (PerTurnManager, "old_result_max_bytes"),
        (PerTurnManager, "old_input_max_bytes"),
    ],
)
def test_a_cap_smaller_than_its_marker_is_refused(kind, argument):
    """S16: at construction, before any text could grow; 64 bytes always have room for it."""
    kind(**{argument: 64})
    with pytest.raises(ConfigError, match=f"{argument}=63"):
        kind(**{argument: 63})


@pytest.mark.parametrize("own", [True, False], ids=["prompt", "result"])
@pytest.mark.parametrize("script", CHARACTERS)
def test_what_is_cut_in_a_view_is_valid_utf8_of_whole_characters(script, own):
    """S18: a pasted prompt and a huge result, cut to fit whatever the budget."""
    character = CHARACTERS[script]
    whole = character.encode("utf-8", "replace").decode()
    broken = {}
    for budget in range(400, 1_000, 13):
        log = [user(character * 2_000)] if own else [user("go"), *cycle("a", character * 2_000)]
        _, view = planned(log, limits_of(budget), counter=CharacterCounter())
        text = texts(view[-1])[0]
        json.dumps(view, ensure_ascii=False).encode()
        head, _, rest = text.partition("\n[... ")
        if "bytes shown" not in text or (head + rest.partition(" ...]\n")[2]).replace(whole, ""):
            broken[budget] = text
    assert {} == broken


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("counter", [CharacterCounter(), TiktokenCounter()], ids=["characters", "tiktoken"])
@pytest.mark.parametrize("script", CJK)
def test_the_estimate_of_cjk_is_not_below_0_6_of_the_real_count(script, counter, encoding):
    """S18: of a planned log, by the default counter and by the one that needs no table."""
    log = turn(CJK[script] * 5, CJK[script] * 9)
    plan, _ = planned(log, limits_of(100_000), counter=counter)
    assert plan.view_tokens >= 0.6 * tokens_of(log, TiktokenCounter(encoding), load_of())
