"""What a recall tool answers: bounded whatever it is asked, and whatever is banked."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from strands_ctx.bank import ToolResultBank
from strands_ctx.bank.recall import text_of
from strands_ctx.errors import ConfigError

from . import emission


class Named:
    """As much of an agent as a bank asks of one."""

    agent_id, name, messages = "default", "agent", ()


AGENT = Named()


@pytest.fixture
def bank():
    """A bank that is closed at the end of the test."""
    with ToolResultBank() as bank:
        yield bank


def put(bank, tool_use_id, *content, name="read"):
    """Hand a bank one result, as the host does."""
    use = {"toolUseId": tool_use_id, "name": name, "input": {}}
    result = {"toolUseId": tool_use_id, "status": "success", "content": list(content)}
    bank._recorder.on_result(
        SimpleNamespace(agent=AGENT, tool_use=use, result=result, selected_tool=None, cancel_message=None)
    )


def ask(tool, agent=AGENT, **given):
    """Call a tool as the host does, and return status and text."""

    async def answers():
        use = {"toolUseId": "r1", "name": tool.tool_name, "input": given}
        if agent is not None:
            tool._bank._recorder.on_call(SimpleNamespace(agent=agent, tool_use=use))
        return [event async for event in tool.stream(use, {"agent": AGENT})]

    [answer] = asyncio.run(answers())
    return answer["status"], answer["content"][0]["text"]


def test_a_long_result_can_be_read_to_its_end_in_parts(bank):
    """Going on where each part says gives the text itself."""
    text = "\n".join(f"row {number} " + "x" * (number % 150) for number in range(3_000))
    put(bank, "t1", {"text": text})
    tool, parts, start = bank.as_tool(max_bytes=5_000), [], 1
    while start:
        status, answer = ask(tool, tool_use_id="t1", first_line=start)
        body, _, more = answer.partition("\n")[2].partition("\nNot all fits: the rest starts at first_line=")
        parts.append(body)
        start = int(more.rstrip(".")) if more else None
    assert (text, "success", True) == ("\n".join(parts), status, len(parts) > 40)


def test_a_part_says_what_it_is_of(bank):
    """Id, tool, status and lines, in one line before it."""
    put(bank, "t1", {"text": "a\nb\nc"})
    tool = bank.as_tool()
    assert [
        ("success", "Result t1 of read, status success, lines 2 to 3 of 3:\nb\nc"),
        ("success", "Result t1 of read, status success, 3 lines, matches in lines 1 to 3: 1:\n2: b"),
        ("success", "Result t1 of read, status success, 3 lines, matches in lines 1 to 3: 0."),
        ("success", "Banked results 1 to 1 of 1: id, tool, status, bytes, start:\nt1 read success 68 a"),
    ] == [
        ask(tool, tool_use_id="t1", first_line=2),
        ask(tool, tool_use_id="t1", pattern="b", context_lines=0),
        ask(tool, tool_use_id="t1", pattern="z"),
        ask(tool),
    ]


def test_null_arguments_are_as_if_not_given(bank):
    """Some models fill in every argument; whole numbers may come as floats."""
    put(bank, "t1", {"text": "a\nb"})
    tool = bank.as_tool()
    asked = ask(tool, tool_use_id="t1", pattern=None, first_line=2.0, last_line=None, context_lines=None)
    assert ask(tool, tool_use_id="t1", first_line=2) == asked


def test_json_and_media_are_shown_as_text():
    """JSON over lines, so that parts of it can be asked for; media by kind and size, never their bytes."""
    content = [
        {"text": "two"},
        {"json": {"rows": [1, "ä"]}},
        {"document": {"format": "pdf", "name": "plan", "source": {"bytes": b"x" * 1_234}}},
        {"other": b"bytes"},
    ]
    shown = 'two\n{\n "rows": [\n  1,\n  "ä"\n ]\n}\n[document: pdf, "plan", 1,234 bytes]\n{\n "other": "<bytes>"\n}'
    assert shown == text_of({"content": content})


def test_a_list_is_paged_and_has_each_id_once(bank):
    """A retried call is listed with its last attempt."""
    for number in range(200):
        put(bank, f"call_{number:03}", {"text": f"first line {number}\nsecond"})
    put(bank, "call_000", {"text": "second attempt"})
    tool, rows, start = bank.as_tool(max_bytes=2_000), [], 1
    while start:
        _, answer = ask(tool, first_line=start)
        body, _, more = answer.partition("\n")[2].partition("\nNot all fits: the rest starts at first_line=")
        rows += body.split("\n")
        start = int(more.rstrip(".")) if more else None
    assert (200, "call_001 read success 87 first line 1", "call_000 read success 81 second attempt") == (
        len(rows),
        rows[0],
        rows[-1],
    )


def test_a_row_of_the_list_is_short(bank):
    """The start of the first line that is not blank, and of an id that is longer than any provider's."""
    put(bank, "t" * 300, {"text": "\n\n  " + "x" * 100_000})
    put(bank, "t2", {"text": ""})
    rows = ask(bank.as_tool())[1].split("\n")[1:]
    assert [f"{'t' * 200} read success 100,365 {'x' * 80}", "t2 read success 61 "] == rows


