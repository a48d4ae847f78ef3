"""What providers, gateways and local servers say, and what each text means: tables for the tests."""

from __future__ import annotations

from strands_ctx.overflow.recognition import Overflow


def _tokens(prompt: int | None = None, limit: int | None = None, provider: str = "") -> Overflow:
    return Overflow("tokens", prompt, limit, provider)


def _output(prompt: int | None = None, limit: int | None = None, provider: str = "") -> Overflow:
    return Overflow("output_reserve", prompt, limit, provider)


def _images(provider: str = "") -> Overflow:
    return Overflow("images", provider=provider)


def _bytes(provider: str = "") -> Overflow:
    return Overflow("payload_bytes", provider=provider)


_WINDOW = "This model's maximum context length is 8192 tokens. However, "

OVERFLOWS: dict[str, Overflow] = {
    # Anthropic, Bedrock, Vertex.
    "prompt is too long: 203470 tokens > 200000 maximum": _tokens(203470, 200000, "anthropic"),
    "Prompt is too long": _tokens(),
    "input length and `max_tokens` exceed context limit: 142422 + 64000 > 204658, decrease input length or `max_tokens`"
    " and try again": _output(142422, 204658, "anthropic"),
    "input length and max_tokens exceed the limit": _output(provider="anthropic"),
    "input and output tokens exceed your context limit": _output(provider="anthropic"),
    "input length exceeds context window": _tokens(provider="anthropic"),
    "Request exceeds the maximum size": _bytes("anthropic"),
    "Request exceeds the maximum allowed number of bytes. The maximum request size is 32 MB": _bytes("anthropic"),
    "Request size exceeds model context window": _bytes("anthropic"),
    "too many images and documents: 21 + 0 > 20": _images(),
    "messages: too many images: image_count > 20": _images(),
    "too many total images": _images(),
    "Too much media: 0 document pages + 102 images > 100": _images(),
    "messages.19.content.27.tool_result.image.source.base64.data: At least one of the image dimensions exceed max "
    "allowed size for many-image requests: 2000 pixels": _images(),
    "Input is too long for requested model.": _tokens(provider="bedrock"),
    "too many total text bytes": _bytes("bedrock"),
    "You can't include more than 5 documents in a request.": _images(),
    "prompt tokens (1200345) exceed model maximum (1050000)": _tokens(1200345, 1050000, "bedrock"),
    "The request would exceed customer model maximum": _tokens(provider="bedrock"),
    "Too many input tokens. Max input tokens: 128000, request input token count: 140000": _tokens(140000, 128000),
    # OpenAI and those that speak like it.
    "Your input exceeds the context window of this model. Please adjust your input and try again.": _tokens(
        provider="openai"
    ),
    "Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length "
    "2050 instead.": _tokens(provider="openai"),
    f"{_WINDOW}your messages resulted in 8227 tokens. Please reduce the length of the messages.": _tokens(8227, 8192),
    f"{_WINDOW}you requested 9000 tokens": _tokens(9000, 8192),
    f"{_WINDOW}you requested 10351 tokens (10346 in your prompt; 5 for the completion).": _tokens(10346, 8192),
    f"{_WINDOW}you requested 8203 tokens (7691 in the messages, 512 in the completion).": _output(7691, 8192),
    f"{_WINDOW}you requested about 12000 tokens (3000 of text input, 1000 of tool input, 8000 in the output).": _output(
        4000, 8192
    ),
    f"{_WINDOW}you requested 512 output tokens and your prompt contains at least 7681 input tokens, for a total of at "
    "least 8193 tokens.": _output(7681, 8192),
    "This model\u2019s maximum context length is 4096 tokens.": _tokens(None, 4096),
    "Prompt exceeds maximum context length": _tokens(),
    "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of "
    "337844 tokens: 206772 tokens from the input messages and 131072 tokens for the completion.": _output(
        206772, 262144
    ),
    "The input token count (900) plus the requested output count (500) exceeds the model's maximum context "
    "length (1024)": _output(900, 1024),
    "input length (5056) exceeds model's maximum context length (2048)": _tokens(5056, 2048),
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens.": _tokens(
        289650, 272000, "azure"
    ),
    "Input tokens exceed the configured limit.": _tokens(provider="azure"),
    "Please reduce the length of the messages.": _tokens(),
    "model's maximum context limit": _tokens(),
    # Open servers.
    "The decoder prompt (length 40000) is longer than the maximum model length of 32768.": _tokens(
        40000, 32768, "vllm"
    ),
    "The prompt (total length 25938) is too long to fit into the model (context length 4096).": _tokens(
        25938, 4096, "vllm"
    ),
    "'max_tokens' or 'max_completion_tokens' is too large: 31000. This model's maximum context length is 32768 tokens "
    "and your request has 2000 input tokens (31000 > 32768 - 2000).": _output(2000, 32768, "vllm"),
    "request exceeds the max_model_len": _tokens(provider="vllm"),
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).": _tokens(160062, 59862, "sglang"),
    "The input (85050 tokens) is longer than the model's context length (32768 tokens).": _tokens(
        85050, 32768, "sglang"
    ),
    "Input length 70000 exceeds the maximum allowed input length of 65536 tokens.": _tokens(70000, 65536),
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 603 `inputs` tokens and 1024 "
    "`max_new_tokens`": _output(603, 1512, "tgi"),
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096": _output(None, 4096, "tgi"),
    "Input validation error: `inputs` must have less than 1000 tokens. Given: 1413": _tokens(1413, 1000, "tgi"),
    "Prompt length (5056) exceeds maximum sequence length (2048)": _tokens(5056, 2048, "tensorrt-llm"),
    "Input prompt (9762 tokens) is too long and exceeds limit of 8192": _tokens(9762, 8192, "djl"),
    "Prompt too long: 9000 tokens exceeds max_seq_len 8192": _tokens(9000, 8192),
    "At most 1 image(s) may be provided in one request.": _images(),
    "request (21032 tokens) exceeds the available context size (2048 tokens), try increasing it": _tokens(
        21032, 2048, "llama.cpp"
    ),
    "the request exceeds the available context size": _tokens(provider="llama.cpp"),
    "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context "
    "length of only 4096 tokens, which is not enough.": _tokens(15857, 4096, "lmstudio"),
    "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)": _tokens(15028, 7424, "lmstudio"),
    "The number of tokens to keep from the initial prompt is greater than the context length.": _tokens(
        provider="lmstudio"
    ),
    "prompt too long; exceeded max context length by 4096 tokens": _tokens(provider="ollama"),
    "the input length exceeds the context length": _tokens(provider="ollama"),
    "the prompt is longer than the context length": _tokens(provider="ollama"),
    "Prompt tokens (9000) exceeds context size (8192)": _tokens(9000, 8192, "ds4"),
    "Prompt has 300,000 tokens, but the configured context size is 131,072 tokens": _tokens(300000, 131072, "ds4"),
    # Gemini and Vertex.
    "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).": _tokens(
        1200293, 1048576, "gemini"
    ),
    "The input token count exceeds the maximum number of tokens allowed (1048576).": _tokens(None, 1048576, "gemini"),
    "The input token count exceeds the maximum number of tokens allowed.": _tokens(provider="gemini"),
    "Unable to submit request because the input token count is 131335 but model only supports up to 131072.": _tokens(
        131335, 131072, "gemini"
    ),
    "Request payload size exceeds the limit: 20971520 bytes.": _bytes("gemini"),
    "Sent message larger than max (50000056 vs. 20971520)": _bytes(),
    # Other hosted models and gateways.
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.": _tokens(
        537812, 131072, "xai"
    ),
    "prompt token count of 93854 exceeds the limit of 90000": _tokens(93854, 90000, "copilot"),
    "invalid params, context window exceeds limit (2013)": _tokens(provider="minimax"),
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)": _tokens(
        269030, 262144, "kimi"
    ),
    "Input token length too long": _tokens(provider="kimi"),
    "model max length exceeded, max length:8192": _tokens(None, 8192, "kimi"),
    "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000": _tokens(
        42328, 40000, "cerebras"
    ),
    "Please reduce the length of the messages or completion.": _tokens(provider="groq"),
    "Too many images provided. This model supports up to 5 images": _images(),
    "request contains 54 images, exceeding the maximum of 50 allowed per request": _images(),
    "tokens in request more than max tokens allowed": _tokens(provider="zai"),
    "Prompt exceeds max length": _tokens(provider="zai"),
    "Range of input length should be [1, 129024]": _tokens(None, 129024, "dashscope"),
    "The total length of all messages is too long.": _tokens(provider="perplexity"),
    "prompt contains 300000 tokens, too large for model with 131072 maximum context length": _tokens(
        300000, 131072, "mistral"
    ),
    "too large for model with 131072 maximum context lenght": _tokens(None, 131072, "mistral"),
    "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354.": _tokens(
        6354, 2048, "cohere"
    ),
    "too many tokens: size limit exceeded by 168512 tokens. Try using shorter or fewer inputs. The limit for this "
    "model is 132000 tokens.": _tokens(300512, 132000, "cohere"),
    "too many tokens: size limit exceeded by 11326 tokens.": _tokens(provider="cohere"),
    "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model": _tokens(
        9000, 8192, "watsonx"
    ),
    "Token sequence length is longer than the specified maximum sequence length for this model (1336 > 512).": _tokens(
        1336, 512, "watsonx"
    ),
    "input token count is above the limit": _tokens(provider="watsonx"),
    "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.": _tokens(
        204703, 202752, "siliconflow"
    ),
    "Request input tokens exceed model token limit. Reduce the input size.": _tokens(provider="salesforce"),
    "Context Window exceeded for given call. No models have context window large enough for this call.\nModel=m, Max "
    "Input Tokens=272000, Got=301450": _tokens(301450, 272000, "litellm"),
    "Context Window exceeded for given call.": _tokens(provider="litellm"),
    # Codes, stop reasons, HTTP.
    "context_length_exceeded": _tokens(),
    "model_context_window_exceeded": _tokens(),
    "request_too_large": _bytes(),
    "<html><head><title>413 Request Entity Too Large</title></head></html>": _bytes(),
    "Error code: 413 - no body": _bytes(),
    "413 status code (no body)": _bytes(),
    # Words that nobody is known to say just so.
    "your prompt plus max_tokens exceeds the context window": _tokens(),
    "the conversation is larger than our context window": _tokens(),
    "context window has been exceeded": _tokens(),
    "the prompt tokens exceed what is allowed": _tokens(),
    "too many prompt tokens": _tokens(),
    "total tokens 1200000 exceeds limit 1048576": _tokens(1200000, 1048576),
}
"""Texts that mean overflow."""

