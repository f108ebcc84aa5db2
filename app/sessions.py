"""SessionPool: a session for each of the few conversations used last, so that a next turn reads only what is new.

Owned by EngineWorker, on the worker thread. A session costs memory in proportion to its context, so the pool is small
and the session used longest ago goes first, before a new one is made.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from app.engine_face import EngineModel, EngineSession
from engine.errors import EngineError, UserError


@dataclass(slots=True)
class _Held:
    session: EngineSession
    context: int
    mode: str
    prompt_tokens: int = 0


@dataclass(frozen=True, slots=True)
class HeldTokens:
    """The ids one conversation's session holds; the engine can go back to the end of the last prompt among them."""

    conversation_id: int
    ids: tuple[int, ...]
    prompt_tokens: int

    def reusable(self, ids: Sequence[int]) -> int:
        """How many of `ids` the session need not read again, as far as can be told without asking it."""
        if ids[: len(self.ids)] == list(self.ids):
            return len(self.ids)
        if ids[: self.prompt_tokens] == list(self.ids[: self.prompt_tokens]):
            return self.prompt_tokens
        return 0


class SessionPool:
    """At most `limit` sessions, keyed by conversation."""

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"a pool needs room for at least one session, not {limit}")
        self._limit = limit
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._let_go = 0

    def set_limit(self, limit: int) -> None:
        """Another limit; the sessions used longest ago go at once if there are more."""
        self._limit = max(1, limit)
        self._shrink(self._limit)

    def _shrink(self, count: int) -> None:
        while len(self._held) > count:
            self._held.popitem(last=False)
            self._let_go += 1

    def session(self, model: EngineModel, conversation_id: int, context: int, mode: str) -> EngineSession:
        """The conversation's session, made anew if its context size or mode changed."""
        held = self._held.get(conversation_id)
        if held is not None and (held.context, held.mode) == (context, mode):
            self._held.move_to_end(conversation_id)
            return held.session
        self.drop(conversation_id)
        self._shrink(self._limit - 1)
        session = self._make(model, context, mode)
        self._held[conversation_id] = _Held(session, context, mode)
        return session

    def _make(self, model: EngineModel, context: int, mode: str) -> EngineSession:
        """A new session; if memory refuses it, once more after letting the other conversations' sessions go."""
        try:
            return model.session(context=context, mode=mode)
        except (UserError, EngineError, MemoryError):
            if not self._held:
                raise
            self.clear()
            return model.session(context=context, mode=mode)

    def drop(self, conversation_id: int) -> None:
        if self._held.pop(conversation_id, None) is not None:
            self._let_go += 1

    def clear(self) -> None:
        self._let_go += len(self._held)
        self._held.clear()

    def take_let_go(self) -> int:
        """How many sessions were let go since the last call."""
        let_go, self._let_go = self._let_go, 0
        return let_go

    def note_prompt(self, conversation_id: int, tokens: int) -> None:
        """The conversation's session is about to read a prompt of so many tokens."""
        self._held[conversation_id].prompt_tokens = tokens

    def held_tokens(self) -> tuple[HeldTokens, ...]:
        """A copy of what every session holds."""
        return tuple(
            HeldTokens(key, tuple(held.session.tokens), held.prompt_tokens) for key, held in self._held.items()
        )
