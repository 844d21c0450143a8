"""Plain statements and control flow: assignments, mutations, branches, loops, try, with, match, nested functions."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz_frontend.grammar.core import RISK, Generator, Scope, indent

_KINDS = ["t", "t", "t", "i", "i", "f", "b", "s", "li", "lt", "di", "dt", "si", "ti", "ls"]

_MUTATIONS = [
    ("li", "{v}.append(<i>)"), ("li", "{v}.extend(<li>)"), ("li", "{v}.insert(0, <i>)"), ("li", "! {v}.pop()"),
    ("li", "! {v}[0] = <i>"), ("li", "! {v}[<ci>] = <i>"), ("li", "{v}.sort()"), ("li", "{v}.reverse()"), ("li", "! del {v}[0]"),
    ("li", "{v}[:] = <li>"), ("li", "{v}[1:1] = <li>"), ("li", "{v} += <li>"), ("li", "{v} *= 2"), ("li", "! {v}.remove(<i>)"),
    ("li", "{v}.clear()"), ("li", "del {v}[1:]"), ("li", "{v}.sort(key=lambda e: -e)"), ("li", "{v}.sort(reverse=True)"),
    ("lt", "{v}.append(<t>)"), ("lt", "! {v}[0] = <t>"), ("lt", "! {v}.pop()"), ("lt", "{v} += [<t>]"), ("lt", "{v}.extend(<lt>)"),
    ("di", "{v}[<key>] = <i>"), ("di", "{v}.update(<di>)"), ("di", "{v}.pop(<key>, None)"), ("di", "{v}.setdefault(<key>, <i>)"),
    ("di", "! del {v}[<key>]"), ("di", "{v} |= <di>"), ("di", "! {v}[<key>] += <i>"), ("di", "{v}.update(z=<i>)"),
    ("di", "! {v}.popitem()"), ("di", "{v}[<s>] = <i>"), ("di", "{v}.clear()"),
    ("dt", "{v}[<key>] = <t>"), ("dt", "{v}.update(<dt>)"), ("dt", "{v}[<key>] = {v}.pop(<key>, <t>)"),
    ("dt", "{v}.setdefault(<key>, <t>)"),
    ("si", "{v}.add(<i>)"), ("si", "{v}.discard(<i>)"), ("si", "{v} |= <si>"), ("si", "{v}.update(<li>)"), ("si", "! {v}.remove(<i>)"),
    ("si", "{v} -= <si>"), ("ls", "{v}.append(<s>)"), ("ls", "{v}.sort()"), ("ls", "! {v}[-1] += <s>"),
    ("t", "{v}.add_(<f>)"), ("t", "{v}.mul_(2)"), ("t", "{v}[0] = <f>"), ("t", "{v} += <i>"), ("t", "{v}.zero_()"),
    ("t", "{v}[-1:] = <f>"), ("t", "{v}.view(-1)[0] = <f>"), ("t", "{v}[0] += 1"), ("t", "{v}.copy_({v} * 2)"),
    ("t", "{v}.detach().add_(1)"), ("t", "torch.add({v}, 1, out={v})"), ("t", "{v}.tag = <i>"), ("t", "{v}.clamp_(max=<cf>)"),
]  # fmt: skip

_EXCEPTIONS = ["ValueError", "TypeError", "KeyError", "IndexError", "ZeroDivisionError", "AttributeError", "RuntimeError",
               "LookupError", "ArithmeticError", "Exception", "(KeyError, ValueError)", "StopIteration", "AssertionError"]  # fmt: skip
_RAISED = [
    "ValueError",
    "KeyError",
    "RuntimeError",
    "IndexError",
    "TypeError",
    "StopIteration",
    "AssertionError",
]
_PRINTS = ["print(<s>)", "print('at', <ai>)", "print(<i>, <f>, sep='|')", "print(<s>, end='')", "print(<x>.shape)",
           "print(<li>)", "print(<x>)", "print()"]  # fmt: skip
_BREAKS = ["$n = <x>.sum().item()", "$n = zlib.crc32(<s>.encode())", "$n = json.dumps(<li>)", "$n = struct.pack('<b', 1)",
           "$n = int(<x>.sum())", "$n = re.sub('a', 'b', <s>)", "$n = time.time() > 0", "$n = <x>.tolist()", "bisect.insort({li}, 2)",
           "heapq.heappush({li}, <i>)", "$n = gc.isenabled()", "$n = bool(<x>.sum() > 0)", "$n = float(<x>.mean())"]  # fmt: skip


def _writable(g: Generator, s: Scope, kind: str) -> list[str]:
    return [name for name in s.of(kind) if name not in s.readonly]


def simple(g: Generator, s: Scope) -> list[str]:
    """One plain statement."""
    choices: list[tuple[Callable[[Generator, Scope], list[str]], float]] = [
        (assign, 5), (mutate, 4), (reassign, 2), (augment, 2), (unpack, 1.5), (shout, 0.8), (break_graph, 0.5), (alias, 1),
        (chained, 0.4), (asserting, 0.12), (raising, 0.15), (deleting, 0.1), (jump, 0.7),
    ]  # fmt: skip
    make = g.rng.choices([c for c, _ in choices], [w for _, w in choices])[0]
    return make(g, s)


def assign(g: Generator, s: Scope) -> list[str]:
    kind = g.rng.choice(_KINDS)
    value = g.expr(s, kind)
    name = g.fresh({"t": "y", "i": "m", "f": "v", "li": "xs", "di": "d", "s": "text"}.get(kind, "a"))
    s.names[name] = kind
    return [f"{name} = {value}"]


def alias(g: Generator, s: Scope) -> list[str]:
    kind = g.rng.choice([k for k in ("li", "di", "dt", "lt", "t", "si") if s.of(k)] or ["i"])
    name = g.fresh("same")
    line = f"{name} = {g.expr(s, kind) if kind == 'i' else g.rng.choice(s.of(kind))}"
    s.names[name] = kind
    return [line]


def reassign(g: Generator, s: Scope) -> list[str]:
    kind = g.rng.choice(_KINDS)
    names = _writable(g, s, kind)
    if not names:
        return assign(g, s)
    return [f"{g.rng.choice(names)} = {g.expr(s, kind)}"]


def augment(g: Generator, s: Scope) -> list[str]:
    kind, ops = g.rng.choice([("i", ["+=", "-=", "*=", "//=", "%=", "|=", "^="]), ("f", ["+=", "*=", "-="]), ("s", ["+="]),
                              ("t", ["+=", "*=", "-="]), ("ti", ["+="]), ("b", ["|=", "&="])])  # fmt: skip
    names = _writable(g, s, kind)
    if not names:
        return assign(g, s)
    return [f"{g.rng.choice(names)} {g.rng.choice(ops)} {g.expr(s, kind)}"]


def mutate(g: Generator, s: Scope) -> list[str]:
    for _ in range(12):
        kind, template = g.rng.choice(_MUTATIONS)
        if template.startswith("! ") and g.rng.random() > 2 * RISK:
            continue
        template = template.removeprefix("! ")
        names = s.of(kind)
        if ("|=" in template or "+=" in template or "*=" in template or "-=" in template) and "[" not in template.split(
            "="
        )[0]:
            names = _writable(g, s, kind)
        if names:
            return [g.fill(template.replace("{v}", g.rng.choice(names)), s)]
    return assign(g, s)


def unpack(g: Generator, s: Scope) -> list[str]:
    a, b = g.fresh("p"), g.fresh("q")
    form = g.rng.randrange(7)
    if form == 0:
        line, kinds = f"{a}, {b} = {g.expr(s, 'i')}, {g.expr(s, 't')}", ("i", "t")
    elif form == 1:
        line, kinds = f"{a}, *{b} = {g.expr(s, 'li')}", ("i", "li")
    elif form == 2:
        line, kinds = f"*{b}, {a} = {g.expr(s, 'ti')}", ("i", "li")
    elif form == 3:
        line, kinds = f"({a}, ({b}, _)) = {g.expr(s, 'i')}, ({g.expr(s, 's')}, 0)", ("i", "s")
    elif form == 4 and len(_writable(g, s, "i")) > 1:
        m, n = g.rng.sample(_writable(g, s, "i"), 2)
        return [f"{m}, {n} = {n}, {m}"]
    elif form == 5:
        line, kinds = f"{a}, {b} = divmod({g.expr(s, 'i')}, 3)", ("i", "i")
    else:
        line, kinds = f"[{a}, {b}] = [{g.expr(s, 't')}, {g.expr(s, 'f')}]", ("t", "f")
    s.names[a], s.names[b] = kinds
    return [line]


def chained(g: Generator, s: Scope) -> list[str]:
    a, b = g.fresh("c"), g.fresh("c")
    kind = g.rng.choice(["li", "di", "i", "t"])
    line = f"{a} = {b} = {g.expr(s, kind)}"
    s.names[a] = s.names[b] = kind
    return [line]


def shout(g: Generator, s: Scope) -> list[str]:
    return [g.fill(g.rng.choice(_PRINTS), s)]


def break_graph(g: Generator, s: Scope) -> list[str]:
    template = g.rng.choice(_BREAKS)
    if "{li}" in template:
        if not s.of("li"):
            return shout(g, s)
        return [g.fill(template.replace("{li}", g.rng.choice(s.of("li"))), s)]
    name = g.fresh("n")
    line = g.fill(template.replace("$n", name), s)
    s.names[name] = "o"
    return [line]


def asserting(g: Generator, s: Scope) -> list[str]:
    return [f"assert {g.expr(s, 'b')}" + g.rng.choice(["", f", {g.expr(s, 's')}"])]


def raising(g: Generator, s: Scope) -> list[str]:
    error = f"{g.rng.choice(_RAISED)}({g.rng.choice(['', g.expr(s, 's'), g.expr(s, 'i') + ', ' + g.expr(s, 's')])})"
    return [f"if {g.expr(s, 'b')}:", f"    raise {error}"]


def deleting(g: Generator, s: Scope) -> list[str]:
    names = [n for n in s.names if n not in s.readonly]
    if not names:
        return assign(g, s)
    name = g.rng.choice(names)
    s.names.pop(name)
    return [f"del {name}"]


def jump(g: Generator, s: Scope) -> list[str]:
    if s.in_loop and g.rng.random() < 0.8:
        return [f"if {g.expr(s, 'b')}:", f"    {g.rng.choice(['break', 'continue'])}"]
    if g.rng.random() < 0.2:
        return [f"if {g.expr(s, 'b')}:", f"    return {g.expr(s, 'o')}, {g.expr(s, 't')}"]
    return mutate(g, s)


# Compound statements ---------------------------------------------------------------------------------------------


def compound(g: Generator, s: Scope) -> list[str]:
    """One compound statement with blocks inside."""
    choices: list[tuple[Callable[[Generator, Scope], list[str]], float]] = [
        (branch, 3), (for_loop, 3), (while_loop, 1), (try_except, 2.5), (with_block, 1.2), (matching, 1), (local_function, 2.5),
        (try_finally, 0.8), (local_generator, 0.8), (local_class, 0.4),
    ]  # fmt: skip
    make = g.rng.choices([c for c, _ in choices], [w for _, w in choices])[0]
    return make(g, s)


def branch(g: Generator, s: Scope) -> list[str]:
    lines = [f"if {g.expr(s, g.rng.choice(['b', 'b', 'b', 'i', 'li', 'o']))}:", *indent(g.block(s.child()))]
    if g.rng.random() < 0.3:
        lines += [f"elif {g.expr(s, 'b')}:", *indent(g.block(s.child()))]
    if g.rng.random() < 0.5:
        lines += ["else:", *indent(g.block(s.child()))]
    return lines


def for_loop(g: Generator, s: Scope) -> list[str]:
    a, b = g.fresh("i"), g.fresh("e")
    header, names = g.rng.choice([
        (f"{a} in range({g.expr(s, 'i')} % 4)", {a: "i"}),
        (f"{a} in range(3)", {a: "i"}),
        (f"{a} in {g.expr(s, 'li')}[:4]", {a: "i"}),
        (f"{a}, {b} in enumerate({g.expr(s, 'lt')}[:3])", {a: "i", b: "t"}),
        (f"{a}, {b} in zip({g.expr(s, 'li')}, {g.expr(s, 'lt')})", {a: "i", b: "t"}),
        (f"{a}, {b} in {g.expr(s, 'di')}.items()", {a: "s", b: "i"}),
        (f"{a} in list({g.expr(s, 'di')})", {a: "s"}),
        (f"{a} in {g.expr(s, 'ls')}[:3]", {a: "s"}),
        (f"{a} in ({g.expr(s, 'i')}, {g.expr(s, 'f')})", {a: "f"}),
        (f"{a} in {g.rng.choice(s.of('t') or ['torch.ones(2)'])}.unbind(0)", {a: "t"}),
        (f"{a} in reversed({g.expr(s, 'li')}[:4])", {a: "i"}),
        (f"{a} in sorted({g.expr(s, 'si')})[:3]", {a: "i"}),
    ])  # fmt: skip
    inner = s.child(in_loop=True)
    inner.names.update(names)
    lines = [f"for {header}:", *indent(g.block(inner))]
    if g.rng.random() < 0.25:
        lines += ["else:", *indent(g.block(s.child(in_loop=s.in_loop)))]
    return lines


def while_loop(g: Generator, s: Scope) -> list[str]:
    k = g.fresh("k")
    inner = s.child(in_loop=True)
    inner.names[k] = "i"
    inner.readonly.add(k)
    lines = [
        f"{k} = {g.rng.choice(['0', '1'])}",
        f"while {k} < {g.rng.choice(['3', '2', '4'])}:",
        f"    {k} += 1",
        *indent(g.block(inner)),
    ]
    if g.rng.random() < 0.2:
        lines += ["else:", *indent(g.block(s.child(in_loop=s.in_loop)))]
    s.names[k] = "i"
    return lines


def try_except(g: Generator, s: Scope) -> list[str]:
    lines = ["try:", *indent(g.block(s.child()))]
    if g.rng.random() < 0.6:
        culprit = g.rng.choice([
            f"{g.fresh('z')} = {g.expr(s, 'i')} // 0", "[][3]", "{}['gone']", "int('x')", f"raise {g.rng.choice(_RAISED)}({g.expr(s, 's')})",
            "None.nothing", "1 + 'a'", f"{g.expr(s, 'o')} + {g.expr(s, 'o')}", f"next(iter({g.expr(s, 'li')}))", "undefined_name",
            f"{g.rng.choice(s.of('t') or ['torch.ones(2)'])} + torch.ones(17)", f"torch.ones(2)[{g.expr(s, 'i')}]",
            f"assert {g.expr(s, 'b')}, 'told'", f"raise KeyError({g.expr(s, 'i')}) from ValueError('root')", "a, b = (1, 2, 3)",
            "[1, 2].index(9)", "max([])", f"len({g.expr(s, 'i')})", f"{g.expr(s, 'o')}.foo", f"{g.expr(s, 'o')}[{g.expr(s, 'o')}]",
        ])  # fmt: skip
        lines += indent([culprit])
        if g.rng.random() < 0.3:
            lines += indent(g.block(s.child()))
    handler = s.child()
    e = g.fresh("err")
    style = g.rng.random()
    if style < 0.5:
        said = g.rng.choice([f"{e}.args", f"str({e})", f"repr({e})", f"type({e}).__name__", f"{e}", f"isinstance({e}, LookupError)",
                             f"{e}.__cause__", f"{e}.__context__"])  # fmt: skip
        name = g.fresh("said")
        s.names[name] = "o"
        lines.insert(0, f"{name} = None")
        lines += [
            f"except {g.rng.choice(_EXCEPTIONS)} as {e}:",
            f"    {name} = {said}",
            *indent(g.block(handler)),
        ]
    else:
        lines += [f"except {g.rng.choice(_EXCEPTIONS)}:", *indent(g.block(handler))]
    if g.rng.random() < 0.6:
        lines += ["except Exception:", *indent(g.block(s.child()))]
        if g.rng.random() < 0.1:
            lines += ["    raise"]
    if g.rng.random() < 0.25:
        lines += ["else:", *indent(g.block(s.child()))]
    if g.rng.random() < 0.3:
        lines += ["finally:", *indent(g.block(s.child(in_loop=False)))]
    return lines


def try_finally(g: Generator, s: Scope) -> list[str]:
    lines = ["try:", *indent(g.block(s.child()))]
    if g.rng.random() < 0.2:
        lines += [f"    return {g.expr(s, 'o')}"]
    return [*lines, "finally:", *indent(g.block(s.child(in_loop=False)))]


def with_block(g: Generator, s: Scope) -> list[str]:
    manager = g.rng.choice([
        "torch.no_grad()", "torch.enable_grad()", "torch.set_grad_enabled(<b>)", "contextlib.suppress(ValueError, KeyError)",
        "contextlib.nullcontext(<i>)", "torch.no_grad(), contextlib.suppress(Exception)", "contextlib.ExitStack()",
        "torch.autocast('cpu', enabled=False)", "contextlib.suppress(ZeroDivisionError)",
    ])  # fmt: skip
    lines = [f"with {g.fill(manager, s)}:", *indent(g.block(s.child()))]
    if "suppress" in manager and g.rng.random() < 0.5:
        lines += [g.rng.choice(["    {}['none']", "    1 // 0", "    raise ValueError(3)"])]
    return lines


def matching(g: Generator, s: Scope) -> list[str]:
    a, b = g.fresh("u"), g.fresh("w")
    subject = g.expr(s, g.rng.choice(["i", "li", "di", "ti", "s", "o", "f"]))
    cases: list[tuple[str, dict[str, str]]] = [
        ("0 | 1 | 2", {}), ("[]", {}), (f"[{a}]", {a: "i"}), (f"[{a}, *{b}]", {a: "i", b: "li"}), ("{'a': 1}", {}),
        (f"{{'a': {a}, **{b}}}", {a: "i", b: "di"}), (f"int({a})", {a: "i"}), (f"str() as {a}", {a: "s"}), ("None", {}),
        (f"({a}, {b})", {a: "i", b: "i"}), (f"float({a}) if {a} > 1", {a: "f"}), ("True", {}), (f"{a} if {g.expr(s, 'b')}", {a: "o"}),
        (f"list({a})", {a: "li"}), ("'a' | 'ab'", {}), (f"torch.Tensor() as {a}", {a: "t"}),
    ]  # fmt: skip
    lines = [f"match {subject}:"]
    for pattern, names in g.rng.sample(cases, g.rng.choice([1, 2, 3])):
        inner = s.child()
        inner.names.update(names)
        lines += [f"    case {pattern}:", *indent(g.block(inner), 8)]
    if g.rng.random() < 0.7:
        lines += ["    case _:", *indent(g.block(s.child()), 8)]
    return lines


def local_function(g: Generator, s: Scope) -> list[str]:
    """A function defined and called on the spot; it may rebind the names around it."""
    name, parameter = g.fresh("inner"), g.fresh("p")
    inner = s.child(in_loop=False)
    inner.readonly |= set(s.names)
    kind = g.rng.choice(["t", "i", "li", "o"])
    inner.names[parameter] = kind
    head: list[str] = []
    rebindable = [n for n, k in s.names.items() if n not in s.readonly and k in ("i", "t", "f", "li", "s")]
    if rebindable and g.rng.random() < 0.5:
        stolen = g.rng.choice(rebindable)
        head = [f"nonlocal {stolen}"]
        inner.readonly.discard(stolen)
        head.append(f"{stolen} = {g.expr(s, s.names[stolen])}")
    body = g.block(inner)
    out = g.rng.choice(["t", "i", "li", "o"])
    default = g.rng.choice(["", f"={g.expr(s, kind)}", f", *rest, extra={g.expr(s, 'i')}", "", f", k={g.expr(s, 'i')}"])
    lines = [f"def {name}({parameter}{default}):", *indent([*head, *body, f"return {g.expr(inner, out)}"])]
    result = g.fresh("r")
    lines += [f"{result} = {name}({g.expr(s, kind)})"]
    if g.rng.random() < 0.3:
        lines += [f"{result} = {name}({g.expr(s, kind)})"]
    s.names[result] = out
    return lines


def local_generator(g: Generator, s: Scope) -> list[str]:
    name, it = g.fresh("gen"), g.fresh("it")
    inner = s.child(in_loop=False)
    inner.readonly |= set(s.names)
    lines = [f"def {name}():", *indent(g.block(inner)), f"    yield {g.expr(inner, 't')}", *indent(g.block(inner)),
             f"    got = yield {g.expr(inner, 'i')}", f"    yield got, {g.expr(inner, 'o')}"]  # fmt: skip
    use = g.rng.choice([
        [f"{it} = {name}()", f"r_{it} = [next({it}), next({it}, None)]"],
        [f"r_{it} = list({name}())"],
        [f"{it} = {name}()", f"r_{it} = [next({it}), next({it}), {it}.send({g.expr(s, 'o')})]"],
        [f"{it} = {name}()", f"r_{it} = next({it})", f"{it}.close()"],
        [f"{it}, r_{it} = {name}(), None"],
        [f"{it}, *r_{it} = {name}()"],
    ])  # fmt: skip
    s.names[f"r_{it}"] = "o"
    return [*lines, *use]


def local_class(g: Generator, s: Scope) -> list[str]:
    name, o = g.fresh("Local"), g.fresh("obj")
    lines = [f"class {name}:", f"    k = {g.expr(s, 'i')}", "    def __init__(self, v):", "        self.v = v",
             "    def go(self, x):", f"        return x * self.k + {g.rng.choice(['self.v', '1', 'type(self).k'])}",
             f"{o} = {name}({g.expr(s, 'i')})", f"r_{o} = {o}.go({g.expr(s, 't')})"]  # fmt: skip
    s.names[f"r_{o}"] = "t"
    return lines
