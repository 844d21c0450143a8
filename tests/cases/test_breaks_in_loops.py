"""Loops that break the graph in each round: each round goes on compiled, in the order and with the state of eager."""

import torch
from harness import program
from torch import nn


def ramp():
    return torch.arange(6.0).reshape(2, 3)


@program
def test_loop_print():
    def f(x, n):
        for i in range(n):
            print(i)
            x = x + i
        return x, n

    return f, [(ramp(), 1), (ramp(), 3), (ramp(), 40), (ramp(), 0)]


@program
def test_loop_nested():
    def f(x, n):
        out = []
        for i in range(n):
            for j in range(i):
                print(i, j)
                x = x + 1
                if j == 2:
                    break
                if i == 1:
                    continue
                out.append((i, j))
            else:
                print("else", i)
        return x, out

    return f, [(ramp(), 3), (ramp(), 5)]


@program
def test_loop_list_mut():
    def f(x, l):
        for v in l:
            print(v)
            if len(l) < 6:
                l.append(v + 1)
            x = x * v
        return x, l

    return f, [(ramp(), [1, 2]), (ramp(), [5])]


@program
def test_while_loop():
    def f(x, n):
        i = 0
        while i < n:
            print(i)
            i += 1
            x = x * 2
            if i == 4:
                break
        else:
            print("end")
        return x, i

    return f, [(ramp(), 2), (ramp(), 7)]


@program
def test_loop_dict():
    def f(x, d):
        for k, v in d.items():
            print(k)
            x = x + v
        return x

    return f, [(ramp(), {"a": 1, "b": 2.5}), (ramp(), {"a": ramp()})]


@program
def test_loop_gen():
    def g(n):
        for i in range(n):
            print("g", i)
            yield i

    def f(x, n):
        for v in g(n):
            x = x + v
            print("f")
        return x

    return f, [(ramp(), 3)] * 2


@program
def test_loop_zip_enum():
    def f(x, l):
        for i, (a, b) in enumerate(zip(l, reversed(l))):
            print(i, a, b)
            x = x + a * b
        return x

    return f, [(ramp(), [1, 2, 3])] * 2


@program
def test_loop_input_iter():
    def f(x, it):
        for v in it:
            x = x + v
        return x, next(it, "done")

    return f, [(ramp(), iter([1, 2, 3])), (ramp(), iter([4.5]))]


@program
def test_loop_modules():
    torch.manual_seed(0)
    m = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])

    def f(x):
        for l in m:
            x = l(x).relu()
            print(x.shape)
        return x

    return f, [(ramp(),)] * 3


@program
def test_loop_closure():
    def f(x, n):
        fs = []
        t = 0
        for i in range(n):

            def g(k=i):
                nonlocal t
                t += k
                return t

            fs.append(g)
            print(i)
        return x + sum(q() for q in fs), t

    return f, [(ramp(), 3), (ramp(), 4)]


@program
def test_comp_break():
    def h(v):
        print(v)
        return v + 1

    def f(x, l):
        return [h(v) * x for v in l if h(v) > 1], {k: h(k) for k in l}

    return f, [(ramp(), [1, 2]), (ramp(), [0])]


@program
def test_loop_exc():
    def f(x, l):
        n = 0
        for v in l:
            try:
                print(v)
                n += 10 // v
            except ZeroDivisionError as e:
                print(e)
                n -= 1
                continue
            finally:
                print("fin")
            x = x + n
        return x, n

    return f, [(ramp(), [1, 0, 2]), (ramp(), [0])]


@program
def test_loop_raising_iter():
    def g():
        yield 1
        raise ValueError("it")

    class It:
        def __init__(s):
            s.n = 0

        def __iter__(s):
            return s

        def __next__(s):
            s.n += 1
            print("next", s.n)
            if s.n > 3:
                raise StopIteration
            return s.n

    def f(x, it):
        try:
            for v in it:
                x = x + v
                print(v)
        except ValueError as e:
            return x, str(e)
        return x

    return f, [(ramp(), g()), (ramp(), It())]


@program
def test_big_loop():
    def f(x, n):
        for i in range(n):
            if i % 500 == 0:
                print(i)
            x = x + 1
        return x

    return f, [(torch.zeros(1), 3000)]


@program
def test_with_in_loop():
    def f(x, n):
        for i in range(n):
            with torch.no_grad():
                print(i)
                x = x + 1
        return x, torch.is_grad_enabled()

    return f, [(ramp().requires_grad_(), 3)] * 2


@program
def test_unpack_in_loop():
    def f(x, l):
        r = []
        for a, *b in l:
            r += [a, b]
            print(a)
            if b:
                del b
        try:
            return x, r, b
        except UnboundLocalError as e:
            return x, r, str(e)

    return f, [(ramp(), [(1, 2, 3), (4,)]), (ramp(), [(1, 2)])]


@program
def test_ret_in_loop():
    def f(x, l):
        for v in l:
            print(v)
            if v > 2:
                return x * v
        return x

    return f, [(ramp(), [1, 2, 3, 4]), (ramp(), [1])]
