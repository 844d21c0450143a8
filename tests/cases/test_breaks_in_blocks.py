"""Graph breaks inside try and with blocks: what is behind them runs compiled, and handlers run as under eager."""

import sys

import torch
from harness import program


def ramp():
    return torch.arange(6.0).reshape(2, 3)


@program
def test_break_in_try_except_finally():
    def f(x, d):
        y = x + 1
        try:
            print("in")
            v = d["k"]
            print(v)
            z = y * v
        except KeyError as e:
            print("key", e, e.__traceback__ is not None)
            z = y - 1
        finally:
            print("fin")
        return z * 2

    return f, [(ramp(), {"k": 2}), (ramp(), {}), (ramp(), {"k": "s"})]


@program
def test_call_that_raises_behind_breaks():
    def g(n):
        print("g", n)
        if n > 2:
            raise ValueError(n)
        return n

    def f(x, n):
        l = [1]
        try:
            a = g(n)
            l.append(a)
            x = x * 2
            b = g(n + 1)
            l.append(b)
            x = x * 3
        except ValueError as e:
            l.append(str(e))
            return x, l, e.__context__
        return x, l

    return f, [(ramp(), 1), (ramp(), 2), (ramp(), 3)]


@program
def test_break_under_no_grad():
    w = torch.ones(3, requires_grad=True)

    def f(x):
        with torch.no_grad():
            y = x * w
            print("a")
            z = y * w
        u = z * w
        print("b")
        return y, z, u

    return f, [(ramp(),)] * 2


@program
def test_break_in_nested_user_contexts():
    class C:
        def __init__(s, l):
            s.l = l

        def __enter__(s):
            s.l.append("in")
            return s

        def __exit__(s, *a):
            s.l.append(str(a[0]))
            return a[0] is ValueError

    def f(x, k):
        l = []
        with C(l) as c:
            y = x + 1
            print("p")
            with C(l):
                print("q")
                y = y * 2
                if k == 1:
                    raise ValueError("v")
                if k == 2:
                    raise KeyError("v")
            c.l.append("mid")
            print("r")
        return y, l

    return f, [(ramp(), 0), (ramp(), 1), (ramp(), 2)]


@program
def test_break_in_nested_handlers():
    def f(x, k):
        out = []
        try:
            try:
                print("a")
                out.append(1)
                if k:
                    int("z")
                y = x + 1
            except TypeError:
                out.append("te")
            else:
                print("else")
                out.append("else")
            finally:
                print("f1")
                out.append("f1")
        except ValueError as e:
            print("ve")
            out.append(str(e))
            y = x - 1
        return y, out

    return f, [(ramp(), 0), (ramp(), 1)]


@program
def test_break_in_try_in_loop():
    def f(x, n):
        for i in range(n):
            try:
                print(i)
                x = x + 1
                if i == 2:
                    raise ValueError
            except ValueError:
                print("caught")
                x = x * 2
        return x

    return f, [(ramp(), 1), (ramp(), 3), (ramp(), 5)]


@program
def test_truth_of_a_tensor_in_try():
    def f(x):
        try:
            if x.sum() > 3:
                y = x + 1
            else:
                y = x - 1
            if x:
                y = y * 2
        except RuntimeError as e:
            return str(e)[:30], y
        return y

    return f, [(ramp(),), (-ramp(),), (torch.ones(1),)]


@program
def test_break_before_return_through_finally():
    def f(x, l):
        try:
            print("x")
            return x + len(l)
        finally:
            l.append(1)
            print("y")

    return f, [(ramp(), []), (ramp(), [1])]


@program
def test_exc_info_at_a_break():
    def f(x):
        try:
            print("s")
            {}["a"]
        except KeyError:
            t = sys.exc_info()[0]
            print(t)
            try:
                1 / 0
            except ZeroDivisionError as e:
                c = e.__context__
        return x + 1, t.__name__, repr(c), sys.exc_info()

    return f, [(ramp(),)] * 2


@program
def test_exception_leaves_no_grad_after_a_break():
    w = torch.ones(3, requires_grad=True)

    def f(x, k):
        try:
            with torch.no_grad():
                print("a")
                y = x * w
                if k:
                    raise ValueError
        except ValueError:
            y = x * w
            print(torch.is_grad_enabled())
        return y

    return f, [(ramp(), 0), (ramp(), 1)]


@program
def test_comprehension_over_a_captured_name_behind_a_break():
    def f(x):
        try:
            try:
                print("a")
                {}["nothing"]
            except KeyError as e:
                raise ValueError([lambda: e for e in (e for e in [3])]) from e
        except ValueError as e:
            return type(e.__cause__), e.args[0][0](), x + 1

    return f, [(ramp(),), (ramp(),)]
