"""Hands a bank results as the host does, with no agent."""

from __future__ import annotations

from types import SimpleNamespace


class Named:
    """As much of an agent as a bank asks of one."""

    def __init__(self, name="agent"):
        self.agent_id, self.name, self.messages = "default", name, []


AGENT = Named()


def put(bank, tool_use_id, text, *, agent=AGENT, name="read", status="success"):
    """Hand a bank one result, as the host does."""
    use = {"toolUseId": tool_use_id, "name": name, "input": {"id": tool_use_id}}
    result = {"toolUseId": tool_use_id, "status": status, "content": [{"text": text}]}
    event = SimpleNamespace(agent=agent, tool_use=use, result=result, selected_tool=None, cancel_message=None)
    bank._recorder.on_result(event)
    return result
