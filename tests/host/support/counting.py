"""What makes a long run quick: a model that counts nothing, a log that is not copied, a low recursion limit."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from strands.models import Model

from strands_ctx.testing.stream_events import stream_events

SHORT_LIMIT = 330
"""A recursion limit that ends the host's loop after about 95 cycles, and an invocation of ``run`` after about 40."""


@contextmanager
def short_stack():
    """Run with a low recursion limit, so that a short run is a long one."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(SHORT_LIMIT)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class CountingModel(Model):
    """Calls one tool so many times, each with the number of the call, and counts nothing: long runs stay quick."""

    def __init__(self, calls):
        self.calls, self.position = calls, 0

    def update_config(self, **model_config):
        """Nothing can be configured."""

    def get_config(self):
        """Nothing is configured."""
        return {}

    async def structured_output(self, output_model, prompt, system_prompt=None, **kwargs):
        """Not used."""
        yield {}

    async def stream(self, *args, **kwargs):
        """Answer with the next call, or with the text that ends the run."""
        self.position += 1
        call = {"toolUseId": f"call-{self.position}", "name": "note", "input": {"number": self.position}}
        more = self.position <= self.calls
        for event in stream_events([{"toolUse": call} if more else {"text": "Done."}], None):
            yield event


class QuickLog(list):
    """A log that is not copied for each call: the host copies it twice, which is most of what a long run costs."""

    def __deepcopy__(self, memo):
        return list(self)
