"""Types of the extension module: one clearly headed block for each part."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, ClassVar, Self, final

# ---------------------------------------------------------------------------------------------------------------------
# Assembler (rust/binding): instructions, code objects
# ---------------------------------------------------------------------------------------------------------------------

JUMP_OPCODES: frozenset[int]
"""Opcodes whose operand names another instruction."""
TERMINAL_OPCODES: frozenset[int]
"""Opcodes after which control never goes on to the next instruction."""

@final
class _NotProvided:
    """What `argval` reads where no operand value was given."""

@final
class Instruction:
    """One bytecode instruction, to be edited and assembled again. Compared by identity.

    `opcode` and `opname` follow each other. Of `arg` and `argval` the one written last counts; for opcodes with flag
    bits (LOAD_GLOBAL, LOAD_ATTR, LOAD_SUPER_ATTR) `argval` is the name and the low bits of `arg` are the flags.
    """

    opcode: int
    opname: str
    arg: int | None
    argval: Any
    offset: int | None
    starts_line: int | None
    is_jump_target: bool
    positions: Any
    """A `dis.Positions` or None; any tuple of four may be assigned."""
    target: Instruction | None
    exn_tab_entry: InstructionExnTabEntry | None
    argrepr: Any
    _written: int
    def __new__(
        cls,
        opcode: int,
        opname: str,
        arg: int | None,
        argval: Any,
        offset: int | None = None,
        starts_line: int | None = None,
        is_jump_target: bool = False,
        positions: Any = None,
        target: Any = None,
        exn_tab_entry: Any = None,
        argrepr: str | None = None,
    ) -> Self: ...
    def __copy__(self) -> Instruction: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Instruction: ...
    def __setstate__(self, state: tuple[Any, Any], /) -> None: ...
    def short_inst_repr(self) -> str:
        """Name and offset."""

    def copy_positions(self, other: Instruction, /) -> None:
        """Takes over line and positions of another instruction."""

@final
class InstructionExnTabEntry:
    """An exception region: the instructions from `start` to `end`, both included, as they stand in the list, are
    protected by the handler at `target`, to which the stack is unwound to `depth`.

    One entry object may be shared by all instructions of its region. Regions may nest; the innermost counts. If `start`
    or `end` is no longer in the list, the first or last instruction that carries the entry takes its place. An
    instruction that carries the entry and stands elsewhere is protected, too, by itself.
    """

    start: Instruction
    end: Instruction
    target: Instruction
    depth: int
    """Follows the stack at `start` if disassembly made the entry; once assigned it counts as stated."""
    lasti: bool
    _height: int | None
    def __new__(cls, start: Instruction, end: Instruction, target: Instruction, depth: int, lasti: bool) -> Self: ...
    def __copy__(self) -> InstructionExnTabEntry: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> InstructionExnTabEntry: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

def roundtrip(code: CodeType, /, *, verify: bool = True) -> CodeType:
    """Takes a code object apart and puts it together again without making Python objects.

    Nobody can edit the instructions, so they stay where they are, and the line table is checked and taken over.

    Raises `BytecodeError` for a code object that is damaged or that cannot be proved safe.
    """

def verify(code: CodeType, /) -> None:
    """Proves that a code object is safe to run, or raises `BytecodeError`.

    What is proved is its `co_code`. Specialised opcodes that somebody wrote into it by hand look like the interpreter's own,
    and run unproved: `roundtrip` gives a code object without them.
    """

def cleaned_instructions(code: CodeType, safe: bool = False) -> list[Instruction]:
    """The instructions of a code object, to be edited.

    CACHE and EXTENDED_ARG are left out, jump targets and exception regions are references to other instructions. `safe`
    is there for those who know torch's function: nothing is rewritten either way.
    """

def code_options(code: CodeType, /) -> dict[str, Any]:
    """The `code_options` of a code object: a dict of what `get_code_keys()` lists."""

def transform_code_object(
    code: CodeType,
    transformations: Callable[[list[Instruction], dict[str, Any]], object],
    safe: bool = False,
    *,
    verify: bool = True,
) -> CodeType:
    """Takes `code` apart, calls `transformations(instructions, code_options)`, and puts together what it left.

    `instructions` is a list to be changed in place, `code_options` a dict of the code object's other attributes: a
    transformation that uses a new local adds it to `co_varnames`, names and constants are added by themselves. What the
    callback returns is ignored. The result is proved safe to run unless `verify` is false.

    Raises `BytecodeError` for instructions that make no legal code object. `code` itself never changes.
    """

def clean_and_assemble_instructions(
    instructions: list[Instruction], keys: list[str], code_options: dict[str, Any], *, verify: bool = True
) -> tuple[list[Instruction], CodeType]:
    """Puts instructions together: `(instructions, code object)`.

    `keys` is `get_code_keys()`, kept for those who know torch's function. `code_options` and the instructions' `offset`s
    are brought up to date, but only once everything succeeded.
    """

def create_instruction(
    name: str, *, arg: int | None = None, argval: Any = ..., target: Instruction | None = None
) -> Instruction:
    """Makes an instruction by name. At most one of `arg`, `argval` and `target` may be given, except that opcodes with
    flag bits (LOAD_GLOBAL, LOAD_ATTR, LOAD_SUPER_ATTR) take the bits as `arg` and the name as `argval`.

    Raises `BytecodeError` if this version has no such opcode, `ValueError` for contradicting operands.
    """

def inst_has_op_bits(name: str, /) -> bool:
    """Whether an opcode's operand has flag bits below its name index."""

