"""The one exception family of pydynamo. Knows nothing of the parts that raise them."""

from __future__ import annotations


class PydynamoError(Exception):
    """Root of every exception that pydynamo raises on purpose."""


class BackendError(PydynamoError):
    """A backend raised an exception, the cause of this one, when it was given a captured graph."""


class BytecodeError(PydynamoError, ValueError):
    """A code object or a list of instructions that cannot be taken apart, proved safe or put together.

    ``kind`` is a stable id such as ``stack-underflow``; ``reason`` says what is wrong and what to do. Where
    one instruction is at fault ``index`` is its place in the list and ``opname``, ``arg`` and ``argval`` are
    its operands; ``stack`` is the verifier's view of the stack before it, bottom first (``[object, NULL]``).
    Whatever is not known is None. ``str()`` puts all of it in one readable line.
    """

    def __init__(
        self,
        reason: str,
        *,
        kind: str = "bad-code",
        index: int | None = None,
        opname: str | None = None,
        arg: int | None = None,
        argval: object = None,
        stack: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.index = index
        self.opname = opname
        self.arg = arg
        self.argval = argval
        self.stack = stack

    def __str__(self) -> str:
        where = ""
        if self.index is not None:
            where = f"instruction {self.index}"
        if self.opname is not None:
            where += f"{' ' if where else ''}{self.opname}"
            if self.argval is not None:
                where += f" {_short(self.argval)}"
            elif self.arg is not None:
                where += f" {self.arg}"
        text = f"{where}: {self.reason}" if where else self.reason
        text += f" [{self.kind}]"
        if self.stack is not None:
            text += f"; stack before it: {self.stack}"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_bytecode_error, (type(self), self.args, self.__dict__.copy())


def _rebuild_bytecode_error(cls: type[BytecodeError], args: tuple[str, ...], state: dict[str, object]) -> BytecodeError:
    error = cls(*args)
    error.__dict__.update(state)
    return error


def _short(value: object, limit: int = 80) -> str:
    """A representation that fits in a message, whatever the value's own ``__repr__`` does."""
    try:
        text = repr(value)
    except Exception:
        text = object.__repr__(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Unsupported(PydynamoError):
    """Something that the compiler does not model; a graph break unless ``fullgraph=True``.

    ``reason`` is a stable id (see ``pydynamo.frontend.reasons``), ``detail`` what was met, ``hint`` what to
    do; ``filename``, ``lineno`` and ``source_line`` name the user's line once it is known.
    """

    def __init__(self, reason: str, detail: str = "", hint: str = "") -> None:
        super().__init__(reason, detail, hint)
        self.reason = reason
        self.detail = detail
        self.hint = hint
        self.filename: str | None = None
        self.lineno: int | None = None
        self.source_line: str = ""

    def __str__(self) -> str:
        lines = [f"graph break [{self.reason}]: {self.detail}"]
        if self.filename is not None:
            lines.append(f'  File "{self.filename}", line {self.lineno}')
            if self.source_line:
                lines.append(f"    {self.source_line.strip()}")
        if self.hint:
            lines.append(f"  Hint: {self.hint}")
        return "\n".join(lines)


class NeedsNumbers(Exception):
    """Raised by a backend that cannot compile a graph of varying floats: each value is then compiled for itself."""
