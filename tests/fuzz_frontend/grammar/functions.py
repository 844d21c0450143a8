"""Idioms around functions: defaults, closures, globals, calls, partials, decorators."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "mutable default",
    "$r = list($h(<i>))",
    defs="""
def $h(v, acc=[]):
    acc.append(v)
    return acc
""",
    outs="r:li",
    weight=1.5,
)
idiom(
    "mutable default returned",
    "$r = $h(<i>)",
    defs="""
def $h(v, acc=[<ci>]):
    acc.append(v)
    return acc
""",
    outs="r:li",
)
idiom(
    "mutable default dict",
    "$r = $h(<key>, <t>)",
    defs="""
def $h(k, x, seen={}):
    seen[k] = seen.get(k, 0) + 1
    return x * seen[k]
""",
    outs="r:t",
)
idiom(
    "mutable keyword default",
    "$r = $h(<t>, by=<i>) if <b> else $h(<t>)",
    defs="""
def $h(x, *, by=1, log=[]):
    log.append(by)
    return x + len(log) * by
""",
    outs="r:t",
)
idiom(
    "rewritten defaults",
    """
$r = $h(<t>)
$h.__defaults__ = (<i>,)
$q = $h(<t>)
""",
    defs="""
def $h(x, k=1):
    return x * k
""",
    outs="r:t q:t",
    weight=0.5,
)
idiom(
    "function attribute",
    """
$h.calls += 1
$r = $h(<t>)
""",
    defs="""
def $h(x):
    return x + $h.calls
$h.calls = 0
""",
    outs="r:t",
)
idiom(
    "closure counter",
    """
$r = $c()
$q = $c() + <i>
""",
    defs="""
def $mk(k):
    n = k
    def tick(by=1):
        nonlocal n
        n += by
        return n
    return tick
$c = $mk(<ci>)
""",
    outs="r:i q:i",
    weight=1.5,
)
idiom(
    "fresh closure",
    """
$mk = <i>
def $tick():
    nonlocal $mk
    $mk += <ci>
    return $mk
$r = [$tick(), $tick()]
""",
    outs="r:li mk:i",
)
idiom(
    "late binding closures",
    """
$fs = [lambda v: v + k for k in range(3)]
$gs = []
for $k in <li>[:3]:
    $gs.append(lambda v, q=$k: v * q + $k)
$r = [g(<i>) for g in $fs + $gs]
""",
    outs="r:li",
)
idiom(
    "closure over tensor",
    """
$w = <t>
def $scale(v):
    return v * $w
$r = $scale(<t>)
$w = <t>
$q = $scale(<t>)
""",
    outs="r:t q:t",
)
idiom(
    "returned closure",
    """
def $adder(k):
    return lambda v: v + k
$a, $b = $adder(<i>), $adder(<f>)
$r = $a(<t>) + $b(<t>)
""",
    outs="r:t a:o",
)
idiom(
    "recursion",
    "$r = $rec(<i> % 5, <t>)",
    defs="""
def $rec(n, x):
    if n <= 0:
        return x
    return $rec(n - 1, x + n) * 2
""",
    outs="r:t",
)
idiom(
    "mutual recursion",
    "$r = $even(<i> % 6)",
    defs="""
def $even(n):
    return True if n == 0 else $odd(n - 1)
def $odd(n):
    return False if n == 0 else $even(n - 1)
""",
    outs="r:b",
)
idiom(
    "varargs",
    "$r = $va(<t>, *<li>, k=<i>, **<di>)",
    defs="""
def $va(x, *args, k=2, **kw):
    return x * len(args) + k, sorted(kw), args
""",
    outs="r:o",
)
idiom(
    "varargs forwarding",
    "$r = $outer(<i>, <f>, c=<i>)",
    defs="""
def $inner(a, b=2, /, *, c=3, d=4):
    return (a, b, c, d)
def $outer(*args, **kw):
    return $inner(*args, **kw) + (len(args), type(args).__name__, type(kw).__name__)