OTHERS: tuple[str, ...] = (
    # Throttles and quotas.
    "Daily input token limit exceeded",
    "Monthly token limit reached: input tokens exceed your plan",
    "total tokens 1200000 exceeds limit 1048576 per minute",
    "Too many tokens, please wait before trying again.",
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "Too many tokens per minute",
    "Too many tokens per day, please wait before trying again.",
    "Error code: 429 - {'error': {'message': 'prompt is too long: 204512 tokens > 200000 maximum'}}",
    "429 This model's maximum context length is 8192 tokens.",
    "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
    "Request too large for gpt-5 on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens "
    "must be reduced in order to run successfully.",
    "Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit "
    "6000, Requested 14368, please reduce your message size and try again.",
    "Quota exceeded for input tokens; the prompt is too long for what is left",
    "RESOURCE_EXHAUSTED: input token count exceeds the maximum number of tokens",
    "rate_limit_error: exceeds the context window budget per minute",
    "Too many requests",
    "Too many tokens",
    "Input tokens exceed the free tier allowance for this month",
    "Your free-tier input tokens exceeded. Upgrade your plan",
    # One argument.
    "The parameter max_tokens specified in the request are not valid: integer above maximum value, expected a value <= "
    "64000, but got 100000 instead.",
    "max_tokens: 1000000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is "
    "lower than 4096.",
    "max_tokens is too large: 1048576. This model supports at most 131072 completion tokens, whereas you provided "
    "1048576.",
    "max_tokens (10000) cannot exceed 8192. Please reduce the length of max output tokens generated.",
    "max_tokens (40000) exceeds the context window of 32768",
    "'max_tokens' or 'max_completion_tokens' is too large: 100000. This model's maximum context length is 8192 tokens "
    "and your request has 20 input tokens",
    "input length and `max_tokens` exceed context limit: 5 + 300000 > 200000, decrease input length or `max_tokens`",
    "unknown parameter: context_window_exceeded_behavior",
    "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the "
    "`context_window` for this model",
    "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - "
    "received 8192.",
    "Range of max_tokens should be [1, 8192]",
    "Invalid 'user': string too long. Expected a string with maximum length 64, but got a string with length "
    "86 instead.",
    "string_above_max_length",
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 "
    "instead.",
    "Malformed input request: #/texts/41: expected maxLength: 2048, actual: 2050, please reformat your input",
    "messages.0.content.2.image.source.bytes: image exceeds 5 MB maximum: 7167852 bytes > 5242880 bytes",
    # Words of a tool or of a message, quoted.
    "Invalid tool result: 'prompt is too long: 7 tokens > 5 maximum'",
    "tool fetch failed: prompt is too long: 7 tokens > 5 maximum",
    "1 validation error detected: Value 'Input is too long for requested model.' at 'messages.1.member.content' failed "
    "to satisfy constraint",
    "{'error': {'message': 'bad field', 'input': 'prompt is too long: 7 tokens > 5 maximum'}}",
    '{"error": {"message": "bad field", "input": "prompt is too long: 7 tokens > 5 maximum"}}',
    '{"detail": [{"msg": "wrong type", "input": {"text": "too many images and documents: 21 + 0 > 20"}}]}',
    "1 validation error for Block\ntext\n  Input should be a number [input_value='context_length_exceeded', "
    "input_type=str]",
    # Anything else.
    "",
    "Internal server error",
    "Invalid API key provided",
    "A conversation must start with a user message.",
    "max_tokens",
    "end_turn",
    "Reading 413 files of context took too long",
    "error 413 records processed",
    "The text input is too long for guardrail evaluation",
    "The conversation is too long for sharing",
)
"""Texts that mean something else."""
