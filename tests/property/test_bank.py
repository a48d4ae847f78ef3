"""Laws of the bank: what goes in comes out, and a recall tool stays within its bound whatever it is asked."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from strands_ctx.bank import ToolResultBank
from strands_ctx.bank._encoding import decode, encode
from strands_ctx.bank._excerpts import Lines
from strands_ctx.errors import BankLookupError

TEXTS = st.text(st.characters(), max_size=60)  # lone surrogates too
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | st.binary(max_size=40)
KEYS = TEXTS | st.sampled_from(["$bytes", "text", "json"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)
CONTENT = st.lists(
    st.fixed_dictionaries({"text": TEXTS})
    | st.fixed_dictionaries({"json": VALUES})
    | st.fixed_dictionaries(
        {"image": st.fixed_dictionaries({"source": st.fixed_dictionaries({"bytes": st.binary()})})}
    ),
    max_size=3,
)
RESULTS = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["t1", "t2", "\ud800", "'; --"]), CONTENT)


class Named:
    """As much of an agent as a bank asks of one."""

    agent_id, messages = "default", ()

    def __init__(self, name):
        self.name = name


def put(bank, agent, tool_use_id, content):
    """Hand a bank one result, as the host does."""
    result = {"toolUseId": tool_use_id, "status": "success", "content": content}
    use = {"toolUseId": tool_use_id, "name": "read", "input": {"of": content}}
    bank._recorder.on_result(
        SimpleNamespace(agent=agent, tool_use=use, result=result, selected_tool=None, cancel_message=None)
    )
    return result


def newest_of(bank, tool_use_id, agent):
    """The result of a call, or None where its last attempt was dropped."""
    try:
        return bank.get(tool_use_id, agent).result
    except BankLookupError as error:
        return None if error.reason == "dropped" else error


@given(VALUES)
def test_any_value_comes_back_equal(value):
    """Bytes and what only looks like our mark for them, lone surrogates, numbers of any length."""
    encoded = encode(value)
    assert (value, True) == (decode(encoded.data), encoded.exact)


@settings(max_examples=60)
@given(st.lists(RESULTS, max_size=12), st.sampled_from([0, 200, 10**9]), st.none() | st.integers(0, 2_000))
def test_a_bank_is_a_list_that_keeps_what_fits(results, spill_bytes, max_bytes):
    """In order, by id and by agent; what is not kept is counted, and none is handed out for a newer one."""
    agents = {name: Named(name) for name in "ab"}
    with ToolResultBank(spill_bytes=spill_bytes, max_bytes=max_bytes) as bank:
        bank._store._batch_bytes = 0
        expected, kept_last = [], set()
        for name, tool_use_id, content in results:
            result, before = put(bank, agents[name], tool_use_id, content), bank.dropped
            kept_last.discard((name, tool_use_id))
            if bank.dropped == before and bank.count > len(expected):
                expected.append((name, tool_use_id, result, content))
                kept_last.add((name, tool_use_id))
        assert (expected, len(results), len(results) - bank.dropped) == (
            [(r.agent, r.tool_use_id, r.result, r.input["of"]) for r in bank],
            bank.count + bank.dropped,
            len(expected),
        )
        newest = {(name, tool_use_id): result for name, tool_use_id, result, _ in expected}
        assert {key: newest[key] if key in kept_last else None for key in newest} == {
            (name, tool_use_id): newest_of(bank, tool_use_id, agents[name]) for name, tool_use_id in newest
        }


ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "tool_use_id": st.sampled_from(["t1", "t2"]) | LEAVES,
        "pattern": st.sampled_from(["a", "\n", " "]) | LEAVES,
        "first_line": st.integers(-1, 80) | LEAVES,
        "last_line": st.integers(-1, 80) | LEAVES,
        "context_lines": st.integers(-1, 30) | LEAVES,
        "other": LEAVES,
    },
)


@settings(max_examples=60)
@given(
    st.lists(st.text(st.sampled_from("ab \n\u00e4\U0001f600\ud800"), max_size=30), min_size=1, max_size=3),
    st.integers(1, 400),
    st.lists(ARGUMENTS, max_size=8),
)
def test_a_recall_tool_answers_anything_within_its_bound(texts, times, asked):
    """Always one text of at most its bytes, in UTF-8, with a status; never an exception."""
    agent = Named("a")
    with ToolResultBank() as bank:
        for number, text in enumerate(texts):
            put(bank, agent, f"t{number}", [{"text": text * times}])
        tool = bank.as_tool(max_bytes=2_000)

        async def answers():
            uses = [{"toolUseId": "r", "input": arguments} for arguments in asked]
            bank._recorder.on_call(SimpleNamespace(agent=agent, tool_use={"toolUseId": "r"}))
            return [event for use in uses async for event in tool.stream(use, {"agent": agent})]

        given_back = asyncio.run(answers())
    assert [(True, True)] * len(asked) == [
        (answer["status"] in ("success", "error"), 0 < len(answer["content"][0]["text"].encode()) <= 2_000)
        for answer in given_back
    ]


@given(st.text(st.sampled_from("ab\n\u00e4\U0001f600"), max_size=3_000), st.integers(1_616, 4_000))
def test_the_parts_of_a_text_are_the_text(text, max_bytes):
    """Read one after the other from where each says, with the newlines between lines and none in a long one."""
    lines, parts, start = Lines(text), [], 1
    ends = [*lines.starts[1:], len(text)]
    while start:
        part = lines.window(start, len(lines), max_bytes)
        parts.append(text[lines.starts[part.first - 1] : ends[part.last - 1]])
        assert part.body == parts[-1].removesuffix("\n")
        start = part.next
    assert text == "".join(parts)
