"""Text made from values that vary between calls is text, with every conversion and format kept."""

import torch
from harness import program


@program
def test_float_repr_conversion():
    def f(x, v):
        return x + 1, f"{v!r}"

    return f, [(torch.ones(1), 1.5), (torch.ones(1), 2.5), (torch.ones(1), 3.5)]


@program
def test_conversions_of_a_float():
    def f(x, v):
        return (
            x * v,
            f"{v}",
            f"{v!s}",
            f"{v!r:>8}",
            f"{v:.2f}",
            f"{v:e}",
            f"{v:g}",
            f"{v:+.1%}",
            str(v),
            repr(v),
            format(v, ".3f"),
        )

    return f, [
        (torch.ones(1), 1.5),
        (torch.ones(1), 2.25),
        (torch.ones(1), -0.0),
        (torch.ones(1), float("nan")),
    ]


@program
def test_conversions_of_an_int():
    def f(x, n):
        return (
            x * n,
            f"{n}",
            f"{n:>4}",
            f"{n:04d}",
            f"{n:x}",
            f"{n!r}",
            f"{n:,}",
            f"{n:.1f}",
            str(n),
            hex(n),
            bin(n),
            oct(n),
            chr(65 + n),
        )

    return f, [(torch.ones(1), 3), (torch.ones(1), 12), (torch.ones(1), 7)]


@program
def test_nested_width():
    def f(x, v, w, p):
        return x, f"{v:{w}.{p}f}|", f"{v:<{w}}|", "{:{}}".format(v, w)

    return f, [(torch.ones(1), 1.25, 8, 1), (torch.ones(1), 2.5, 9, 2), (torch.ones(1), 2.5, 9, 3)]


@program
def test_percent_formatting():
    def f(x, n, s):
        return (
            x,
            "%d-%s" % (n, s),
            "%5.2f" % n,
            "%(a)s/%(b)r" % {"a": n, "b": s},
            "%r" % (s,),
            "%%%d" % n,
            "%x" % n,
        )

    return f, [(torch.ones(1), 3, "a"), (torch.ones(1), 4, "b"), (torch.ones(1), 11, "")]


@program
def test_percent_formatting_that_fails():
    def f(x, v):
        try:
            return "%d" % v
        except TypeError as e:
            return str(e)

    return f, [(torch.ones(1), "a"), (torch.ones(1), 2.5), (torch.ones(1), (1, 2)), (torch.ones(1), 7)]


@program
def test_format_method():
    def f(x, n, s):
        return (
            x,
            "{} {}".format(n, s),
            "{1}{0}".format(n, s),
            "{k!r:>6}".format(k=s),
            "{0[0]}{1.real}".format([n], n),
            "{a}".format_map({"a": n}),
        )

    return f, [(torch.ones(1), 3, "a"), (torch.ones(1), 4, "b")]


@program
def test_shapes_in_text():
    def f(x):
        n = x.shape[0]
        return (
            x + 1,
            f"{x.shape}",
            f"{n}",
            str(x.shape),
            str(tuple(x.shape)),
            f"{n!r}:{n * 2}",
            "x".join(map(str, x.shape)),
            f"{x.size()}",
        )

    return f, [(torch.ones(2, 3),), (torch.ones(4, 3),), (torch.ones(5, 3),)]


@program
def test_bools_and_none():
    def f(x, b):
        return x, f"{b}", f"{b!s:>6}", f"{b:d}", str(b), f"{None}", repr((b, None)), f"{b:>3}"

    return f, [(torch.ones(1), True), (torch.ones(1), False)]


@program
def test_containers_in_text():
    def f(x, items, table):
        return (
            x,
            f"{items}",
            str(table),
            repr((items, table)),
            f"{[*items, 1.5]!s}",
            f"{set(items)}",
            f"{tuple(items)!r:>20}",
        )

    return f, [(torch.ones(1), [1, 2], {"a": 1}), (torch.ones(1), [3], {"b": [2]}), (torch.ones(1), [], {})]


