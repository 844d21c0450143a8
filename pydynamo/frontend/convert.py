"""One frame from arguments to new code and guards: attempts until the speculation log is right."""

from __future__ import annotations

import threading
import types
from typing import Any

import torch

from pydynamo._core import GuardProgram
from pydynamo.errors import PydynamoError
from pydynamo.frontend import events
from pydynamo.frontend.exc import RestartTranslation, SkipFrame, Unsupported, forget_frames
from pydynamo.frontend.fake_mode import trim_caches
from pydynamo.frontend.root import FrameInput, Options, RootTranslator, Speculation
from pydynamo.frontend.variables.contexts import leave_modes
from pydynamo.frontend.variables.user_keys import translate_with

#: compilation is serial in a process: torch's fake tensors and shape environments are not made for threads
LOCK = threading.RLock()
_state = threading.local()
_MAX_ATTEMPTS = 100


class Compiled:
    """The result of a translation: ``code`` is None if the frame is to be run as it is."""

    def __init__(
        self,
        code: types.CodeType | None,
        guards: GuardProgram | None,
        reason: Unsupported | None = None,
    ) -> None:
        self.code = code
        self.guards = guards
        self.reason = reason


def is_translating() -> bool:
    """True while this thread translates a frame."""
    return getattr(_state, "depth", 0) > 0


def compile_frame(frame: FrameInput, options: Options, history: dict[str, Any]) -> Compiled:
    """Translate ``frame``. Raises Unsupported with ``fullgraph``; any other exception is an error of the compiler."""
    speculation = Speculation()
    grad = torch.is_grad_enabled()
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        events.emit("start", code=frame.code)
        for _ in range(_MAX_ATTEMPTS):
            try:
                root = RootTranslator(frame, options, history, speculation)
            except Unsupported as reason:
                if options.fullgraph:
                    raise
                events.emit("graph_breaks", reason=reason, code=frame.code)
                return Compiled(None, None, reason)
            try:
                compiled = _attempt(root, speculation, grad)
            except RestartTranslation as restart:
                speculation.learn(restart)
                continue
            finally:
                root.let_go()
            return compiled
    finally:
        _state.depth -= 1
        translate_with(None)
        trim_caches()
    raise PydynamoError(f"{frame.code.co_qualname}: no stable translation after {_MAX_ATTEMPTS} attempts")


def _attempt(root: RootTranslator, speculation: Speculation, grad: bool) -> Compiled:
    frame = root.frame
    try:
        root.run()
    except SkipFrame as skip:
        forget_frames(skip.reason)
        events.emit("graph_breaks", reason=speculation.reason or skip.reason, code=frame.code)
        return Compiled(None, None, skip.reason)
    finally:
        torch._C._set_grad_enabled(grad)
        leave_modes(root.open_modes)
    root.finish_guards()
    if speculation.reason is not None:
        events.emit("graph_breaks", reason=speculation.reason, code=frame.code)
    if root.new_code is not None:
        _keep_from_torch(root.new_code)
    program = root.graph.guards.build(frame.code)
    events.emit("bytecode", old=frame.code, new=root.new_code)
    if events.wanted("guards"):
        events.emit("guards", guards=program.describe())
    return Compiled(root.new_code, program)


def _keep_from_torch(code: types.CodeType) -> None:
    """Where torch's hook is active too, it would trace the code; what the code calls is still torch's to see."""
    hook = torch._C._dynamo.eval_frame
    if hasattr(hook, "set_code_exec_strategy"):
        action = hook._FrameAction
        hook.set_code_exec_strategy(code, hook._FrameExecStrategy(action.SKIP, action.DEFAULT))
    elif hasattr(hook, "skip_code"):
        hook.skip_code(code)
