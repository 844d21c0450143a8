"""Ways through a program: jumps out of finally, loops with else, generators driven by hand, patterns, walrus, unpacking."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "jumps in finally",
    "$r = [$h(k, <t>) for k in range(4)]",
    defs="""
$trace = []
def $h(k, x):
    for step in range(3):
        try:
            $trace.append((k, step))
            if k == 0:
                return x + step
            if k == 1:
                continue
            if k == 2:
                raise ValueError(step)
            x = x * 2
        except ValueError as e:
            $trace.append(str(e))
            if step == 1:
                break
        finally:
            $trace.append('f')
            if k == 0 and step == 0:
                continue
            if k == 3 and step == 2:
                return x - 1
    else:
        $trace.append('else')
    return x
""",
    outs="r:lt",
    weight=1.5,
)
idiom(
    "finally that returns over an error",
    "$r = $h(<t>, <i>)",
    defs="""
def $h(x, n):
    while True:
        try:
            try:
                x = x + 1
                [1, 2][n]
            finally:
                n -= 1
                if n > 1:
                    continue
                if n < 0:
                    break
        except IndexError:
            return x, 'index'
        return x, 'through'
    return x, 'broken'
""",
    outs="r:o",
)
idiom(
    "chain of causes",
    """
try:
    $h(<i>)
except Exception as $e:
    $r = []
    $c = $e
    while $c is not None:
        $r.append((type($c).__name__, $c.args, $c.__suppress_context__))
        $c = $c.__cause__ or ($c.__context__ if not $c.__suppress_context__ else None)
""",
    defs="""
def $h(n):
    try:
        try:
            try:
                {}['a']
            except KeyError as e:
                if n % 3 == 0:
                    raise ValueError(n) from e
                if n % 3 == 1:
                    raise ValueError(n) from None
                raise TypeError('t')
        finally:
            if n > 3:
                [][n]
    except (ValueError, TypeError, IndexError) as e:
        raise RuntimeError('outer') from (e if n % 2 else None)
""",
    outs="r:o",
    weight=1.3,
)
idiom(
    "exception made early and raised late",
    """
$err = $E(<i>, tag=<s>)
$err.extra = <li>
try:
    if <b>:
        raise $err
    raise $err from KeyError(1)
except $E as $caught:
    $r = ($caught is $err, $caught.tag, $caught.extra, str($caught), $caught.__cause__ is None)
$again = $err.args
""",
    defs="""
class $E(Exception):
    def __init__(self, *a, tag=None):
        super().__init__(*a)
        self.tag = tag
    def __str__(self):
        return 'E' + str(self.args)
""",
    outs="r:o again:o",
)
idiom(
    "error in exit replaces error",
    """
try:
    with $CM(<i>):
        <block>
        raise KeyError(<s>)
except Exception as $e:
    $r = (type($e).__name__, type($e.__context__).__name__)
else:
    $r = 'silent'
""",
    defs="""
class $CM:
    def __init__(self, n): self.n = n
    def __enter__(self): return self.n
    def __exit__(self, *exc):
        if self.n % 3 == 0:
            raise ValueError('exit')
        return self.n % 3 == 1
""",
    outs="r:o",
)
idiom(
    "generator driven by hand",
    """
$g = $co(<i>)
$r = [next($g)]
try:
    $r.append($g.send(<t>))
    $r.append($g.throw(ValueError(<i>)))
    $r.append(next($g))
    $r.append($g.throw(KeyError('k')))
except StopIteration as $e:
    $r.append(('stop', $e.value))
except KeyError as $e:
    $r.append($e.args)
$r.append($g.close())
""",
    defs="""
$seen = []
def $co(n):
    got = yield n
    $seen.append(n)
    while True:
        try:
            got = yield (got, n)
            n += 1
        except ValueError as e:
            got = e.args
        except GeneratorExit:
            $seen.append('exit')
            return 5
        finally:
            $seen.append('f')
        if n > 3:
            return n
""",
    outs="r:o",
    weight=1.3,
)
idiom(
    "delegation with values",
    """
$g = $outer(<t>, <i>)
$r = []
$v = None
try:
    for _ in range(5):
        $v = $g.send($v)
        $r.append($v)
        $v = len($r)
except StopIteration as $e:
    $r.append($e.value)
""",
    defs="""
def $inner(x, n):
    total = 0
    for k in range(n % 3 + 1):
        total += yield x + k
    return total
def $outer(x, n):
    a = yield from $inner(x, n)
    b = yield from (k for k in range(a or 0))
    return a, b
""",
    outs="r:o",
)
idiom(
    "patterns of every kind",
    """
$r = []
for $v in (<i>, <li>, <di>, <ti>, <s>, None, $P(<i>, <t>), [<i>, [<i>, 2]], {'a': {'b': <i>}}, <f>, <b>):
    match $v:
        case bool() | None:
            $r.append('b')
        case int(n) if n > 2:
            $r.append(n)
        case $P(0 | 1 as k, y=t):
            $r.append((k, t))
        case $P(x=k):
            $r.append(k)
        case [a, [b, *c]]:
            $r.append((a, b, c))
        case [a, *_]:
            $r.append(a)
        case {'a': {'b': q}}:
            $r.append(('deep', q))
        case {'a': q, **rest}:
            $r.append((q, rest))
        case str(w) if len(w) < 3:
            $r.append(w)
        case _:
            $r.append(type($v).__name__)
