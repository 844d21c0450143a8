"""Iterators over dictionaries and sets see what the program does to them meanwhile."""

import collections

import torch
from harness import program
from torch import nn


def ramp():
    return torch.arange(6.0).reshape(2, 3)


@program
def test_live_items():
    def f(x, d):
        out = []
        for k, v in d.items():
            d["b"] = 10
            out.append((k, v))
        for v in d.values():
            d["a"] = x
            out.append(v)
        return out, x + 1

    return f, [(ramp(), {"a": 1, "b": 2}), (ramp(), {"b": 3, "a": 1})]


@program
def test_exhausted():
    def f(x, d):
        it = iter(d)
        n = len(list(it))
        d["new"] = 1
        try:
            return next(it), n
        except StopIteration:
            return "stop", n, x + 1
        except RuntimeError as e:
            return str(e), x + 1

    return f, [(ramp(), {"a": 1})]


@program
def test_grow():
    def f(x, d):
        try:
            for k in d:
                d[k + "z"] = x + 1
        except RuntimeError as e:
            return str(e), d

    return f, [(ramp(), {"a": 1, "b": 2})]


@program
def test_swap_keys():
    def f(x, d):
        out = []
        try:
            for k in d:
                out.append(k)
                if len(out) < 6:
                    v = d.pop(k)
                    d[k + "z"] = v
        except RuntimeError as e:
            out.append(str(e))
        return out, d, x + 1

    return f, [(ramp(), {"a": 1, "b": 2})]


@program
def test_brk_dict_iter():
    def f(x, d):
        for k, v in d.items():
            print(k)
            x = x + v
        for k in {"p": 1, "q": 2}:
            print(k)
            x = x * 2
        it = iter(d.values())
        next(it)
        print("z")
        return x, next(it, None), type(it).__name__

    return f, [(ramp(), {"a": 1, "b": 2.5, "c": 3}), (ramp(), {"a": ramp()})]


@program
def test_odict():
    def f(x, d):
        o = collections.OrderedDict(d)
        o.move_to_end("a")
        r = []
        for k in o:
            print(k)
            r.append(k)
        for k in reversed(o):
            r.append(k)
            print(k)
        return r, x + 1, type(iter(o)).__name__, type(iter(d.items())).__name__, type(iter({1})).__name__

    return f, [(ramp(), {"a": 1, "b": 2.5, "c": 3})]


@program
def test_set_iter():
    def f(x, s):
        for v in s:
            print(v)
            x = x + v
        try:
            for v in s:
                s.add(v + 1)
        except RuntimeError as e:
            return str(e), x
        return x

    return f, [(ramp(), {1, 2})]


@program
def test_modlist():
    torch.manual_seed(0)
    m = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])
    d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(3, 3)})

    def f(x):
        for l in m:
            x = l(x).relu()
            print(x.shape)
        for k, l in d.items():
            print(k)
            x = l(x)
        for n, p in m.named_parameters():
            x = x + p.sum()
            print(n)
        return x

    return f, [(ramp(),)] * 2


@program
def test_iteration_that_breaks_over_a_dictionary_that_was_changed_before():
    def f(x, d):
        d.update(z=x.dim())
        for key, value in d.items():
            print(key)
            x = x + value
        d.pop("z")
        d["y"] = 1
        keys = iter(d)
        first = next(keys)
        print(first)
        return x, first, list(keys), d

    return f, [(torch.ones(2), {"b": 2, "a": 5}), (torch.ones(2), {"a": 1})]


@program
def test_an_iterator_over_a_changed_dictionary_is_returned():
    def f(x, d):
        d["new"] = 1
        del d["a"]
        keys = iter(d.values())
        next(keys)
        return x * 2, keys, reversed(d)

    return f, [(torch.ones(2), {"b": 2, "a": 5}), (torch.ones(2), {"a": 1, "c": 3})]


@program
def test_growing_after_a_change_before_the_loop():
    def f(x, held, key):
        t = x * 2
        if isinstance(held, set):
            held.add(key)
        elif isinstance(held, collections.deque):
            held.append(key)
        else:
            held[key] = 1
        for _ in held:
            if isinstance(held, set):
                held.add("new")
            elif isinstance(held, collections.deque):
                held.append("new")
            else:
                held["new"] = t

    makers = [dict, collections.OrderedDict, collections.Counter, lambda: {"b"}, lambda: collections.deque("b")]
    return f, [(torch.ones(1), make(), "a") for make in makers for _ in range(2)]
