"""Globals, cells and module attributes are read after they were written, by whatever way they were written."""

import sys  # noqa: F401
import types

import torch
from harness import check, program


@program
def test_global_or_cell_counter():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    def f(x):
        return x * bump(), n

    return f, [(torch.ones(1),)] * 3


@program
def test_rebound_container():
    items = [1]

    def f(x, k):
        nonlocal items
        old = items
        items = [*items, k]
        old.append("old")
        return x * len(items), old is items

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 2)]


@program
def test_tensor_rebound():
    state = torch.zeros(1)

    def f(x):
        nonlocal state
        state = state + x
        return state * 2

    return f, [(torch.ones(1),)] * 3


@program
def test_cell_written_by_one_closure_and_read_by_another():
    total = 0

    def add(v):
        nonlocal total
        total += v

    def get():
        return total

    def f(x, k):
        add(k)
        a = get()
        add(k)
        return x * a, get()

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 5)]


@program
def test_name_deleted_and_missed():
    def f(x):
        value = 1

        def get():
            return value

        a = get()
        del value
        try:
            get()
        except NameError as e:
            return x, a, type(e).__name__, str(e)

    return f, [(torch.ones(1),)]


@program
def test_write_before_an_exception_stays():
    n = 0

    def f(x, k):
        nonlocal n
        n += k
        if k > 1:
            raise ValueError(n)
        return x * n

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 1)]


@program
def test_write_around_a_break():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        print("n is", n)
        n += 1
        return x * n

    return f, [(torch.ones(1),)] * 2


@program
def test_function_rebound():
    def helper(x):
        return x + 1

    def f(x, k):
        nonlocal helper
        if k == 2:
            helper = lambda v: v * 100  # noqa: E731
        return helper(x)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 1)]


def _module(text, calls):
    """A program whose text is a module, for what has no closure form."""

    def make():
        module = types.ModuleType("case_module")
        sys.modules["case_module"] = module
        exec(text, module.__dict__)  # noqa: S102 - the test's own text
        return module.f, [c() for c in calls]

    make.__module__ = "case_module"
    return make


ONE = [lambda: (torch.ones(1),)] * 3


def test_globals_item_write():
    check(_module("G = 1\ndef f(x):\n    globals()['G'] = 5\n    return x + 1, G\n", ONE))


def test_globals_item_write_that_adds_up():
    check(
        _module(
            "G = 1\ndef f(x):\n    globals()['G'] += 1\n    a = G\n    globals().update(G=a * 2)\n    return x * G, a\n",
            ONE,
        )
    )


def test_globals_item_write_in_a_callee():
    check(
        _module(
            "G = 1\ndef put(v):\n    globals()['G'] = v\ndef f(x):\n    a = G\n    put(a + 1)\n    return x * G, a\n",
            ONE,
        )
    )


def test_globals_read_after_a_global_statement():
    check(
        _module(
            "G = 1\ndef f(x):\n    global G\n    G += 1\n    return x, globals()['G'], 'G' in globals(), globals().get('H')\n",
            ONE,
        )
    )


def test_globals_deleted():
    check(_module(
        "G = 1\ndef f(x):\n    a = globals().pop('G')\n    try:\n        G\n    except NameError as e:\n        r = str(e)\n    globals()['G'] = a\n"
        "    return x, a, r, G\n", ONE))  # fmt: skip


def test_del_global():
    check(
        _module(
            "G = 1\ndef f(x):\n    global G, H\n    H = G\n    del G\n    r = 'G' in globals()\n    G = H + 1\n    return x * G, r\n",
            ONE,
        )
    )


def test_global_shadows_a_builtin():
    check(
        _module(
            "def f(x):\n    global len\n    a = len([1, 2])\n    len = lambda v: 99\n    b = len([1])\n    del len\n    return x, a, b\n",
            ONE,
        )
    )


def test_builtin_shadowed_later():
    text = "def f(x, on):\n    if on:\n        globals()['abs'] = lambda v: 'mine'\n    return x, abs(-1)\n"
    check(
        _module(
            text,
            [lambda: (torch.ones(1), False), lambda: (torch.ones(1), True), lambda: (torch.ones(1), False)],
        )
    )


def test_module_attribute_written():
    text = (
        "import sys\nG = 1\ndef f(x):\n    me = sys.modules[__name__] if __name__ in sys.modules else None\n    G2 = G\n"
        "    setattr(me, 'G', G2 + 1)\n    return x * G, me.G\n"
    )
    check(_module("__name__ = 'case_module'\n" + text, ONE))


def test_star_of_a_namespace():
    check(_module(
        "import types\nN = types.SimpleNamespace(a=1)\ndef f(x):\n    N.a += 1\n    N.b = N.a\n    return x * N.a, vars(N)\n", ONE))  # fmt: skip


def test_locals_are_a_snapshot_of_names():
    check(_module("def f(x):\n    a = 1\n    b = [2]\n    return x, sorted(locals()), locals()['a']\n", ONE))


def test_exec_and_eval():
    check(
        _module(
            "G = 2\ndef f(x):\n    y = eval('G * 3')\n    exec('G = G + 1', globals())\n    return x * y, G\n",
            ONE,
        )
    )


@program
def test_attributes_of_the_module_builtins_are_no_names():
    def f(x):
        said = []
        for read in (lambda: __class__, lambda: __annotations__, lambda: __init__, lambda: __dict__):  # noqa: F821
            try:
                said.append(read())
            except NameError as e:
                said.append(str(e))
        return x + 1, said

    return f, [(torch.ones(1),)]
