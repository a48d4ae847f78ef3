"""The words in which providers, gateways and local servers refuse a request as too large: data, no decisions.

A row is matched against lowered text without backticks. ``{N}`` stands for the tokens of the prompt, ``{M}`` for the
limit, ``{O}`` for the output that was asked for, ``{X}`` for what is too much, ``{PARTS}`` for prompt and output listed
in parentheses. The first row that matches wins, so those with numbers come before those without. Every repetition is
bounded, so that a match takes linear time.

Source: seen in public issue threads, provider documentation and the Strands 1.62 and LiteLLM 1.106 sources, read
2026-11-30; the thread or document is named at the row where one gives the wording in full.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

OverflowKind = Literal["tokens", "output_reserve", "images", "payload_bytes"]

NUMBER = r"[0-9]{1,15}(?:[,_.][0-9]{1,15}){0,5}(?:e\+?[0-9]{1,2})?[km]?\b"

_PLACEHOLDERS = {
    "{N}": f"(?P<prompt>{NUMBER})",
    "{M}": f"(?P<limit>{NUMBER})",
    "{O}": f"(?P<output>{NUMBER})",
    "{X}": f"(?P<excess>{NUMBER})",
    "{PARTS}": r"\((?P<parts>[^()]{1,160})\)",
    "{LENGTH}": "leng(?:th|ht)",
    "{WINDOW}": "maximum context leng(?:th|ht)",
    "{OTHER_USE}": "(?:the )?(?:guardrail|moderation|sharing|title)",
    "{HOWEVER}": r"tokens?\W{1,3}however,? (?:you requested|your messages resulted in)",
}

Row = tuple[str, str, str]
"""Kind, provider ("" where several use the words) and pattern."""

ROWS: tuple[Row, ...] = (
    # Images and documents. boto/boto3 #4632 (2025-10); cline #1844 (2025-02); anthropics/claude-code #3397, #24630;
    ("images", "", r"too (?:many|much) (?:total )?(?:images?|documents|media)\b"),
    ("images", "", r"at most [0-9]{1,6} (?:images?|videos?|audios?|documents?)(?:\(s\))? may be provided"),
    ("images", "", r"can't include more than [0-9]{1,6} (?:images|documents|videos)"),
    ("images", "", r"(?:request|message)s? (?:carries|contains?) [^.\n]{0,20}[0-9]{1,6} images"),
    ("images", "", r"max(?:imum)? allowed size for many-image requests"),
    # Bytes. Anthropic's error page; anthropic-sdk-python #938, #1028; claude-code #6368.
    ("payload_bytes", "bedrock", r"total text bytes"),
    ("payload_bytes", "anthropic", r"request exceeds the maximum (?:allowed number of bytes|size)"),
    ("payload_bytes", "anthropic", r"request size exceeds model context window"),
    ("payload_bytes", "gemini", r"request payload size exceeds"),
    ("payload_bytes", "", r"sent message larger than max"),
    ("payload_bytes", "", r"(?:request|request entity|request body|payload|content|entity) too large"),
    ("payload_bytes", "", r"request_too_large|payload_too_large"),
    # Anthropic, also on Bedrock and Vertex.
    ("output_reserve", "anthropic", r"input length and max_tokens exceed context limit: {N} \+ {O} > {M}"),
    ("output_reserve", "anthropic", r"input length and max_tokens exceed|input and output tokens exceed your context"),
    ("tokens", "anthropic", r"prompt is too long: {N} tokens > {M}"),
    ("tokens", "anthropic", r"input length exceeds context window"),
    # Bedrock; strands-agents/harness-sdk #3718 (2026-08) for its OpenAI-compatible endpoint.
    ("tokens", "bedrock", r"input is too long for requested model"),
    ("tokens", "bedrock", r"prompt tokens \({N}\) exceeds? (?:customer )?model maximum \({M}\)"),
    ("tokens", "bedrock", r"exceed(?:s|ed)? (?:customer )?model maximum"),
    ("output_reserve", "vllm", r"is too large: {O}\. this model's {WINDOW} is {M} tokens and your request has {N}"),
    ("tokens", "", r"too many input tokens\. max input tokens: {M}, request input token count: {N}"),
    # OpenAI and those that speak like it: Azure, DeepSeek, Mistral, OpenRouter, vLLM, SGLang, Together.
    ("tokens", "", r"{WINDOW} is {M} {HOWEVER} (?:about )?[0-9,]{1,15} tokens? {PARTS}"),
    ("tokens", "", r"{WINDOW} is {M} {HOWEVER} {O} output tokens and your prompt contains at least {N}"),
    ("tokens", "", r"{WINDOW} is {M} {HOWEVER} (?:about )?{N}"),
    ("tokens", "", r"{WINDOW} of {M} tokens?\. [a-z ]{1,40} [0-9.]{1,20} tokens: {N} tokens from [a-z ]{1,40} and {O}"),
    ("tokens", "", r"input token count \({N}\) plus the requested output count \({O}\) exceeds[a-z' ]{1,50} \({M}"),
    ("tokens", "mistral", r"prompt contains {N} tokens[^.\n]{0,60} too large for model with {M} {WINDOW}"),
    ("tokens", "mistral", r"too large for model with {M} {WINDOW}"),
    ("tokens", "", r"input length \({N}\) exceeds (?:the )?model's {WINDOW} \({M}\)"),
    ("tokens", "azure", r"input tokens exceed the configured limit of {M} tokens\. your messages resulted in {N}"),
    ("tokens", "azure", r"input tokens exceed the configured limit"),
    ("tokens", "openai", r"exceeds? the context window of this model"),
    ("tokens", "openai", r"invalid '(?:messages|input)': array too long"),  # obot-platform/obot #1009 (2024-12)
    # vLLM, SGLang, TGI, TensorRT-LLM, DJL, TabbyAPI.
    ("tokens", "vllm", r"prompt \(length {N}\) is longer than the maximum model length of {M}"),
    ("tokens", "vllm", r"prompt \(total length {N}\) is too long to fit into the model \(context length {M}"),
    ("tokens", "vllm", r"exceeds the max_model_len"),
    ("tokens", "sglang", r"input length \({N} tokens\) exceeds the maximum allowed length \({M}"),
    ("tokens", "sglang", r"input \({N} tokens\) is longer than the model's context {LENGTH} \({M}"),
    ("tokens", "", r"input length {N} exceeds the maximum allowed input length of {M}"),
    ("output_reserve", "tgi", r"inputs tokens \+ max_new_tokens must be <= {M}\. given: {N} inputs tokens and {O}"),
    ("output_reserve", "tgi", r"inputs tokens \+ max_new_tokens must be <= {M}"),
    ("tokens", "tgi", r"inputs must have less than {M} tokens\. given: {N}"),
    ("tokens", "tensorrt-llm", r"prompt length \({N}\) exceeds maximum (?:sequence|input) length \({M}"),
    ("tokens", "djl", r"input prompt \({N} tokens\) is too long and exceeds limit of {M}"),  # vllm #7048 (2024-08)
    ("tokens", "", r"prompt too long: {N} tokens exceeds max_seq_len {M}"),
    # Gemini and Vertex; google-gemini/gemini-cli #4692 (2025-07).
    ("tokens", "gemini", r"input token count \({N}\) exceeds the maximum number of tokens allowed \({M}"),
    ("tokens", "gemini", r"input token count is {N} but model only supports up to {M}"),
    ("tokens", "gemini", r"exceeds the maximum number of tokens allowed \({M}"),
    ("tokens", "gemini", r"exceeds the maximum number of tokens"),
    # llama.cpp and what is built on it, LM Studio (bug tracker #546, #2256), Ollama.
    ("tokens", "llama.cpp", r"request \({N} tokens\) exceeds the available context size \({M}"),
    ("tokens", "llama.cpp", r"exceeds the available context size|context size has been exceeded"),
    ("tokens", "lmstudio", r"keep the first {N} tokens when [^\n]{0,80} context {LENGTH} of only {M}"),
    ("tokens", "lmstudio", r"n_keep \({N}\) >= n_ctx \({M}"),
    ("tokens", "lmstudio", r"tokens to keep from the initial prompt is greater than the context {LENGTH}"),
    ("tokens", "ollama", r"prompt too long; exceeded (?:max )?context {LENGTH}(?: by {X} tokens)?"),
    ("tokens", "ollama", r"input length exceeds (?:the |maximum |the maximum )?context {LENGTH}"),
    ("tokens", "ollama", r"prompt is longer than the context {LENGTH}"),
    ("tokens", "ds4", r"prompt tokens \({N}\) exceeds context size \({M}"),  # antirez/ds4 #150 (2026-05)
    ("tokens", "ds4", r"prompt has {N} tokens?, but the configured context size is {M}"),
    # Other hosted models and gateways, each in its own words.
    ("tokens", "xai", r"maximum prompt length is {M} but the request contains {N}"),
    ("tokens", "copilot", r"prompt token count of {N} exceeds the limit of {M}"),  # jjleng/copilot-more #35 (2025-03)
    ("tokens", "minimax", r"context window exceeds limit"),
    ("tokens", "kimi", r"exceeded model token limit: {M} \(re ?quested: {N}\)"),  # kimi-cli #2011 (2026-04)
    ("tokens", "kimi", r"exceeded model token limit|input token length too long"),
    ("tokens", "kimi", r"model max length exceeded, max length: ?{M}"),
    ("tokens", "cerebras", r"current length is {N} while limit is {M}"),  # cline #5140 (2025-07)
    ("tokens", "groq", r"reduce the length of the messages or completion"),
    ("tokens", "", r"reduce the length of the (?:messages|input prompt)"),
    ("tokens", "zai", r"tokens in request more than max tokens allowed|prompt exceeds max(?:imum)? length"),
    ("tokens", "dashscope", r"range of input length should be \[[0-9]+, ?{M}\]"),
    ("tokens", "perplexity", r"total length of all messages is too long"),
    ("tokens", "cohere", r"too many tokens: total number of tokens[^.\n]{0,40} cannot exceed {M} - received {N}"),
    ("tokens", "cohere", r"too many tokens: size limit exceeded by {X} tokens\.[^\n]{0,80} this model is {M}"),
    ("tokens", "cohere", r"too many tokens: [^.\n]{0,80}(?:size limit exceeded|prompt is too long|cannot exceed)"),
    ("tokens", "watsonx", r"number of input tokens {N} cannot exceed the total tokens limit {M}"),
    ("tokens", "watsonx", r"maximum sequence length for this model \({N} > {M}\)"),
    ("tokens", "watsonx", r"token_quantity_exceeded|input token count is above the limit"),
    ("tokens", "siliconflow", r"number of input tokens \({N}\) has exceeded max_prompt_tokens \({M}"),
    ("tokens", "salesforce", r"input tokens exceed model token limit"),
    ("tokens", "litellm", r"context window exceeded for given call[^\n]{0,200}max input tokens={M}, got={N}"),
    ("tokens", "litellm", r"context window exceeded for given call"),
    ("tokens", "", r"model's maximum context limit|longer than the model's context {LENGTH}"),
    # Codes and stop reasons.
    ("tokens", "", r"context_(?:length|window)_exceeded(?!_[^e])|exceed_context_size_error|max_prompt_tokens_exceeded"),
)  # fmt: skip

LOOSE_ROWS: tuple[Row, ...] = (
    ("tokens", "", r"{WINDOW} (?:is|of) {M}"),
    ("tokens", "", r"{WINDOW}"),
    ("tokens", "", r"exceed[a-z]{0,3}\b[^.\n]{0,60}\bcontext[ _-](?:{LENGTH}|window|size|limit)"),
    ("tokens", "", r"(?:longer|larger|greater) than[^.\n]{0,60}\bcontext[ _-](?:{LENGTH}|window|size|limit)"),
    ("tokens", "", r"context[ _-](?:{LENGTH}|window|size|limit)[^.\n]{0,40} (?:exceeded|overflow|is full)"),
    ("tokens", "", r"\b(?:prompt|input)[ _]tokens?[^.\n]{0,40} exceed"),
    ("tokens", "", r"\b(?:prompt|input|conversation|messages) (?:is |are )?too long\b(?! for {OTHER_USE})"),
    ("tokens", "", r"too many (?:input|prompt) tokens"),
    ("tokens", "", r"total[ _]tokens:? {N} exceeds? (?:the )?(?:limit|max(?:imum)?):? (?:of )?{M}"),
)
"""What nobody is known to say in just these words; ignored where the text names a parameter or a plan."""

CODES: dict[str, OverflowKind] = {
    "context_exceeded": "tokens",
    "context_length_exceeded": "tokens",
    "context_too_large": "tokens",
    "context_window_exceeded": "tokens",
    "exceed_context_size_error": "tokens",
    "model_context_window_exceeded": "tokens",
    "model_max_prompt_tokens_exceeded": "tokens",
    "prompt_too_long": "tokens",
    "token_quantity_exceeded": "tokens",
    "too_many_tokens": "tokens",
    "payload_too_large": "payload_bytes",
    "request_entity_too_large": "payload_bytes",
    "request_too_large": "payload_bytes",
}
"""Values of the fields code, type and status of an error."""

CLASSES: dict[str, OverflowKind] = {
    "ContextWindowExceededError": "tokens",  # litellm
    "ContextWindowOverflowException": "tokens",  # strands
    "RequestTooLargeError": "payload_bytes",  # anthropic
}
"""Names of exception classes."""

_STATUS = r"(?:\b(?:error|exception)(?: code)?|status(?:[ _]code)?|http(?:/[0-9.]{1,3})?|'code'|\"code\")\W{0,4}"
_FIRST = r"(?:^|[\"'>])\W{0,3}"

THROTTLE = (
    r"rate[ _-]?limit|too[ _-]?many[ _-]?requests|throttl|quota(?!t)|resource[ _]?exhausted|please wait before"
    r"|tokens?[ _]per[ _](?:min|hour|day|week|month|sec)|\b[tr]p[mdsh]\b"
    r"|(?:hourly|daily|weekly|monthly) (?:[a-z]{1,20} ){0,2}(?:tokens?|usage|request|spending) (?:limit|allowance|cap)"
    r"|limit:? [0-9,]{1,15} per (?:min|hour|day|sec)|insufficient[ _](?:balance|credit|funds)"
    rf"|{_STATUS}429\b|{_FIRST}429\b(?! tokens?\b)|\(429\)|\b429 status"
)
"""A refusal for the rate, the quota or the purse: never an overflow, whatever else it says."""

_COUNTED = r"(?! (?:tokens?|records|rows|items|files|lines|entries|results|times) (?!too large))"

TOO_LARGE_STATUS = (
    rf"{_STATUS}413\b{_COUNTED}|{_FIRST}413\b(?! tokens?\b){_COUNTED}|\b413 (?:request|payload|content|status)"
)
"""HTTP 413 as it is written into messages."""

PARAMETER = (
    r"above maximum value|above_max_(?:length|value)|expected a string with maximum length|expected maxlength"
    r"|string too long|array too long|maximum (?:allowed )?number of output tokens|maximum output for this model"
    r"|maximum tokens you requested exceed|range of max_tokens|at most [0-9,]{1,15} (?:completion|output) tokens"
    r"|(?<!\+ )(?<!and )(?<!plus )\bmax[ _](?:completion_|output_|new_)?tokens(?: \(?[0-9,]{1,15}\)?)?"
    r" (?:cannot|can't|must|should|is|exceeds?|larger|>)"
)
"""A refusal of one argument of the request, which no smaller prompt would answer."""

PLAN = r"^(?!.*\bcontext\b).*(?:free[ -]tier|(?:your|current) (?:plan|subscription)\b)"
"""A refusal for what was paid for, not for a window."""

ECHO = (
    r"tool[ _]?(?:result|output|response)s?\b(?!\.)|\btool \S{1,64} (?:failed|said|returned|raised)"
    r"|executing tool|input_value"
)
"""What comes before words that somebody else said, a tool most of all."""


@dataclass(frozen=True, slots=True)
class OverflowText:
    """One compiled row.

    Attributes:
        pattern: What a text holds.
        kind: What is too large.
        provider: Who says so, or ``""`` where several do.
        loose: Whether a text that names a parameter is excepted.
    """

    pattern: re.Pattern[str]
    kind: OverflowKind
    provider: str
    loose: bool


@cache
def overflow_texts() -> tuple[OverflowText, ...]:
    """Return the rows in the order in which they are tried, compiled once, when they are first needed."""
    return tuple(
        OverflowText(re.compile(_expand(pattern)), kind, provider, rows is LOOSE_ROWS)  # type: ignore[arg-type]
        for rows in (ROWS, LOOSE_ROWS)
        for kind, provider, pattern in rows
    )


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return one of the other patterns of this module, compiled once."""
    return re.compile(pattern)


def _expand(pattern: str) -> str:
    for placeholder, expression in reversed(_PLACEHOLDERS.items()):
        pattern = pattern.replace(placeholder, expression)
    return pattern