WIDE = "\U0001f600"


@pytest.mark.parametrize("max_bytes", [2_000, 8_000])
@pytest.mark.parametrize(
    "text",
    ["", "x" * 100_000, WIDE * 50_000, "\n" * 50_000, f"{WIDE}\n" * 20_000, "\ud800" * 9_000, "a" * 399 + "\nb"],
    ids=["empty", "one line", "wide line", "newlines", "wide lines", "surrogates", "two"],
)
def test_no_answer_is_larger_than_its_bound(bank, max_bytes, text):
    """Whatever was banked, under the widest ids and names, for each kind of question; and it is UTF-8."""
    tool_use_id = WIDE * 300
    for number in range(30):
        put(bank, f"{tool_use_id}{number}", {"text": text}, name=WIDE * 64)
    tool = bank.as_tool(max_bytes=max_bytes)
    answers = [
        ask(tool),
        ask(tool, tool_use_id=f"{tool_use_id}5"),
        ask(tool, tool_use_id=f"{tool_use_id}5", pattern=WIDE, context_lines=20),
        ask(tool, tool_use_id=f"{tool_use_id}5", pattern="\n"),
        ask(tool, tool_use_id=WIDE * 500),
        ask(tool, **{WIDE * 500: 1}),
    ]
    assert [True] * len(answers) == [len(answer.encode()) <= max_bytes for _, answer in answers]


def test_without_an_agent_nothing_is_shown(bank):
    """Unless the tool is made for sharing."""
    put(bank, "t1", {"text": "a"})
    assert ("error", "success") == (
        ask(bank.as_tool(), agent=None, tool_use_id="t1")[0],
        ask(bank.as_tool("any", shared=True), agent=None, tool_use_id="t1")[0],
    )


def test_a_shared_tool_reads_the_own_result_of_an_id_first(bank):
    """Another agent's of the same id may be newer; without an own one, the newest is read."""
    own, other = emission.Named("own"), emission.Named("other")
    for agent in (own, other):
        emission.put(bank, "t1", f"of {agent.name}", agent=agent)
    tool = bank.as_tool(shared=True)
    asked = [ask(tool, agent=agent, tool_use_id="t1")[1] for agent in (own, other, emission.Named("third"))]
    assert ["of own", "of other", "of other"] == [answer.partition("\n")[2] for answer in asked]


def test_a_result_that_can_not_be_read_spoils_no_list(bank):
    """As of a damaged file, or of the parent's in a child: the others are listed."""
    for tool_use_id in ("t1", "t2"):
        put(bank, tool_use_id, {"text": "text"})
    bank._store.entries[0].payload = b"null\n{"
    tool = bank.as_tool()
    assert (
        ["t1 read success 65 (can't be read)", "t2 read success 65 text"],
        "That result can't be read: unreadable.",
    ) == (
        ask(tool)[1].split("\n")[1:],
        ask(tool, tool_use_id="t1")[1],
    )


def test_a_result_of_the_log_is_shown_whatever_it_holds(bank):
    """As a banked one would be, with what JSON does not hold by its type."""
    agent = emission.Named("later")
    result = {"toolUseId": "t1", "status": "success", "content": [{"json": {("a", "b"): object()}}]}
    agent.messages = [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": result}, "no block"]},
        {"role": "user", "content": None},
    ]
    head = "Result t1 of read, status success, not banked, as the log has it, lines 1 to 3 of 3:"
    assert ("success", f'{head}\n{{\n "a, b": "<object>"\n}}') == ask(bank.as_tool(), agent, tool_use_id="t1")


def test_the_names_of_the_tools_are_told(bank):
    """So that a manager can exempt them from its caps."""
    bank.as_tool()
    bank.as_tool("look_again")
    assert frozenset({"recall", "look_again"}) == bank.tool_names


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "naïve", 5])
def test_a_name_that_providers_refuse_is_refused_at_once(bank, name):
    """Where the tool is made, and not at the first call."""
    with pytest.raises(ConfigError, match="name="):
        bank.as_tool(name)


@pytest.mark.parametrize("max_bytes", [1_999, 0, 2_500.5, True])
def test_an_answer_too_small_for_a_line_is_refused(bank, max_bytes):
    """The smallest is 2,000 bytes."""
    with pytest.raises(ConfigError, match="max_bytes="):
        bank.as_tool(max_bytes=max_bytes)