""",
    outs="r:o",
)
idiom(
    "bad call",
    """
try:
    $r = $h(<i>, <i>, <i>)
except TypeError as e:
    $r = str(e)
""",
    defs="""
def $h(a, b=1):
    return a + b
""",
    outs="r:o",
)
idiom(
    "bad keyword",
    """
try:
    $r = $h(<i>, z=<i>)
except TypeError as e:
    $r = e.args
""",
    defs="""
def $h(a, *, k):
    return a + k
""",
    outs="r:o",
)
idiom(
    "lambda table",
    """
$ops = {'add': lambda a, b: a + b, 'mul': operator.mul, 'sub': lambda a, b: a - b}
$r = [fn(<t>, <f>) for fn in $ops.values()]
$q = $ops['add'](<i>, <i>)
""",
    outs="r:lt q:i",
)
idiom(
    "function as argument",
    "$r = $ap(lambda v: v + <ai>, <t>)",
    defs="""
def $ap(fn, x, times=2):
    for _ in range(times):
        x = fn(x)
    return x
""",
    outs="r:t",
)
idiom(
    "unbound local",
    """
try:
    $r = $h(<b>)
except UnboundLocalError as e:
    $r = (type(e).__name__, e.args)
""",
    defs="""
def $h(flag):
    if flag:
        value = 1
    return value
""",
    outs="r:o",
)
idiom(
    "free variable empty",
    """
def $h():
    return $later
try:
    $r = $h()
except NameError as e:
    $r = str(e)
$later = <i>
$q = $h()
""",
    outs="r:o q:i",
)
idiom(
    "global counter",
    """
$r = $bump(<i>)
$q = <t> * $total
""",
    defs="""
$total = <ci>
def $bump(by):
    global $total
    $total += by
    return $total
""",
    outs="r:i q:t",
    weight=1.5,
)
idiom(
    "global list",
    """
$log.append(<i>)
$r = len($log)
""",
    defs="$log = []",
    outs="r:i log:li",
)
idiom(
    "global dict",
    """
$reg[<key>] = $reg.get(<key>, 0) + 1
$r = dict($reg)
""",
    defs="$reg = {'a': 1}",
    outs="r:di reg:di",
)
idiom(
    "global tensor",
    """
$gt.add_(<ci>)
$r = <t> + $gt
""",
    defs="$gt = torch.zeros(1)",
    outs="r:t",
)
idiom(
    "globals item",
    """
globals()['$gi'] = <i>
$r = $gi
""",
    defs="$gi = 0",
    outs="r:i",
    weight=0.7,
)
idiom(
    "global deleted and set",
    """
$r = $gd
globals().pop('$gd')
try:
    $q = $gd
except NameError as e:
    $q = str(e)
globals()['$gd'] = <i>
""",
    defs="$gd = 1",
    outs="r:i q:o",
    weight=0.3,
)
idiom(
    "function identity",
    """
def $a(): return <i>
$b = $a
$r = ($a is $b, $a == $b, $a.__name__, $a.__qualname__, callable($a))
$s = {$a: 1}[$b]
""",
    outs="r:o s:i",
)
idiom(
    "inspect bits",
    """
$r = ($h.__name__, $h.__defaults__, $h.__kwdefaults__, $h.__code__.co_varnames, $h.__doc__)
""",
    defs="""
def $h(a, b=<ci>, *, c=<cs>):
    "Text."
    return a
""",
    outs="r:o",
)
idiom(
    "partial",
    """
$p = functools.partial($h, <i>, c=<i>)
$r = $p(<t>)
$q = ($p.args, $p.keywords, $p.func is $h)
""",
    defs="""
def $h(a, x, b=1, *, c=2):
    return x * a + b - c
""",
    outs="r:t q:o",
)
idiom("partial returned", "$p = functools.partial(operator.add, <i>)", outs="p:o", weight=0.5)
idiom(
    "nested partial",
    """