def instruction_size(inst: Instruction, /) -> int:
    """Bytes that an instruction takes in `co_code`, without EXTENDED_ARG prefixes."""

def instrument_lines(code: CodeType, callable: Callable[[int], object], /, *, verify: bool = True) -> CodeType:
    """A code object that calls `callable(line)` whenever it comes to another source line.

    Raises `TypeError` if `callable` is not callable, `BytecodeError` for a code object that is damaged.
    """

def instrument_blocks(code: CodeType, callable: Callable[[int], object], /, *, verify: bool = True) -> CodeType:
    """A code object that calls `callable(number)` whenever it comes to a basic block; blocks are counted from 0.

    Raises `TypeError` if `callable` is not callable, `BytecodeError` for a code object that is damaged.
    """

def shuffled(
    code: CodeType, /, seed: int, *, nops: int = 3, every: int = 4, cut: int = 8, verify: bool = True
) -> CodeType:
    """A code object that does the same but looks different: NOPs strewn in, blocks laid out in another order. For
    tests of whatever reads or runs bytecode.

    Before about every `every`-th instruction up to `nops` NOPs are put (0: none); about every `cut`-th instruction begins
    a piece that may be moved (0: none moves). The same `seed` gives the same result.
    """

def swept(
    code: CodeType,
    /,
    *,
    unreachable: bool = True,
    pointless_jumps: bool = True,
    dead_stores: bool = False,
    verify: bool = True,
) -> CodeType:
    """A code object without what it does not need: code that control cannot reach, jumps to the next instruction and, if
    asked for, stores to locals that nobody reads (which debuggers, `locals()` and finalizers may notice).
    """

def stacksize_analysis(instructions: list[Instruction], /) -> int:
    """The stack size that a list of instructions needs.

    Raises `BytecodeError` for underflow, depths that disagree where control meets, or control that falls off the end.
    """

# ----------------------------------------------------------------------------------------------------------
# Runtime (rust/runtime): guard programs, code cache, warm wrapper, eval-frame hook
# ----------------------------------------------------------------------------------------------------------

