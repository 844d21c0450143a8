"""Around graph breaks everything happens once, in program order, on the same objects."""

import json
import zlib

import torch
from harness import program


@program
def test_log_around_breaks():
    order = []

    def note(s):
        order.append(s)

    def f(x, n):
        note("a")
        y = x + 1
        print("one")
        note("b")
        try:
            with torch.no_grad():
                z = y * n
                if n > 100:
                    raise ValueError
                print("two")
                note("c")
            raise KeyError("k")
        except KeyError as e:
            note(e.args[0])
        finally:
            note("d")
        return z

    return f, [(torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_break_keeps_aliases():
    class Box:
        pass

    def f(x):
        a = [x]
        b = Box()
        b.items, b.again = a, [a, a]
        print("break")
        a.append(x + 1)
        b.again[0].append("z")
        return b, a, b.items is a, b.again[1] is a

    return f, [(torch.ones(1),)]


@program
def test_break_keeps_cells():
    def f(x):
        n = 1

        def inc():
            nonlocal n
            n += 1
            return n

        inc()
        print(n)
        inc()
        k = n
        print(inc())
        return x * n, k, inc

    return f, [(torch.ones(1),)]


@program
def test_break_in_a_loop():
    def f(x, n):
        out = []
        for i in range(n):
            x = x + i
            print(i, end=" ")
            out.append(x * 2)
            if i == 2:
                break
        else:
            out.append("else")
        return out

    return f, [(torch.ones(1), 2), (torch.ones(1), 5)]


@program
def test_break_in_a_while_with_a_condition_on_data():
    def f(x):
        k = 0
        while x.sum() < 20:
            x = x * 2
            k += 1
        return x, k

    return f, [(torch.ones(2),), (torch.full((2,), 30.0),)]


@program
def test_data_dependent_branches():
    def f(x):
        if x.sum() > 0:
            y = x + 1
            if y.max() > 3:
                return y * 10
        else:
            y = x - 1
        return y

    return f, [(torch.ones(2),), (-torch.ones(2),), (torch.full((2,), 9.0),)]


@program
def test_item_and_numbers_from_tensors():
    def f(x):
        v = x.sum().item()
        n = int(x.max())
        return x * v, v, n, [0] * n, f"{v:.1f}", x.tolist(), bool(x.any()), float(x[0]), range(n)

    return f, [(torch.tensor([1.0, 2.0]),), (torch.tensor([3.0, 0.5]),)]


@program
def test_break_in_a_callee():
    log = []

    def inner(x, k):
        y = x + k
        log.append("before")
        print("inner", k)
        log.append("after")
        return y * 2

    def f(x):
        a = inner(x, 1)
        b = inner(a, 2)
        return a + b, len(log)

    return f, [(torch.ones(1),)] * 2


@program
def test_break_deep_inside_with_open_blocks():
    log = []

    class Manager:
        def __enter__(self):
            log.append("+")
            return 5

        def __exit__(self, *a):
            log.append("-")

    def inner(x):
        with Manager() as k:
            try:
                y = x + k
                print("deep")
                return y * 2
            finally:
                log.append("f")

    def middle(x):
        with torch.no_grad():
            return inner(x) + 1

    def f(x):
        return middle(x), torch.is_grad_enabled(), len(log)

    return f, [(torch.ones(1, requires_grad=True),)] * 2


@program
def test_break_in_the_middle_of_an_expression():
    def say(v):
        print(v)
        return v

    def f(x):
        return (
            [x + 1, say(1), {"k": x * say(2)}, (say("a"), x)],
            x.sum() + say(3) * 2,
            say(4) if say(0) else say(5),
        )

    return f, [(torch.ones(1),)]


@program
def test_break_in_a_comprehension():
    def f(x, items):
        return [(print(i), x + i)[1] for i in items], {k: print(k) for k in "ab"}

    return f, [(torch.ones(1), [1, 2])]


@program
def test_break_in_a_generator_being_consumed():
    def gen(x):
        for k in range(3):
            print("gen", k)
            yield x + k

    def f(x):
        return list(gen(x)), sum(v.sum() for v in gen(x))

    return f, [(torch.ones(1),)]


@program
def test_break_in_an_except_block():
    def f(x, n):
        try:
            1 // n
        except ZeroDivisionError as e:
            print("caught", e)
            y = x * 2
            try:
                raise
            except ZeroDivisionError as again:
                return y, again is e
        return x

    return f, [(torch.ones(1), 0), (torch.ones(1), 1)]


@program
def test_break_in_a_finally_block():
    def f(x, n):
        try:
            y = x // n if n else [][0]
        except IndexError:
            y = x
        finally:
            print("finally")
            x = x + 1
        return x, y

    return f, [(torch.ones(1), 0), (torch.ones(1), 1)]


@program
def test_break_while_an_exception_flies():
    log = []

    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, kind, value, tb):
            print("exit", kind.__name__ if kind else None)
            log.append(1)
            return True

    def f(x, n):
        with Manager():
            x = x + 1
            if n:
                raise ValueError(n)
            x = x + 10
        return x * 2

    return f, [(torch.ones(1), 0), (torch.ones(1), 1)]


@program
def test_opaque_c_functions():
    def f(x, s):
        return (
            x * zlib.crc32(s.encode()),
            json.dumps({"s": s, "n": [1]}),
            json.loads("[1, {}]"),
            "é".encode("latin1"),
            compile("1", "x", "eval") is None,
        )

    return f, [(torch.ones(1), "a"), (torch.ones(1), "b")]


@program
def test_live_iterators_cross():
    def f(x):
        it = iter([1, 2, 3, 4])
        z = zip("abc", it)
        e = enumerate([x, x])
        a = next(it), next(z), next(e)
        print("break")
        return a, next(z), list(it), next(e)[0], list(z)

    return f, [(torch.ones(1),)] * 2


@program
def test_unfinished_loop_variables_cross():
    def f(x, d):
        for k, v in d.items():
            for t in v:
                x = x + t
                print(k, t)
        return x

    return f, [(torch.ones(1), {"a": [1, 2], "b": [3]})]


@program
def test_in_place_changes_cross():
    def f(x, y):
        x.add_(1)
        v = x[:1]
        print("break")
        v.mul_(5)
        y.append(x)
        x[1:] = v
        return v, x is y[0]

    return f, [(torch.ones(2), []), (torch.ones(3), [])]


@program
def test_unbound_locals_cross():
    def f(x, n):
        if n:
            late = 1
        print("break")
        try:
            return x * late
        except UnboundLocalError as e:
            return str(e)

    return f, [(torch.ones(1), 0), (torch.ones(1), 1)]


@program
def test_functions_and_classes_made_before_a_break():
    def f(x, n):
        class C:
            k = n

            def go(self, v):
                return v * self.k + n

        def g(v, by=n):
            return v + by

        c = C()
        print(C.__name__, g.__name__)
        c.k = 7
        return c.go(x), g(x), isinstance(c, C), C.k

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_print_only():
    def f(x):
        print("hello", 1, [2], end="!\n")
        print(x.shape, x.dtype)
        print()

    return f, [(torch.ones(2),), (torch.ones(3),)]


@program
def test_recursion_with_breaks():
    def f(x, n):
        if n == 0:
            return x
        print(n)
        return f(x + n, n - 1) * 2

    return f, [(torch.ones(1), 3), (torch.ones(1), 1)]


@program
def test_exception_right_after_a_break():
    log = []

    def f(x, n):
        log.append("a")
        y = x * 2
        print("break")
        log.append("b")
        if n:
            raise ValueError(n, len(log))
        return y

    return f, [(torch.ones(1), 0), (torch.ones(1), 1), (torch.ones(1), 0)]


@program
def test_star_arguments_across():
    def f(x, *args, k=1, **kw):
        y = x * len(args)
        print(args, sorted(kw))
        return y + k, args, kw

    return f, [(torch.ones(1), 1, 2), (torch.ones(1),)]


@program
def test_what_a_broken_call_returns_is_the_condition_of_a_branch():
    class Empty:
        def __len__(self):
            return 0

    @torch.compiler.disable
    def opaque(x, kind):
        return {"tensor": x.sum(), "list": [1], "object": Empty(), "number": 0, "bool": True}[kind]

    def f(x, kind):
        y = x + 1
        if opaque(x, kind):
            y = y * 2
        z = opaque(x, kind) or y
        while opaque(x, "tensor"):
            x = x - 1
        return y, z is y, x, 4 if opaque(x, kind) and opaque(x, "list") else 5

    return f, [(torch.ones(2), kind) for kind in ("tensor", "list", "object", "number", "bool", "tensor")]


@program
def test_a_cell_that_an_inner_function_deletes_crosses():
    def f(x):
        value = 1

        def drop():
            def deeper():
                nonlocal value
                torch._dynamo.graph_break()
                del value

            deeper()

        drop()
        try:
            return x + 1, value
        except NameError as e:
            return x + 1, type(e).__name__, str(e)

    return f, [(torch.ones(2),)]