$p = functools.partial(functools.partial(pow, <ci>), 2)
$r = ($p(), $p.args, type($p.args).__name__)
""",
    outs="r:o",
)
idiom(
    "partial mutated",
    """
$p = functools.partial($h, k=<i>)
$a = $p(<i>)
$p.keywords['k'] = <i>
$r = ($a, $p(<i>))
""",
    defs="""
def $h(a, k=0):
    return a * 10 + k
""",
    outs="r:o",
    weight=0.5,
)
idiom(
    "partialmethod",
    """
$r = $K().double(<t>)
""",
    defs="""
class $K:
    def scale(self, x, by=1):
        return x * by
    double = functools.partialmethod(scale, by=<ci>)
""",
    outs="r:t",
)
idiom(
    "lru cache",
    """
$r = [$h(<i>), $h(<i>), $h(1)]
$q = $h.cache_info().misses
""",
    defs="""
$seen = []
@functools.lru_cache(maxsize=None)
def $h(n):
    $seen.append(n)
    return n * n + 1
""",
    outs="r:li q:i",
)
idiom(
    "wraps decorator",
    """
$r = $h(<t>, <i>)
$q = ($h.__name__, $h.__wrapped__.__name__, $calls[-1])
""",
    defs="""
$calls = []
def $deco(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kw):
        $calls.append(len(args))
        return fn(*args, **kw) + 1
    return wrapper
@$deco
def $h(x, k):
    "doc"
    return x * k
""",
    outs="r:t q:o",
)
idiom(
    "decorator with arguments",
    "$r = $h(<t>)",
    defs="""
def $times(n):
    def deco(fn):
        def run(x):
            for _ in range(n):
                x = fn(x)
            return x
        return run
    return deco
@$times(<ci>)
def $h(x):
    return x * 2 + 1
""",
    outs="r:t",
)
idiom(
    "decorator in function",
    """
def $deco(fn):
    def run(*a):
        return fn(*a) + <ci>
    return run
@$deco
def $h(v):
    return v * 2
$r = $h(<t>)
""",
    outs="r:t",
)
idiom(
    "singledispatch",
    "$r = [$h(<i>), $h(<s>), $h(<f>)]",
    defs="""
@functools.singledispatch
def $h(v):
    return 'other'
@$h.register
def _(v: int):
    return v + 1
@$h.register
def _(v: str):
    return v.upper()
""",
    outs="r:o",
    weight=0.6,
)
idiom(
    "cached property",
    """
$o = $K(<i>)
$r = ($o.v, $o.v, $K.hits)
""",
    defs="""
class $K:
    hits = 0
    def __init__(self, n): self.n = n
    @functools.cached_property
    def v(self):
        $K.hits += 1
        return self.n * 2
""",
    outs="r:o o:o",
)
idiom(
    "reduce with side effects",
    """
$log = []
$r = functools.reduce(lambda a, b: ($log.append(a), a + b)[1], <li>, <i>)
""",
    outs="r:i log:li",
)
idiom("cmp_to_key", "$r = sorted(<li>, key=functools.cmp_to_key(lambda a, b: b - a))", outs="r:li", weight=0.6)
idiom(
    "sort key with side effects",
    """
$log = []
def $key(e):
    $log.append(e)
    return -e
$r = sorted(<li>, key=$key)
""",
    outs="r:li log:li",
)
idiom(
    "operator getters",
    """
$r = sorted([(<i>, 'a'), (<i>, 'b'), (1, 'c')], key=operator.itemgetter(0))
$q = operator.itemgetter(1, 0)(<ti> + (1, 2))
$s = operator.attrgetter('shape')(<x>)
$u = operator.methodcaller('upper')(<s>)
""",
    outs="r:o q:o u:s",
)
idiom(
    "total ordering",
    "$r = ($V(<i>) < $V(<i>), $V(1) >= $V(<i>), sorted([$V(3), $V(1)])[0].n)",
    defs="""
@functools.total_ordering
class $V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
""",
    outs="r:o",
    weight=0.6,
)
