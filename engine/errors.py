"""The errors that leave the engine. Each message is one sentence for a person: it names the thing and what to do.

Anything else that escapes (a plain RuntimeError, say) is a bug of ours and may show a traceback.
"""


class UserError(Exception):
    """Something about the input or the machine that the user can change. Shown as is, without a traceback."""


class ModelFileError(UserError):
    """A model file that is missing, damaged, or not one we can run. Names the file, the field and the offset."""


class ContextFullError(UserError):
    """A prompt that does not fit the session's context. Names both numbers."""


class SnapshotError(UserError):
    """A saved state that is damaged, foreign, or of another model. Names the file or the field."""


class EngineError(Exception):
    """The machine failed us while working (out of memory, a kernel launch). The session is at its last commit."""


class Stopped(Exception):
    """The stop event was set. Not an error: the session is at its last committed position."""
