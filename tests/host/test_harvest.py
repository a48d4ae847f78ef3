"""What a run achieved is handed out, whole or partial, and says why it ended."""

from __future__ import annotations

import asyncio
import json

import pytest
from strands import Agent, hooks, tool
from strands.agent.conversation_manager import NullConversationManager, SlidingWindowConversationManager
from strands.types.exceptions import (
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from strands_ctx import AnchorError, BudgetExceededError, BudgetSuffixManager, CapToolResultsManager, PerTurnManager
from strands_ctx.bank import ToolResultBank
from strands_ctx.harvest import outcome_of, run, run_async
from strands_ctx.testing import ToolCall, WindowModel

from .support.faults import ProviderDownError
from .support.rig import FaultyModel, Rig, fetch, fetches, text_of


def agent_of(*steps, manager=None, tools=(fetch,), hooks=(), model=None, **window):
    """An agent that follows a script."""
    return Agent(
        model=model or WindowModel(steps, **window),
        tools=list(tools),
        conversation_manager=manager or NullConversationManager(),
        callback_handler=None,
        retry_strategy=None,
        hooks=list(hooks),
    )


def result_texts(results):
    """The texts of results, in order."""
    return [record.result["content"][0]["text"] for record in results]


def test_a_run_that_ends_by_itself_is_complete():
    """Status, answer, the host's own result, and exactly the messages and results of this run."""
    agent = agent_of(*fetches(10), "First.", *fetches(20, 30), "Second.")
    first, second = run(agent, "One."), run(agent, "Two.")
    assert ("complete", "finished", None, 0) == (second.status, second.reason, second.error, second.resumes)
    assert ("Second.\n", "end_turn") == (str(second.result), second.result.stop_reason)
    assert agent.messages == [*first.new_messages, *second.new_messages]
    assert second.message is agent.messages[-1]
    assert ("log", [text_of(20, 20), text_of(30, 30)]) == (
        second.tool_results_from,
        result_texts(second.tool_results),
    )
    assert [(1, "tooluse_00002", "fetch"), (2, "tooluse_00003", "fetch")] == [
        (record.order, record.tool_use_id, record.tool_name) for record in second.tool_results
    ]


def test_receipts_and_usage_are_those_of_the_run():
    """An earlier run's calls are in neither, and what was billed adds up."""
    agent = agent_of("First.", *fetches(400, 500), "Second.", manager=PerTurnManager(2_000))
    first = run(agent, "One.")
    outcome = run(agent, "Two.")
    billed = sum(request.prompt_tokens for request in agent.model.requests[1:])
    usage = outcome.usage
    assert ([1], [2, 3, 4]) == ([r.call for r in first.receipts], [r.call for r in outcome.receipts])
    assert billed == usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    assert agent.event_loop_metrics.accumulated_usage["outputTokens"] == (
        first.usage.output_tokens + usage.output_tokens
    )


def test_unknown_numbers_are_none():
    """A provider that reports nothing, and one that knows no cache."""
    silent, plain = agent_of("Hello.", usage="none"), agent_of("Hello.", usage="included", cache=False)
    usage = run(plain, "Hello?").usage
    assert (None, True) == (run(silent, "Hello?").usage, usage.input_tokens > 0)
    assert ({None, 0}) >= {usage.cache_read_tokens, usage.cache_write_tokens}


def test_a_manager_without_receipts_gives_none():
    """Any conversation manager will do."""
    assert () == run(agent_of("Hello."), "Hello?").receipts


def test_results_of_a_bank_are_whole_where_the_log_is_capped():
    """The log's own results were capped as the run ended, the bank's were taken as the tools returned them."""
    bank = ToolResultBank()
    agent = agent_of(*fetches(5_000, 6_000), "Done.", manager=CapToolResultsManager(600), hooks=[bank])
    outcome = run(agent, "Fetch two.", bank=bank)
    logged = [block["toolResult"] for m in outcome.new_messages for block in m["content"] if "toolResult" in block]
    assert ("bank", [text_of(5_000, 5_000), text_of(6_000, 6_000)]) == (
        outcome.tool_results_from,
        result_texts(outcome.tool_results),
    )
    assert max(len(item["content"][0]["text"].encode()) for item in logged) <= 600


def test_a_bank_hands_out_this_run_of_this_agent():
    """Neither an earlier run's results nor those of another agent of the same bank."""
    bank = ToolResultBank()
    agent = agent_of(*fetches(10), "First.", *fetches(20), "Second.", hooks=[bank])
    other = agent_of(*fetches(30), "Other.", hooks=[bank])
    run(agent, "One.", bank=bank)
    run(other, "One.", bank=bank)
    outcome = run(agent, "Two.", bank=bank)
    assert ([text_of(20, 20)], 3) == (result_texts(outcome.tool_results), bank.count)


def test_a_bank_that_was_not_listening_is_not_believed(caplog):
    """An empty bank beside a log with results: they come from the log, are labelled so, and it is said."""
    outcome = run(agent_of(*fetches(10), "Done."), "Fetch one.", bank=ToolResultBank())
    assert ("log", [text_of(10, 10)]) == (outcome.tool_results_from, result_texts(outcome.tool_results))
    assert "is it a hook of this agent?" in caplog.text


def test_a_log_that_was_trimmed_gives_no_slice():
    """A manager that removes messages: no delta and the reason, while the bank still has every result."""
    bank = ToolResultBank()
    agent = agent_of(*fetches(10, 20, 30, 40), "Done.", manager=SlidingWindowConversationManager(4), hooks=[bank])
    outcome = run(agent, "Fetch four.", bank=bank)
    assert ("complete", None, "removed_message_count", 4) == (
        outcome.status,
        outcome.new_messages,
        outcome.anchor_error.change,
        len(outcome.tool_results),
    )
    assert isinstance(outcome.anchor_error, AnchorError)


def test_without_a_bank_a_trimmed_log_has_unknown_results():
    """Unknown is None, and not an empty list."""
    agent = agent_of(*fetches(10, 20, 30, 40), "Done.", manager=SlidingWindowConversationManager(4))
    outcome = run(agent, "Fetch four.")
    assert (None, None, None) == (outcome.tool_results, outcome.tool_results_from, outcome.message)


def window(tokens):
    """A model whose window overflows at the second call."""
    return {"model": WindowModel([*fetches(4_000, 4_000), "Done."], context_window_limit=tokens)}


class CutShortModel(WindowModel):
    """Ends its second answer at the output limit."""

    async def stream(self, *args, **kwargs):
        async for event in super().stream(*args, **kwargs):
            if "messageStop" in event and self.position == 2:
                event = {"messageStop": {"stopReason": "max_tokens"}}  # noqa: PLW2901
            yield event


EARLY_ENDS = {
    "overflow": (ContextWindowOverflowException, lambda: window(1_000)),
    "budget": (BudgetExceededError, lambda: {"manager": BudgetSuffixManager(8), **window(100_000)}),
    "max_tokens": (MaxTokensReachedException, lambda: {"model": CutShortModel([*fetches(10), "Done."])}),
    "throttled": (
        ModelThrottledException,
        lambda: {"model": WindowModel([*fetches(10), "Done."], fail_at={2: ModelThrottledException("slow down")})},
    ),
    "error": (
        ProviderDownError,
        lambda: {"model": WindowModel([*fetches(10), "Done."], fail_at={2: ProviderDownError("no route")})},
    ),
}


@pytest.mark.parametrize("reason", sorted(EARLY_ENDS))
def test_a_run_that_ends_early_is_partial_and_holds_its_error(reason):
    """The error is the original one, what was achieved is there, and the delta is the log's own tail."""
    error_type, arguments = EARLY_ENDS[reason]
    agent = agent_of(**arguments())
    outcome = run(agent, "Fetch them.")
    assert ("partial", reason, error_type, None) == (
        outcome.status,
        outcome.reason,
        type(outcome.error),
        outcome.result,
    )
    assert (agent.messages, "Fetch them.") == (outcome.new_messages, agent.messages[0]["content"][0]["text"])


def test_the_exception_is_kept_as_the_host_raised_it_too():
    """``error`` is taken out of the host's wrapper, ``raised`` is what ``agent(...)`` would have raised."""
    outcome = run(
        agent_of(model=WindowModel([*fetches(10), "Done."], fail_at={2: ProviderDownError("no route")})), "Fetch one."
    )
    assert (EventLoopException, outcome.error) == (type(outcome.raised), outcome.raised.original_exception)


@pytest.mark.parametrize("failing_call", [1, 2])
def test_reraise_raises_what_the_host_raised_with_the_outcome_on_it(failing_call):
    """Existing except clauses go on working, and find what was achieved."""
    agent = agent_of(model=WindowModel([*fetches(10), "Done."], fail_at={failing_call: ProviderDownError("no route")}))
    with pytest.raises(ProviderDownError if failing_call == 1 else EventLoopException) as caught:
        run(agent, "Fetch one.", reraise=True)
    outcome = outcome_of(caught.value)
    assert (agent.messages, "no route") == (outcome.new_messages, str(outcome.error))
    assert outcome is outcome_of(outcome.error)
    assert caught.value.outcome is outcome
    if hasattr(caught.value, "__notes__"):
        assert 1 == sum("outcome_of" in note for note in caught.value.__notes__)


def test_reraise_returns_where_nothing_was_raised():
    """A complete run, and one that a limit ended."""
    agent = agent_of("Hello.", *fetches(10), "Done.")
    done = run(agent, "Hello?", reraise=True)
    limited = run(agent, "Fetch one.", reraise=True, limits={"turns": 1})
    assert [("complete", "finished"), ("partial", "limit")] == [(o.status, o.reason) for o in (done, limited)]


def test_an_interrupt_is_complete_and_says_that_it_waits():
    """The host's interrupts are in the result, and the answers go in as the next prompt."""

    @tool(context=True)
    def send(tool_context) -> str:
        """Send it, if a person agrees."""
        return f"sent: {tool_context.interrupt('approval', reason='send it?')}"

    agent = agent_of(ToolCall("send"), "Sent.", tools=[send])
    waiting = run(agent, "Send it.")
    answers = [{"interruptResponse": {"interruptId": i.id, "response": "yes"}} for i in waiting.result.interrupts]
    outcome = run(agent, answers)
    assert [("complete", "interrupt"), ("complete", "finished")] == [(o.status, o.reason) for o in (waiting, outcome)]
    assert (["sent: yes"], ["toolResult", "text"]) == (
        result_texts(outcome.tool_results),
        [next(iter(message["content"][0])) for message in outcome.new_messages],
    )


def test_run_works_inside_a_running_event_loop():
    """As ``agent(...)`` does."""

    async def scenario():
        return run(agent_of(*fetches(10), "Done."), "Fetch one.")

    assert "complete" == asyncio.run(scenario()).status


def test_run_async_does_what_run_does():
    """One body: the same outcome of the same script."""
    outcomes = [
        run(agent_of(*fetches(10), "Done."), "Fetch one."),
        asyncio.run(run_async(agent_of(*fetches(10), "Done."), "Fetch one.")),
    ]
    whole, whole_async = (
        [(message["role"], message["content"]) for message in outcome.new_messages] for outcome in outcomes
    )
    assert (whole, repr(outcomes[0])) == (whole_async, repr(outcomes[1]))


def test_invocation_arguments_reach_the_agent():
    """State is passed on, and what the host takes is not ours to know."""
    agent, state = agent_of("Hello."), {"user": "u1"}
    seen = []
    agent.hooks.add_callback(hooks.BeforeModelCallEvent, lambda event: seen.append(event.invocation_state["user"]))
    run(agent, "Hello?", invocation_state=state)
    assert ["u1"] == seen


def test_an_outcome_shows_no_content():
    """Its repr may go into a log."""
    agent = agent_of(*fetches(2_000), "A secret.")
    shown = repr(run(agent, "A secret question."))
    assert "status='complete'" in shown
    assert ([], True) == ([word for word in ("secret", "alder") if word in shown], len(shown) < 300)


def test_a_failed_hook_after_the_run_loses_nothing():
    """A session's or an app's hook fails at the very end: the answer is there, and the error too."""
    rig = Rig(model=FaultyModel(["Done."]))
    rig.agent.hooks.add_callback(hooks.AfterInvocationEvent, lambda event: json.loads("{"))
    outcome = run(rig.agent, "Go on.")
    assert ("partial", "error", "Done.") == (outcome.status, outcome.reason, outcome.message["content"][0]["text"])
    assert isinstance(outcome.error, json.JSONDecodeError)