@program
def test_own_format_and_str():
    class P:
        def __init__(self, n):
            self.n = n

        def __format__(self, spec):
            return f"<{self.n}:{spec}>"

        def __str__(self):
            return f"str{self.n}"

        def __repr__(self):
            return f"repr{self.n}"

    def f(x, n):
        p = P(n)
        return (
            x,
            f"{p}",
            f"{p:abc}",
            f"{p!s}",
            f"{p!r:>8}",
            str(p),
            repr(p),
            [p],
            f"{[p]}",
            "%s %r" % (p, p),
            "{:q}".format(p),
        )

    return f, [(torch.ones(1), 1), (torch.ones(1), 2)]


@program
def test_str_that_logs():
    log = []

    class P:
        def __str__(self):
            log.append("str")
            return "P"

    def f(x):
        p = P()
        return x, f"{p}{p!s}", str(p) + "!", len(log)

    return f, [(torch.ones(1),)] * 2


@program
def test_debug_form():
    def f(x, n, v):
        return x, f"{n=}", f"{n + 1 = }", f"{v=:.1f}", f"{v=!s}"

    return f, [(torch.ones(1), 1, 1.5), (torch.ones(1), 2, 2.5)]


@program
def test_joined_numbers():
    def f(x, items):
        return (
            x,
            ",".join(str(i) for i in items),
            "".join([f"{i:02}" for i in items]),
            "-".join(map(repr, items)),
        )

    return f, [(torch.ones(1), [1, 2.5]), (torch.ones(1), [3])]


@program
def test_text_as_key_and_branch():
    def f(x, n):
        table = {"k1": 1, "k2": 2}
        return x * table.get(f"k{n}", 10)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_attribute_by_made_up_name():
    class C:
        w1, w2 = 1, 2

    def f(x, n):
        setattr(C, f"made_{n}", n)
        return x * getattr(C, f"w{n}", 9)

    return f, [(torch.ones(1), 1), (torch.ones(1), 2), (torch.ones(1), 3)]


@program
def test_tensor_in_text():
    def f(x):
        y = x + 1
        return y, f"{y}", str(x.dtype), f"{y.sum().item():.1f}", repr(x)

    return f, [(torch.ones(2),), (torch.zeros(2),)]


@program
def test_format_errors():
    def f(x, v):
        out = []
        for make in (
            lambda: f"{v:d}",
            lambda: f"{v:zz}",
            lambda: "{}{}".format(v),
            lambda: "{k}".format(v),
            lambda: format(v, "s"),
        ):
            try:
                out.append(make())
            except (ValueError, IndexError, KeyError, TypeError) as e:
                out.append((type(e).__name__, str(e)))
        return x, out

    return f, [(torch.ones(1), 1.5), (torch.ones(1), 2), (torch.ones(1), "s"), (torch.ones(1), 3)]


@program
def test_print_of_values_that_vary():
    def f(x, n, v):
        print(n, v, f"{v!r}", sep="|", end=".\n")
        print("sum", n + v)
        return x * n

    return f, [(torch.ones(1), 1, 0.5), (torch.ones(1), 2, 1.5), (torch.ones(1), 3, 2.5)]


@program
def test_string_methods_with_numbers():
    def f(x, n, s):
        return (
            x,
            s * n,
            s.center(n),
            s.rjust(n, "."),
            s.zfill(n),
            s[:n],
            s[-n:],
            s.split(maxsplit=n),
            s.find("b", n),
            s.replace("a", "z", n),
            s.expandtabs(n),
        )

    return f, [(torch.ones(1), 2, "ab a b"), (torch.ones(1), 9, "ab a b"), (torch.ones(1), 5, "q\tb")]


@program
def test_int_from_text():
    def f(x, s):
        try:
            return x * int(s), float(s), int(s, 16)
        except ValueError as e:
            return str(e)

    return f, [(torch.ones(1), "3"), (torch.ones(1), "12"), (torch.ones(1), "x"), (torch.ones(1), " 4 ")]
