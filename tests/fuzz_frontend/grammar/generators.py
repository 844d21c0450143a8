"""Idioms around generators and iterators: laziness, send, throw, close, sharing."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "lazy generator log",
    """
$g = $gen(<t>)
$r = [next($g), next($g)]
""",
    defs="""
$log = []
def $gen(x):
    for i in range(4):
        $log.append(i)
        yield x + i
    $log.append('end')
""",
    outs="r:lt",
    weight=1.5,
)
idiom(
    "generator returned",
    "$g = $gen(<t>)",
    defs="""
def $gen(x):
    yield x + 1
    got = yield x.sum()
    yield got
""",
    outs="g:o",
    weight=0.7,
)
idiom(
    "generator partly used and returned",
    """
$g = (e * 2 for e in <li> + [1, 2])
$r = next($g)
""",
    outs="g:o r:i",
)
idiom(
    "generator send",
    """
$g = $gen(<i>)
$r = [next($g), $g.send(<i>), $g.send(<i>)]
$g.close()
""",
    defs="""
$log = []
def $gen(total):
    try:
        while True:
            got = yield total
            total += got
    finally:
        $log.append(total)
""",
    outs="r:li",
)
idiom(
    "generator throw",
    """
$g = $gen()
next($g)
try:
    $r = $g.throw(ValueError('in'))
except RuntimeError as e:
    $r = (str(e), type(e.__cause__).__name__)
""",
    defs="""
def $gen():
    try:
        yield 1
    except ValueError as e:
        if <cf> > 0:
            yield 'caught ' + str(e)
        raise RuntimeError('out') from e
""",
    outs="r:o",
)
idiom(
    "yield from",
    """
$g = $outer(<li>)
$r = list($g)
""",
    defs="""
def $inner(items):
    for i in items:
        yield i * 2
    return len(items)
def $outer(items):
    n = yield from $inner(items)
    yield n
    yield from (1, 2)
""",
    outs="r:li",
)
idiom(
    "yield from send",
    """
$g = $outer()
$r = [next($g), $g.send(<i>), $g.send(<s>), next($g, 'end')]
""",
    defs="""
def $inner():
    a = yield 'first'
    b = yield a
    return (a, b)
def $outer():
    r = yield from $inner()
    yield r
""",
    outs="r:o",
)
idiom(
    "generator return value",
    """
$g = $gen(<i>)
$r = next($g)
try:
    next($g)
except StopIteration as e:
    $q = e.value
""",
    defs="""
def $gen(n):
    yield n
    return n * 10
""",
    outs="r:i q:i",
)
idiom(
    "generator finally order",
    """
$log.clear()
for $v in $gen():
    $log.append($v)
    if $v >= <ci>:
        break
$log.append('after')
""",
    defs="""
$log = []
def $gen():
    try:
        for i in range(3):
            yield i
    finally:
        $log.append('closed')
""",
    outs="log:o",
)
idiom(
    "generator shared by two loops",
    """
$g = iter(<li> + [1, 2, 3])
$r = []
for $a in $g:
    $r.append($a)
    if len($r) > 1:
        break
for $a in $g:
    $r.append(-$a)
""",
    outs="r:li",
)
idiom(
    "growing list in generator",
    """
$todo = [<t>]
def $walk():
    for v in $todo:
        if len($todo) < 4:
            $todo.append(v + 1)
        yield v
$r = sum($walk())
""",
    outs="r:t",
)
idiom(
    "generator over globals",
    """
$r = list($gen(2))
$src.append(<i>)
$q = list($gen(3))
""",
    defs="""
$src = [1]
def $gen(k):
    for e in $src:
        yield e * k
""",
    outs="r:li q:li",
)
idiom(
    "generator in any",
    """
$log = []
def $see(e):
    $log.append(e)
    return e > <ci>
$r = any($see(e) for e in <li>)
$q = all($see(e) for e in <li>)
""",
    outs="r:b q:b log:li",
)
idiom(
    "generator expression closure",
    """
$k = <i>
$g = (e + $k for e in <li>)
$k = <i>
$r = list($g)
""",
    outs="r:li",
)
idiom(
    "stop iteration in generator",
    """
try:
    $r = list($gen(<li>))
except RuntimeError as e:
    $r = (str(e), type(e.__cause__).__name__)
""",
    defs="""
def $gen(items):
    it = iter(items)
    while True:
        yield next(it)
""",
    outs="r:o",
)
idiom(
    "tree walk",
    "$r = list($walk([<i>, [<i>, [<i>]], <li>]))",
    defs="""
def $walk(node):
    if isinstance(node, list):
        for child in node:
            yield from $walk(child)
    else:
        yield node
""",
    outs="r:li",
)
idiom(
    "generator pipeline",
    """
$r = list($odd($double(<li>)))
""",
    defs="""
def $double(items):
    for i in items:
        yield i
        yield i * 2
def $odd(items):
    return (i for i in items if i % 2)
""",
    outs="r:li",
)
idiom(
    "generator across a break",
    """
$g = $gen(<i>)
$a = next($g)
print($a)
$r = [$a, next($g, None), $g.send(5) if <b> else 0]
""",
    defs="""
def $gen(n):
    got = yield n
    yield got
    yield n + 1
""",
    outs="r:o",
)
idiom(
    "iterators kept",
    """
$it = iter(<li> + [1])
next($it)
$z = zip(<li>, 'ab')
$m = map(lambda e: e + 1, <li>)
$en = enumerate(<ls>, <ci>)
""",
    outs="it:o z:o m:o en:o",
    weight=0.8,
)
idiom(
    "iterator state",
    """
$it = itertools.count(<i>, 2)
$cy = itertools.cycle([1, 2])
$r = [next($it), next($it), next($cy), next($cy), next($cy)]
""",
    outs="r:li it:o",
)
idiom(
    "tee and chain",
    """
$a, $b = itertools.tee(<li>)
$r = [list($a), list(itertools.chain($b, <ti>))]
""",
    outs="r:o",
)
idiom(
    "iter with sentinel",
    """
$stack = [<i>, 0, <i>]
$r = list(iter($stack.pop, 0))
""",
    outs="r:li stack:li",
    weight=0.6,
)
idiom(
    "zip strict",
    """
try:
    $r = list(zip(<li>, <ti>, strict=True))
except ValueError as e:
    $r = str(e)
""",
    outs="r:o",
)
