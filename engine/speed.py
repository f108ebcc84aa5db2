"""The one counting rule for speeds, used by the session's timings, the live panel and the benchmark.

Prefill speed is tokens really computed over the time spent computing them: tokens taken from a cache never count.
Decode speed is (tokens - 1) over the time since the first token: the first one belongs to the prefill. Pure functions.
"""


def prefill_tok_s(computed_tokens: int, seconds: float) -> float | None:
    """Tokens per second of a prefill; None while nothing was computed or no time has passed.

    `computed_tokens` excludes cached ones; a negative count is a mistake of the caller and raises ValueError.
    """
    if computed_tokens < 0:
        raise ValueError(f"{computed_tokens} computed tokens")
    return computed_tokens / seconds if computed_tokens and seconds > 0 else None


def decode_tok_s(tokens: int, seconds_since_first: float) -> float | None:
    """Tokens per second of an answer of `tokens` tokens; None for fewer than two, or before any time has passed."""
    if tokens < 0:
        raise ValueError(f"{tokens} generated tokens")
    return (tokens - 1) / seconds_since_first if tokens > 1 and seconds_since_first > 0 else None