@final
class GuardBuilder:
    """Builds the guard program of one compiled entry of one code object.

    A *node* (an int) names a value that is fetched when the guards run; accessor methods make nodes, check
    methods add a condition on them. Asking twice for the same accessor gives the same node, adding the same
    check twice adds it once. Checks run in the order in which they were added; the first that fails ends the
    run: add a value's type check before accessors that go through it. An accessor that fails (no such
    attribute, key, index, unbound cell) is a miss, and so is any exception raised inside a guard: guards
    never raise into user code.

    Every node has a source text, used in messages; the default reads like Python (``self.layers[3].scale``)
    and ``source=`` overrides it. Example, for ``def f(x, n): return x * n + scale``::

        g = GuardBuilder(f.__code__) x = g.local("x") g.tensor(x, example_x)                      # type,
        dtype, device, dispatch keys, requires_grad, sizes, strides g.equals(g.local("n"), 3)
        # exact type and value (-0.0 and nan aware) g.equals(g.global_var("scale"), 2.0) g.torch_state()
        # grad mode, autocast, default dtype, ... as they are now program = g.build() program.check_verbose(f,
        (other_x, 3))      # None, or "f: x: size[0] is 5, expected 4"

    A module that holds a Python float, through instance dictionaries (no user code can run)::

        me = g.local("self")
        g.type_is(me, Net)
        blocks = g.item(g.dict_attr(g.item(g.dict_attr(me, "_modules"), "blocks"), "_modules"), "0")
        g.equals(g.dict_attr(blocks, "scale"), 1.5)

    All methods raise `PydynamoError` for a node that this builder did not make, an unknown name, or after
    `build`.
    """

    def __new__(cls, code: CodeType) -> Self: ...
    # --- where values come from
    def local(self, name: str, source: str | None = None) -> int:
        """An argument of the function after binding (`*args` is a tuple, `**kwargs` a dict)."""

    def global_var(self, name: str, source: str | None = None) -> int:
        """A global name of the function, else a builtin."""

    def closure(self, name: str, source: str | None = None) -> int:
        """What the function's free variable `name` holds (a miss while it is unbound)."""

    def function(self, source: str | None = None) -> int:
        """The original function object itself."""

    def constant(self, value: object, source: str) -> int:
        """A fixed object (a module, a class): the start of a path. Held weakly where it can be, a miss once
        dead."""

    # --- from a value to another
    def attr(self, node: int, name: str, source: str | None = None, *, cls: type | None = None) -> int:
        """`getattr(value, name)`: may run user code (properties, `__getattr__`). Faster where the value is expected to be
        an instance of `cls`."""

    def dict_attr(self, node: int, name: str, source: str | None = None) -> int:
        """`value.__dict__[name]`, never running user code: fast."""

    def instance_dict(self, node: int, source: str | None = None) -> int:
        """`value.__dict__` of an instance, module or class (a class gives its read-only view's dict)."""

    def item(self, node: int, key: object, source: str | None = None) -> int:
        """`dict.__getitem__(value, key)` of a dict or subclass."""

    def dict_key(self, node: int, index: int, source: str | None = None) -> int:
        """The `index`-th key of a dict in insertion order."""

    def index(self, node: int, index: int, source: str | None = None) -> int:
        """The `index`-th element of a list or tuple (or subclass); not negative."""

    def subscript(self, node: int, key: object, source: str | None = None) -> int:
        """`value[key]`, in general: may run user code."""

    def type_of(self, node: int, source: str | None = None) -> int: ...
    def class_attr(self, node: int, name: str, source: str | None = None) -> int:
        """What a class or the first of its bases that has the name holds in its dict, no descriptor called."""

    def code_of(self, node: int, source: str | None = None) -> int:
        """`function.__code__`."""

    def defaults_of(self, node: int, source: str | None = None) -> int:
        """`function.__defaults__` (None when there are none)."""

    def kwdefaults_of(self, node: int, source: str | None = None) -> int:
        """`function.__kwdefaults__` (None when there are none)."""

    def globals_of(self, node: int, source: str | None = None) -> int:
        """`function.__globals__`."""

    def cell_of(self, node: int, index: int, source: str | None = None) -> int:
        """`function.__closure__[index].cell_contents` of a function value."""

    def method_self(self, node: int, source: str | None = None) -> int:
        """`method.__self__` of a bound method."""

    def method_function(self, node: int, source: str | None = None) -> int:
        """`method.__func__` of a bound method."""

    def cell_contents(self, node: int, source: str | None = None) -> int:
        """`cell.cell_contents` of a cell value."""

    def derived(self, function: Callable[[Any], object], node: int, source: str | None = None) -> int:
        """`function(value)`: the fallback for any other path."""

    def source(self, node: int) -> str:
        """The node's source text."""

    # --- conditions
    def exists(self, node: int) -> None:
        """The value can be fetched: nothing more (fetches that no condition needs are left out of the
        program)."""

    def type_is(self, node: int, cls: type) -> None:
        """`type(value) is cls` (held weakly where it can be)."""

    def is_object(self, node: int, obj: object) -> None:
        """`value is obj`; `obj` is held weakly where it can be, and the guard misses once it is dead."""

    def is_not_object(self, node: int, obj: object) -> None: ...
    def equals(self, node: int, constant: object) -> None:
        """The same exact type and value: None, bool, int, float (bits), complex (bits), str, bytes, range,
        slice, and tuples, lists, frozensets of them; any other type compares with its own `==` after an exact
        type check."""

    def truth(self, node: int, expected: bool) -> None:
        """`bool(value) is expected`."""

    def length(self, node: int, expected: int) -> None:
        """`len(value) == expected`."""

    def dict_keys(self, node: int, keys: Iterable[object]) -> None:
        """The dict has exactly these keys, in this order."""

    def contains(self, node: int, key: object, present: bool = True) -> None:
        """`(key in value) is present` for a dict, set or frozenset."""

    def has_attr(self, node: int, name: str, present: bool = True) -> None:
        """`hasattr(value, name) is present`: may run user code."""

    def in_instance_dict(self, node: int, name: str, present: bool = True) -> None:
        """`(name in value.__dict__) is present`, never running user code."""

    def class_lacks(self, node: int, name: str) -> None:
        """The value is a class, and neither it nor a base defines `name`."""

    def tensor(
        self,
        node: int,
        example: Any,
        *,
        sizes: Sequence[int | None] | None = None,
        strides: Sequence[int | None] | None = None,
        check_strides: bool = True,
        requires_grad: bool | None = None,
    ) -> None:
        """Exact type, dispatch keys, dtype, device, layout, requires_grad, rank, sizes and strides like
        `example`.

        `sizes` and `strides` replace the example's; None in them means "any" (a dynamic dimension).
        """

    def dynamic_marks(self, node: int, dims: Iterable[int]) -> None:
        """The tensor's `mark_dynamic` dimensions are a subset of `dims`."""

    def same_object(self, first: int, second: int) -> None:
        """Both nodes are one object."""

    def all_different(self, nodes: Iterable[int]) -> None:
        """No two of the nodes are one object."""

    def shape(self, expression: str, symbols: Mapping[str, tuple[Any, ...]]) -> None:
        """A condition on integers, compiled: ``g.shape("s0 >= 2 and s0 * 4 == s1", {"s0": (x, "size", 0),
        "s1": (y, "size", 1), "n": (n,)})``.

        A symbol is `(node,)` for an int value, `(node, "size" | "stride", dim)` or `(node, "offset")` of a
        tensor. Grammar: Python integers, names, ``+ - * // % **``, comparisons (chained too), ``and or not``,
        parentheses, and the calls Min, Max, min, max, abs, Mod, PythonMod, FloorDiv, CeilDiv, Eq, Ne, And,
        Or, Not. Raises `PydynamoError` for anything else (use `custom` then). Overflow of 128 bits and
        division by zero are misses.
        """

    def custom(self, function: Callable[..., object], nodes: Sequence[int], description: str) -> None:
        """`function(*values)` is true; the fallback for any other condition."""

    def torch_state(self) -> None:
        """torch's global state is as it is now: grad mode, inference mode, autocast, default dtype,
        deterministic algorithms, threads, torch function state and mode stack (empty or not), functorch
        level."""

    def __len__(self) -> int:
        """How many conditions there are so far."""

    def build(self) -> GuardProgram:
        """The finished program; the builder cannot be used again."""

