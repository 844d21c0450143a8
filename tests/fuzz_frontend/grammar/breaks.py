"""Idioms around deliberate graph breaks: what is alive across them."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "graph break in helper",
    "$r = $h(<t>, <i>)",
    defs="""
def $h(x, k):
    y = x + k
    print('k is', k)
    if k > <ci>:
        z = json.dumps([k])
        return y * len(z)
    return y
""",
    outs="r:t",
    weight=1.2,
)
idiom(
    "graph break in loop",
    """
$acc = []
for $i in range(3):
    $acc.append(<t> + $i)
    if $i == <ci>:
        print($i, end=';')
        continue
    $acc.append($i)
""",
    outs="acc:o",
    weight=1.2,
)
idiom(
    "graph break in try and with",
    """
try:
    with torch.no_grad():
        $y = <t> * 2
        print('inside')
        $g = torch.is_grad_enabled()
        if <b>:
            raise ValueError(<i>)
except ValueError as e:
    $g = e.args
finally:
    print('done')
""",
    outs="g:o",
    weight=1.2,
)
idiom("break inside comprehension", "$r = [(print(e), e + 1)[1] for e in <li>]", outs="r:li", weight=0.6)
idiom(
    "break with live iterator",
    """
$it = iter([<t>, <t>, <i>])
$a = next($it)
print('mid')
$b = next($it)
$rest = list($it)
""",
    outs="a:t b:t rest:o",
    weight=1.0,
)
idiom(
    "break with live objects",
    """
$o = $C(<i>)
$o.x = <t>
$al = [$o, $o]
print('live')
$al[0].n += 1
$r = ($o.n, $al[1].x + $o.n, $al[0] is $al[1])
""",
    defs="""
class $C:
    def __init__(self, n): self.n = n
""",
    outs="r:o al:o",
    weight=1.0,
)
idiom(
    "break with closure cell",
    """
$cell = <i>
def $get(): return $cell
def $put(v):
    nonlocal $cell
    $cell = v
$put(<i>)
print($get())
$put($get() + 1)
$r = ($cell, $get())
""",
    outs="r:o cell:i",
    weight=1.0,
)
idiom(
    "break in nested call with with",
    "$r = $outer(<t>)",
    defs="""
$log = []
class $CM:
    def __enter__(self): $log.append('+'); return self
    def __exit__(self, *a): $log.append('-')
def $inner(x):
    with $CM():
        y = x + 1
        print('deep')
        return y * 2
def $outer(x):
    try:
        return $inner(x) + len($log)
    finally:
        $log.append('f')
""",
    outs="r:t",
    weight=1.0,
)
idiom(
    "what a broken call returns is a condition",
    """
$r = []
if $opaque(<t>, <ci>):
    $r.append(1)
$r.append($opaque(<t>, <ci>) or <i>)
$n = 3
while $opaque(<t>, <ci>) and $n:
    $n -= 1
$r.append(4 if not $opaque(<t>, <ci>) else 5)
$r = [v if isinstance(v, (int, float)) else type(v).__name__ for v in $r]
""",
    defs="""
@torch.compiler.disable
def $opaque(x, k):
    return [x.sum().abs() + 1, decimal.Decimal(k), [k], 0, {}, None, fractions.Fraction(k, 3)][k % 7]
""",
    outs="r:o",
    weight=1.0,
)
idiom(
    "ranges, and sorting that looks at its list",
    """
$a, $b = range(<ci>), range(0, <ci>, 2)
$l = [3, 1, <ci>]
$seen = []
$l.sort(key=lambda v: $seen.append(len($l)) or -v)
$r = ($a.stop, $b.stop, $a == $b, range(0, -<ci>), $l, $seen, vars($C()) is $C().__dict__, $C() != 1)
""",
    defs="""
class $C:
    def __eq__(self, o): return o == 1
    __hash__ = None
""",
    outs="r:o",
    weight=0.6,
)
