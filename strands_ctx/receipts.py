"""Receipts: what each model call was sent and what the provider billed for it. Nothing is left out in silence."""

from __future__ import annotations

from dataclasses import dataclass

from .plans import Plan, Reason


@dataclass(frozen=True, slots=True)
class Receipt:
    """A plan and what came of it.

    Attributes:
        call: Number of the model call, from 1; attempts after an overflow have the same number.
        reason: Why the view is what it is.
        log_messages: Messages in the log.
        log_tokens: Tokens that the whole log with system prompt and tools would take (estimate).
        view_messages: Messages in the view.
        view_tokens: Tokens of the view with system prompt and tools (estimate).
        cut: The index before which messages are left out, the lead apart.
        cap_line: The index before which results are shown capped.
        omitted_messages: Messages of the log that the view leaves out.
        omitted_results: Tool results in these.
        capped_results: Results and newest texts of the view that are capped.
        dropped_bytes: Bytes that the caps leave out (exact).
        replaced_media: Images and documents shown as a line of text, so that there are not too many for one request.
        repaired: Whether the view had to be made legal.
        limit_tokens: The hard limit that the plan was made for, or None.
        over_working_set: Whether the view exceeds the soft working set.
        standing: ``kept``, ``restored`` from a session, or ``reset`` because the log is another one.
        billed_tokens: Prompt tokens that the provider billed (exact), None where it said nothing.
        silently_truncated: Whether that is so little that the server must have cut the prompt.
        outcome: ``complete``, ``overflow``, ``failed`` or ``abandoned``.
    """

    call: int
    reason: Reason
    log_messages: int
    log_tokens: int
    view_messages: int
    view_tokens: int
    cut: int
    cap_line: int
    omitted_messages: int
    omitted_results: int
    capped_results: int
    dropped_bytes: int
    replaced_media: int = 0
    repaired: bool = False
    limit_tokens: int | None = None
    over_working_set: bool = False
    standing: str = "kept"
    billed_tokens: int | None = None
    silently_truncated: bool = False
    outcome: str = "abandoned"

    @classmethod
    def of(
        cls,
        plan: Plan,
        *,
        call: int,
        view_messages: int,
        repaired: bool,
        limit_tokens: int | None,
        over_working_set: bool,
        standing: str,
    ) -> Receipt:
        """Open the receipt of a plan; it counts as abandoned until the call ends."""
        return cls(
            call=call,
            reason=plan.reason,
            log_messages=plan.log_messages,
            log_tokens=plan.log_tokens,
            view_messages=view_messages,
            view_tokens=plan.view_tokens,
            cut=plan.cut,
            cap_line=plan.cap_line,
            omitted_messages=plan.omitted_messages,
            omitted_results=plan.omitted_results,
            capped_results=plan.capped_results,
            dropped_bytes=plan.dropped_bytes,
            replaced_media=plan.replaced_media,
            repaired=repaired,
            limit_tokens=limit_tokens,
            over_working_set=over_working_set,
            standing=standing,
        )
