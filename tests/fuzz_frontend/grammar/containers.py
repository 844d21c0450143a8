"""Idioms around containers, numbers and text."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "list aliasing",
    """
$a = [<i>, <i>]
$b = $a
$c = $a[:]
$b.append(<i>)
$r = ($a, $b is $a, $c)
""",
    outs="r:o a:li",
)
idiom(
    "nested list aliasing",
    """
$grid = [[<i>, 2], [3, <i>]]
$row = $grid[0]
$grid[0][1] = <t>
$row.append($row)if <ci> < -5 else $row.append(1)
$r = ($row[1], $row is $grid[0])
""",
    outs="grid:o r:o",
)
idiom(
    "shared rows",
    """
$grid = [[0] * 2] * 2
$grid[0][0] = <i>
$other = [[0] * 2 for _ in range(2)]
$other[0][0] = <i>
""",
    outs="grid:o other:o",
)
idiom(
    "self-containing list",
    """
$a = [<i>]
$a.append($a)
$r = ($a[1] is $a, len($a[1][1]))
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "list augmented through alias",
    """
$a = <li>
$b = $a
$b += [<i>]
$c = $a
$c = $c + [<i>]
$r = ($a, $b, $c, $a is $b, $a is $c)
""",
    outs="r:o a:li",
)
idiom(
    "slice assignment",
    """
$a = [1, 2, 3, 4, 5]
$a[<ci>:3] = [<i>]
$a[::2] = [0] * len($a[::2])
del $a[-1:]
$s = slice(1, <i>)
$r = ($a[$s], $s.indices(4), $s)
""",
    outs="a:li r:o",
)
idiom(
    "changed while iterated",
    """
$a = [1, 2, 3]
$n = 0
for $e in $a:
    if len($a) < 6:
        $a.append($e * 2)
    $n += $e
""",
    outs="a:li n:i",
)
idiom(
    "dict changed while iterated",
    """
$d = {'a': 1, 'b': 2}
try:
    for $k in $d:
        $d[$k + 'x'] = <i>
except RuntimeError as e:
    $r = str(e)
""",
    outs="d:di r:s",
    weight=0.6,
)
idiom(
    "dict views",
    """
$d = <di>
$ks, $vs, $it = $d.keys(), $d.values(), $d.items()
$d['new'] = <i>
$r = (list($ks), list($vs), len($it), 'new' in $ks, $ks | {'z'}, type($vs).__name__, ('new', 1) in $it)
""",
    outs="r:o d:di",
)
idiom(
    "dict views returned",
    """
$d = {'a': <t>, 'b': <i>}
$r = ($d.keys(), $d.values(), $d.items())
""",
    outs="r:o",
    weight=0.6,
)
idiom(
    "dict order",
    """
$d = {'a': 1, 'b': 2, 'c': 3}
$d['a'] = $d.pop('a')
$d.update({'b': <i>, 'z': <i>})
$r = (list($d), list(reversed($d)), next(iter($d)), $d.popitem())
""",
    outs="d:di r:o",
)
idiom(
    "dict keys of many types",
    """
$d = {1: 'a', 1.5: 'b', (1, 2): 'c', None: 'd', True: <s>, 'k': 'e', frozenset({1}): 'f'}
$r = ($d[1], $d.get(1.0), $d[(1, 2)], $d.get(<o>, 'none') if isinstance(<o>, (int, str)) else 0, len($d))
""",
    outs="d:o r:o",
)
idiom(
    "tensor keyed dict",
    """
$d = {<x>: 1}
$r = ($d[list($d)[0]], len($d))
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "ordered dict",
    """
$d = collections.OrderedDict([('a', <i>), ('b', <i>), ('c', 3)])
$d.move_to_end('a')
$d.move_to_end('c', last=False)
$r = (list($d), $d.popitem(last=False), $d == collections.OrderedDict(b=1), type($d.copy()).__name__)
""",
    outs="r:o d:o",
)
idiom(
    "defaultdict",
    """
$d = collections.defaultdict(list)
$d[<key>].append(<t>)
$d['n'].append(<i>)
$c = collections.defaultdict(int, a=<i>)
$c['a'] += 1
$c[<s>] += <i>
$r = (len($d), 'zz' in $d, $d.get('zz'), $c['none'], dict($c))
""",
    outs="d:o r:o c:di",
)
idiom(
    "defaultdict with own factory",
    """
$d = collections.defaultdict(lambda: <i>)
$r = ($d['a'], $d['b'] + 1, len($d))
""",
    outs="d:o r:o",
    weight=0.6,
)
idiom(
    "counter",
    """
$c = collections.Counter(<s> + 'abca')
$c.update(<ls>)
$c['a'] -= 1
$r = ($c.most_common(1), $c['nope'], sum($c.values()), $c + collections.Counter('ab'), type($c - $c).__name__)
""",
    outs="c:o r:o",
)
idiom(
    "deque",
    """
$q = collections.deque(<li>, maxlen=<ci> % 4 + 1)
$q.append(<i>)
$q.appendleft(<i>)
$q.rotate(1)
$q.extend([1, 2])
$r = (list($q), $q.maxlen, $q[0], len($q), $q.pop(), $q.popleft() if $q else None, <i> in $q)
""",
    outs="q:o r:o",
)
idiom(
    "global deque",
    """
$dq.append(<t>)
$r = sum($dq)
""",
    defs="$dq = collections.deque(maxlen=2)",
    outs="r:t",
    weight=0.6,
)
idiom(
    "sets",
    """
$a, $b = {1, 2, 3}, set(<li>)
$a.symmetric_difference_update($b)
$r = ($a & $b, $a | $b, $a - $b, $a ^ $b, $a <= $b, 2 in $a, len($a), frozenset($b) == $b, sorted($a))
$a.intersection_update({1, 2, <i>})
try:
    $a.remove(<i>)
except KeyError as e:
    $q = e.args
""",
    outs="r:o a:si",
)
idiom(
    "set of strings and tuples",
    """
$s = {('a', 1), ('b', 2)} | {(<s>, <i>)}
$r = (('a', 1) in $s, len($s), sorted($s, key=repr))
""",
    outs="r:o s:o",
    weight=0.6,
)
idiom(
    "tuple comparisons",
    """
$r = (<ti> < <ti>, <ti> == <ti>, (1, 'a') < (1, 'b'), <ti>.count(<i>), <ti> + (1,), hash((1, <ci>)) == hash((1, <ci>)), <ti> is <ti>)
""",
    outs="r:o",
)
idiom(
    "heapq and bisect",
    """
$h = []
for $e in <li>:
    heapq.heappush($h, $e)
$r = (heapq.heappop($h) if $h else None, list($h), bisect.bisect([1, 3, 5], <i>), heapq.nlargest(2, <li>))
""",
    outs="r:o",
    weight=0.7,
)
idiom(
    "chain map and user dict",
    """
$m = collections.ChainMap({'a': <i>}, <di>)
$m['n'] = <i>
$r = ($m['a'], $m.get('b'), len($m), $m.maps[0])
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "simple namespace",
    """
$o = types.SimpleNamespace(a=<i>, x=<t>)
$o.b = $o.a + 1
$r = ($o.b, $o.x * $o.a, vars($o).keys() == {'a', 'x', 'b'}, $o == types.SimpleNamespace(a=1))if <b> else $o
""",
    outs="r:o o:o",
)
idiom(
    "range objects",
    """
$rg = range(<i>, 20, 3)
$r = (<i> in $rg, len($rg), $rg[1] if len($rg) > 1 else None, $rg[::-1], $rg == range(<i>, 20, 3), list($rg)[:2], $rg.index(5) if 5 in $rg else -1, $rg)
""",
    outs="r:o",
)
idiom(
    "int varies in container",
    """
$r = {'n': <i>, 'f': <f>, 'l': [<i>] * (<i> % 3), 't': (<i>, <f>)}
""",
    outs="r:o",
)
idiom(
    "string building",
    """
$out = ''
for $i, $c in enumerate(<s> + 'xyz'):
    $out += $c if $i % 2 else f'[{$c}]'
$r = ($out, $out.split('['), '%s|%5.2f|%03d' % (<s>, <f>, <i>), '{:>{w}}'.format(<s>, w=6), f'{<af>:.3g}/{<ai>!r}')
""",
    outs="r:o out:s",
)
idiom(
    "string methods",
    """
$s = <s> + 'a-b_C'
$r = [$s.swapcase(), $s.partition('-'), $s.rsplit('_', 1), $s.casefold(), $s.isupper(), $s.encode(), $s.find('C'), $s.expandtabs(), $s.ljust(9, '.'), $s.istitle(), $s.count('a'), $s.rfind('a'), 'a' <= $s]
""",
    outs="r:o s:s",
    weight=0.8,
)
idiom(
    "bytes",
    "$r = (<s>.encode() + b'x', bytes([1, 2]), b'abc'[1], bytearray(b'q'), int.from_bytes(b'ab', 'big'), b'a' in b'ba')",
    outs="r:o",
    weight=0.4,
)
idiom(
    "numbers",
    """
$r = [<i> // 3, <i> % 3, divmod(<i>, -3), <f> // 0.5, round(<f>, 1), round(<i>, -1), int(<f>), complex(<i>, 1), <i> ** 2, (<i>).bit_length(), <f> == <i>, math.trunc(<f>), abs(-<i>), pow(<i>, 3, 5), <i> / 4, True + <i>, float(<i>).hex(), (<i>).to_bytes(4, 'big', signed=True), <i>.__class__]
""",
    outs="r:o",
)
idiom(
    "math",
    """
$r = [math.sqrt(abs(<f>)), math.hypot(3, <f>), math.comb(5, 2), math.isfinite(<f>), math.prod(<li>), math.exp(0.5), math.log2(8), math.atan2(1, <f>), math.fmod(<f>, 2), math.isqrt(abs(<i>)), math.dist((1, 2), (<i>, 3))]
""",
    outs="r:o",
    weight=0.7,
)
idiom(
    "decimal and fractions",
    "$r = (fractions.Fraction(<i>, 3) + 1, decimal.Decimal('1.5') * <i>)",
    outs="r:o",
    weight=0.2,
)
idiom(
    "ternary chains and walrus",
    """
$r = [y if (y := e * 2) > 3 else -1 for e in <li>]
if ($m := <i>) > 2 and ($k := $m + 1):
    $m += $k
while ($m := $m - 3) > 0:
    pass
$q = 'neg' if $m < 0 else 'zero' if $m == 0 else 'pos'
""",
    outs="r:li m:i q:s",
)
idiom(
    "star unpacking",
    """
$a, *$b, $c = [<i>, *<li>, <i>]
($d, $e), *$g = (1, <i>), <s>, 3
$r = [*$b, *range(2), *<di>, *(<ti>)]
$k = {**<di>, 'z': <i>, **{'a': 0}}
""",
    outs="r:o b:li k:di",
)
idiom(
    "nested comprehension",
    """
$r = [[i * j for j in range(<ci> % 3)] for i in range(3) if i != <ai>]
$d = {k: [v + e for e in <li>] for k, v in <di>.items()}
$s = {(a, b) for a in <ti> for b in <ti> if a < b}
$t = [x * k for x in <lt> for k in (1, 2)]
""",
    outs="r:o d:o t:lt",
)
idiom(
    "comprehension shadowing",
    """
$e = <i>
$r = [$e for $e in <li>]
$q = [$e + k for k in range(2)]
""",
    outs="r:li q:li e:i",
    weight=0.7,
)
idiom(
    "chained comparison order",
    """
$log = []
def $see(v):
    $log.append(v)
    return v
$r = $see(<i>) < $see(<i>) <= $see(<i>)
$q = ($see(1) and $see(<i>)) or $see(3)
""",
    outs="r:b log:li",
)
idiom(
    "evaluation order",
    """
$log = []
def $see(v):
    $log.append(v)
    return v
$d = {$see('k'): $see(1), $see('j'): $see(2)}
$l = [0, 0]
$l[$see(0)] = $see(<i>)
$r = pow($see(2), $see(3)) + $see(<i>) * $see(2)
""",
    outs="r:i log:o d:di",
)
idiom(
    "delete and rebind",
    """
$a = {'x': <i>, 'y': 2}
del $a['x']
$b = [1, 2, 3]
del $b[<ci>]
$r = ($a, $b)
""",
    outs="r:o",
)