""",
    defs="""
class $P:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
""",
    outs="r:o",
    weight=1.3,
)
idiom(
    "walrus everywhere",
    """
$ys = [$last := k * 2 for k in <li>]
$r = [($n1 := len($ys)), $n1 + 1]
while ($n1 := $n1 - 1) > 1:
    $r.append($n1)
if ($m := max($ys, default=None)) is not None and ($m2 := $m + 1):
    $r.append($m2)
print(f'{($q := <i>)}', $q)
""",
    outs="r:li ys:li",
)
idiom(
    "unpacking of every kind",
    """
$a, *$b, $c = [*<li>, 1, *<ti>, 2]
($d, $e), [$f, *$g] = (<i>, <s>), [<f>, *<ls>]
$h = {**<di>, 'z': 1, **{'a': <i>}}
$k = $call(*$b[:2], *(<i>,), **{'key': <i>}, **{'other': 2})
$r = ($a, $b, $c, $d, $e, $g, $h, $k, {*<si>, *$b[:1]})
""",
    defs="def $call(*args, key, **more): return args, key, sorted(more)",
    outs="r:o",
)
idiom(
    "comparisons chained with effects",
    """
$seen = []
def $n(v):
    $seen.append(v)
    return v
$r = [$n(1) < $n(<i>) <= $n(3) != $n(<i>), $n(<i>) in [1, 2] == True, not $n(0) is False, $n(1) or $n(2) and $n(3), $n(<i>) if $n(0) else $n(7)]
""",
    outs="r:o seen:li",
)
idiom(
    "names deleted",
    """
$a = <t>
$d = {'k': <i>, 'j': [1, 2, 3]}
$o = types.SimpleNamespace(v=<i>)
del $d['j'][::2], $d['k'], $o.v
try:
    $o.v
except AttributeError as $e:
    $why = str($e)
del $a
try:
    $a
except UnboundLocalError as $e:
    $why = str($e)
$r = ($d, vars($o), $why)
""",
    outs="r:o",
)
idiom(
    "scopes of comprehensions",
    """
$k = <i>
$fs = [lambda: $k2 + $k for $k2 in range(2)]
$gs = {$k2: (lambda v=$k2: v * 2) for $k2 in range(2)}
$k += 1
$r = ([f() for f in $fs], [g() for g in $gs.values()], [[$k for $k in range(2)], $k], {x for x in (<i>, 2) if x > 0}, [y for x in [[1], [2, 3]] for y in x])
""",
    outs="r:o",
)
idiom(
    "recursion with state",
    "$r = $walk({'l': {'l': None, 'v': <i>}, 'v': <t>, 'r': {'v': <f>}}, [])",
    defs="""
def $walk(node, path, *, depth=0):
    if node is None:
        return 0
    path.append(depth)
    try:
        return $walk(node.get('l'), path, depth=depth + 1) + node['v'] + $walk(node.get('r'), path, depth=depth + 1)
    finally:
        path.append(-depth)
""",
    outs="r:t",
)
idiom(
    "sorting by keys",
    """
$rows = [(<i>, <s>), (<i>, 'b'), (2, 'a'), (<i>, 'a')]
$calls = []
def $key(row):
    $calls.append(row[0])
    return (-row[0], row[1])
$rows.sort(key=$key, reverse=<b>)
$r = (sorted($rows, key=operator.itemgetter(1)), max($rows, key=lambda v: v[1]), min($rows), sorted(<ls>, key=len), sorted(<di>.items(), key=lambda kv: kv[1]))
""",
    outs="r:o rows:o calls:li",
)
idiom(
    "slices of every step",
    """
$xs = list(range(7))
$xs[1:6:2] = [<i>, <i>, <i>]
$s1 = slice(None, None, -1)
$r = ($xs[$s1], $xs[::-2], $xs[-3:], $xs[5:1:-1], $xs[10:], <s>[::-1], <ti>[1:], $s1.indices(5), torch.arange(7.0)[1:6:2], 'abcdef'[-4:-1])
del $xs[::3]
""",
    outs="r:o xs:li",
)
idiom(
    "sets and their order",
    """
$a, $b = set(<li>), {1, 2, 3}
$r = ($a | $b, $a & $b, $a - $b, $a ^ $b, $a <= $b, $a.isdisjoint($b), len($a), sorted($a), 2 in $b, frozenset($a) == $a)
$a.symmetric_difference_update($b)
$b.intersection_update($a)
""",
    outs="r:o a:si",
)
idiom(
    "dictionaries in order",
    """
$d = {'b': 1, 'a': 2, **<di>}
$d['b'] = $d.pop('b') + 1
$d.update(zip('xy', <li>))
$first = next(iter($d))
$r = (list($d), list(reversed($d)), $d.popitem(), $d.get('q', <i>), $d | {'m': 1}, list($d.items())[:2], dict(sorted($d.items())), $first)
""",
    outs="r:o d:o",
)
