"""Swap the code of Python calls as they start (PEP 523), without torch.

    with intercept(callback):
        ...

While the block runs, each Python function call that starts *in this thread* is offered to ``callback(code,
call)`` before its first instruction. The callback returns a code object, which the call runs instead, or
None, and the call runs as it is.

- `code` is the function's code object. `call` is a `FrameCall`: `call.function`, `call.arguments()` (a dict
  of the bound parameters by name), and `call.ignore()`, after which this interception is not asked about this
  code again. It can be read only until the callback returns.
- The replacement runs in the function's own frame: with the bound arguments, the same globals and the same
  closure. It must have the same parameters (numbers and kinds) and the same free variables, and be plain
  function code; anything else fails the call with one `PydynamoError` that says what differs.
- What the callback itself calls is not offered. What it raises, the call raises.
- Not offered: generators, coroutines and async generators, module and class bodies' special frames that have
  started already, and functions written in C. Calls made by replacement code are offered like any other.
- Blocks nest: the innermost callback is asked first, the next one only if it returned None. A block must be
  left by the thread that entered it. Other threads are not affected; while no block is open anywhere the
  interpreter runs without a hook, at full speed.
- Hooks of other tools (debuggers, `torch._dynamo`) stay in place: frames are passed on to them.
- Recursion stays bounded: a call that would use up the C stack raises RecursionError.

Tracebacks, `sys.settrace` and `sys.monitoring` see the replacement's own code and lines.
"""

from collections.abc import Callable
from types import CodeType

from pydynamo._core import FrameCall, Interception, SuspendedCall, hook_statistics, hook_unavailable

__all__ = [
    "FrameCall",
    "Interception",
    "SuspendedCall",
    "hook_statistics",
    "hook_unavailable",
    "intercept",
]


def intercept(callback: Callable[[CodeType, FrameCall], CodeType | None]) -> Interception:
    """A context manager that offers this thread's Python calls to `callback`: see the module's text.

    Raises `PydynamoError` from its ``__enter__`` where the hook cannot be used (a free-threaded or debug
    build, or an interpreter whose frames are not laid out as the headers said); `hook_unavailable()` tells
    beforehand.
    """
    return Interception(callback)