@final
class GuardProgram:
    """A guard program (immutable)."""

    def check(
        self,
        function: Callable[..., object],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> bool:
        """Whether a call of `function` with these arguments passes."""

    def check_verbose(
        self,
        function: Callable[..., object],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> str | None:
        """None if the call passes, else the first failing condition, what was found and what was expected."""

    def describe(self) -> list[str]:
        """One line for each condition, in order."""

    def __len__(self) -> int: ...

@final
class CacheEntry:
    """One compiled version: guards and the code (or callable) to run when they pass."""

    @property
    def guards(self) -> GuardProgram: ...
    @property
    def target(self) -> CodeType | Callable[..., Any]: ...
    @property
    def root(self) -> object | None:
        """What it was compiled for (a module instance), None when dead or not given."""
    @property
    def hits(self) -> int: ...
    @property
    def valid(self) -> bool: ...
    info: Any
    """For the frontend: anything it wants to remember about this entry."""
    def invalidate(self) -> None:
        """Never use this entry again; it is dropped from its cache."""

@final
class CodeCache:
    """Entries of one code object. May be shared by several `CompiledFunction`s."""

    def __init__(self) -> None: ...
    def add(
        self, guards: GuardProgram, target: CodeType | Callable[..., Any], *, root: object = None, info: object = None
    ) -> CacheEntry:
        """Adds an entry, at the front. A code object target must have the original's parameters and free
        variables."""

    def entries(self, root: object = None) -> list[CacheEntry]:
        """Valid entries, of one root or (None) of all."""

    @property
    def added(self) -> int:
        """How many entries were ever added."""

    def history(self, root: object = None) -> dict[Any, Any]:
        """A dict that lives as long as `root` (None: as the cache): what the frontend has seen for this root,
        such as sizes, so that one model's shapes do not make another dynamic."""

    def clear(self) -> None:
        """Invalidates every entry and forgets the histories."""

@final
class CompiledFunction:
    """What `compile(function)` returns: binds arguments as the function would, runs guards, calls the hit
    directly.

    A callable that binds as a method, can be weakly referenced, carries the function's names, doc and
    `__wrapped__`, and is pickled and copied by reference like a function. On a hit no Python code runs but
    the target's own. On a miss `on_miss(wrapper, args, kwargs)` is called (with any interception suspended);
    it returns what to call with the same arguments (a callable, a code object with the same parameters, or a
    `CacheEntry`), or None to run the original function. Usually: ``return wrapper.cache.add(program, code)``.
    What `on_miss` raises, the call raises. A target that is code runs as a function with the original's
    globals, closure, defaults and name.
    """

    def __new__(
        cls,
        function: Callable[..., Any],
        on_miss: Callable[[CompiledFunction, tuple[Any, ...], dict[str, Any]], Any],
        cache: CodeCache | None = None,
    ) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> Any: ...
    __wrapped__: FunctionType
    @property
    def function(self) -> FunctionType:
        """The original. If its `__code__` is replaced later, calls go straight to it."""
    @property
    def cache(self) -> CodeCache: ...
    @property
    def on_miss(self) -> Callable[..., Any]: ...
    disabled: bool
    """When true, calls go straight to the original function."""
    @property
    def misses(self) -> int: ...
    def lookup(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> CacheEntry | None:
        """The entry that a call would use, without calling it."""

    def miss_reasons(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> list[str]:
        """Why each valid entry does not fit this call (for the recompile log), one text each."""

@final
class SuspendedCall:
    """Calls `function` with this thread's interception suspended (for a backend's callable)."""

    def __new__(cls, function: Callable[..., Any]) -> Self: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class HandOver:
    """What a compiled frame returns that leaves the rest of its call to `callable(*args)`: the `CompiledFunction` that was
    called runs it when the frame is gone. For compiled code only; it runs once, and no call ever gives one to its caller."""

    def __new__(cls, callable: Callable[..., Any], *args: Any) -> Self: ...

@final
class CompiledGraph:
    """How compiled code calls what a backend made of a graph: `run`, with this thread's interception suspended. Its
    repr is `name`, for listings of bytecode. If it is `repeatable` and raises an Exception, the CompiledFunction whose
    frame called it runs its original function instead."""

    run: Callable[..., Any]
    repeatable: bool
    def __new__(cls, name: str, run: Callable[..., Any], repeatable: bool, /) -> Self: ...
    @property
    def __name__(self) -> str: ...
    @property
    def __wrapped__(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class FrameCall:
    """A call that is about to start, as an intercept callback sees it; readable until the callback
    returns."""

    @property
    def code(self) -> CodeType: ...
    @property
    def function(self) -> FunctionType: ...
    def arguments(self) -> dict[str, Any]:
        """The bound parameters by name: positional, keyword-only, then `*args` (a tuple) and `**kwargs` (a
        dict)."""

    def ignore(self) -> None:
        """This interception is not asked about this code again."""

@final
class Interception:
    """What `pydynamo.eval_frame.intercept` returns: see there. May be entered several times, also by several
    threads."""

    def __new__(cls, callback: Callable[[CodeType, FrameCall], CodeType | None]) -> Self: ...
    @property
    def callback(self) -> Callable[[CodeType, FrameCall], CodeType | None]: ...
    def ignore(self, code: CodeType) -> None:
        """Frames of this code are not offered to the callback."""

    def attach(self, code: CodeType, cache: CodeCache | None) -> None:
        """Frames of this code run the first entry of `cache` whose guards pass (and whose target is code),
        natively; the callback is asked only when none does. None undoes this, and `ignore`."""

    def __enter__(self) -> Interception: ...
    def __exit__(self, *exception: object) -> bool: ...

def hook_unavailable() -> str | None:
    """Why the eval-frame hook cannot be used in this process; None if it can. Runs its self-test the first
    time."""

def hook_statistics() -> dict[str, int]:
    """How many frames were `retargeted` in place, and how many were `rebuilt` as new calls for lack of
    room."""
