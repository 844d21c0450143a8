"""Idioms around classes, containers, modules, random state and tensors that share memory."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

# Classes ---------------------------------------------------------------------------------------------------------
idiom("class attribute counter", """
$C.n += <ci>
$r = <t> * $C.n
""", defs="""
class $C:
    n = 0
""", outs="r:t", weight=1.5)
idiom("class list", """
$C.seen.append(<i>)
$r = len($C.seen)
""", defs="""
class $C:
    seen = []
""", outs="r:i")
idiom("instance shadows class", """
$o = $C()
$a = $o.k
$o.k = <i>
$r = ($a, $o.k, $C.k, vars($o))
del $o.k
$q = $o.k
""", defs="""
class $C:
    k = <ci>
""", outs="r:o q:i o:o")
idiom("global object", """
$o.n += 1
$o.items.append(<i>)
$r = <t> + $o.n
""", defs="""
class $C:
    def __init__(self):
        self.n = 0
        self.items = []
$o = $C()
""", outs="r:t", weight=1.5)
idiom("property", """
$o = $C(<i>)
$a = $o.v
$o.v = <i>
$r = ($a, $o.v, $o.log)
""", defs="""
class $C:
    def __init__(self, v):
        self._v = v
        self.log = []
    @property
    def v(self):
        self.log.append('get')
        return self._v * 2
    @v.setter
    def v(self, new):
        self.log.append('set')
        self._v = new
""", outs="r:o o:o")
idiom("descriptor", """
$o = $C()
$o.p = <i>
$r = ($o.p, $o.__dict__)
""", defs="""
class $D:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name, -1) + 1
    def __set__(self, obj, value): setattr(obj, self.name, value * 2)
class $C:
    p = $D()
""", outs="r:o")
idiom("getattr hook", """
$o = $C()
$o.real = <i>
$r = ($o.real, $o.ghost, getattr($o, 'bad', <s>), hasattr($o, 'bad'), $o.asked)
""", defs="""
class $C:
    def __init__(self): self.asked = []
    def __getattr__(self, name):
        self.asked.append(name)
        if name == 'bad':
            raise AttributeError(name)
        return name + '!'
""", outs="r:o")
idiom("setattr hook", """
$o = $C()
$o.a = <i>
$o.b = <t>
$r = $o.order
""", defs="""
class $C:
    def __init__(self): object.__setattr__(self, 'order', [])
    def __setattr__(self, name, value):
        self.order.append(name)
        object.__setattr__(self, name, value)
""", outs="r:ls o:o")
idiom("getattribute", """
$o = $C()
$r = ($o.k, $o.other)
""", defs="""
class $C:
    k = <ci>
    def __getattribute__(self, name):
        if name == 'other':
            return 'made up'
        return object.__getattribute__(self, name)
""", outs="r:o", weight=0.5)
idiom("callable object", "$r = $o(<t>) + $o(<t>)", defs="""
class $C:
    def __init__(self, k): self.k, self.calls = k, 0
    def __call__(self, x, *more):
        self.calls += 1
        return x * self.k + self.calls
$o = $C(<ci>)
""", outs="r:t")
idiom("operators", """
$a, $b = $V(<i>), $V(<i>)
$r = [($a + $b).n, ($a - 1).n, (2 * $a).n, (-$a).n, $a == $b, $a < $b, $a[3], len($a), bool($a), <i> in $a]
$a += 5
$q = ($a.n, repr($a), str($b), f'{$b}', hash($b) == $b.n)
""", defs="""
class $V:
    def __init__(self, n): self.n = n
    def __add__(self, o): return $V(self.n + (o.n if isinstance(o, $V) else o))
    def __sub__(self, o): return $V(self.n - o)
    def __rmul__(self, o): return $V(o * self.n)
    def __iadd__(self, o):
        self.n += o
        return self
    def __neg__(self): return $V(-self.n)
    def __eq__(self, o): return isinstance(o, $V) and self.n == o.n
    def __lt__(self, o): return self.n < o.n
    def __hash__(self): return self.n
    def __getitem__(self, i): return self.n * i
    def __len__(self): return abs(self.n) % 5
    def __contains__(self, v): return v == self.n
    def __repr__(self): return f'V({self.n})'
    def __format__(self, spec): return 'fmt' + spec
""", outs="r:o q:o", weight=1.3)
idiom("reflected and NotImplemented", """
$a, $b = $L(), $R()
$r = [$a + $b, $b + <i> if <b> else 0]
try:
    $r.append($a + 1)
except TypeError as e:
    $r.append(type(e).__name__)
$q = ($a == $b, $a in [$a], $a in [$b], $b in ($b,), [$a].index($a), [$a, $b].count($a), $a != $a)
""", defs="""
class $L:
    def __add__(self, o): return NotImplemented
    def __eq__(self, o): return NotImplemented
    __hash__ = None
class $R:
    def __radd__(self, o): return 'radd'
    def __add__(self, o): return ('add', o)
    def __eq__(self, o): return False
    def __hash__(self): return 1
""", outs="r:o q:o")
idiom("identity and equality", """
$n = float('nan')
$o = $C()
$r = ($n in [$n], $n in (float('nan'),), [$n] == [$n], $n == $n, $o in [$o], $o in {$o}, [$o].index($o), ($o, 1) == ($o, 1), [$o].count($o))
""", defs="""
class $C:
    def __eq__(self, o): return False
    def __hash__(self): return 3
""", outs="r:o")
idiom("eq with side effects", """
$log.clear()
$items = [$C(1), $C(2), $C(3)]
$r = ($C(<ci>) in $items, $items.index($C(2)), list($log))
""", defs="""
$log = []
class $C:
    def __init__(self, n): self.n = n
    def __eq__(self, o):
        $log.append((self.n, o.n))
        return self.n == o.n
    __hash__ = None
""", outs="r:o")
idiom("bool and len protocols", """
$r = [bool($B(<i>)), bool($Z(<i> % 2)), 'y' if $Z(0) else 'n', not $B(0), [1] if $B(1) and $Z(1) else []]
""", defs="""
class $B:
    def __init__(self, n): self.n = n
    def __bool__(self): return self.n > 1
class $Z:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
""", outs="r:o")
idiom("iteration protocols", """
$r = [*$It(3), *$Old(), max($It(4)), sum($It(3)), list(zip($It(2), $Old()))]
$a, *$b = $It(3)
""", defs="""
class $It:
    def __init__(self, n): self.n = n
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i
class $Old:
    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return i * 10
""", outs="r:o b:li")
idiom("inheritance", """
$o = $C(<i>)
$r = ($o.go(<t>), $C.made, $B.made, isinstance($o, $A), [k.__name__ for k in type($o).__mro__])
""", defs="""
class $A:
    made = 0
    def __init__(self, k):
        self.k = k
        type(self).made += 1
    def go(self, x): return x + self.k
class $B($A):
    def go(self, x): return super().go(x) * 2
class $M:
    def go(self, x): return super().go(x) - 1
class $C($M, $B):
    def __init__(self, k):
        super().__init__(k + 1)
        self.extra = k
""", outs="r:o o:o", weight=1.3)
idiom("class and static methods", """
$o = $D.make(<i>)
$r = ($o.k, $D.count(), $o.count(), $D.twice(<i>), $o.twice(<t>), type($o).__name__)
""", defs="""
class $C:
    total = 0
    def __init__(self, k): self.k = k
    @classmethod
    def make(cls, k):
        cls.total += 1
        return cls(k * 2)
    @classmethod
    def count(cls): return cls.total
    @staticmethod
    def twice(v): return v + v
class $D($C): pass
""", outs="r:o o:o")
idiom("bound methods kept", """
$o = $C(<i>)
$m = $o.add
$o.k = <i>
$r = ($m(<i>), $C.add($o, 1), $o.add == $o.add, $m.__self__ is $o, [h(2) for h in [$m, $o.add]])
""", defs="""
class $C:
    def __init__(self, k): self.k = k
    def add(self, v): return v + self.k
""", outs="r:o m:o")
idiom("slots", """
$o = $C(<i>)
$o.b = <t>
$r = ($o.a, hasattr($o, 'c'))
try:
    $o.zzz = 1
except AttributeError as e:
    $r += (type(e).__name__,)
""", defs="""
class $C:
    __slots__ = ('a', 'b', 'c')
    def __init__(self, a): self.a = a
""", outs="r:o o:o")
idiom("new and singleton", """
$r = ($S() is $S(), $S().n)
$S().n += 1
""", defs="""
class $S:
    one = None
    def __new__(cls):
        if cls.one is None:
            cls.one = super().__new__(cls)
            cls.one.n = <ci>
        return cls.one
""", outs="r:o", weight=0.6)
idiom("metaclass and init_subclass", """
$r = ($B.tag, $reg[:], len($A.__subclasses__()))
""", defs="""
$reg = []
class $A:
    def __init_subclass__(cls, tag=0, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        $reg.append(cls.__name__)
class $B($A, tag=<ci>): pass
""", outs="r:o", weight=0.4)
idiom("class made inside", """
class $In:
    k = <i>
    items = []
    def add(self, v):
        self.items.append(v)
        return self.k
$o = $In()
$r = [$o.add(<i>), $o.add(2), $In.items, $o.items is $In.items]
""", outs="r:o")
idiom("class attribute method swap", """
$o = $C()
$a = $o.go(<i>)
$C.go = lambda self, v: v * 100
$r = ($a, $o.go(<i>))
$C.go = $C.old
""", defs="""
class $C:
    def go(self, v): return v + 1
    old = go
""", outs="r:o", weight=0.6)
idiom("setattr and delattr", """
$o = $C()
for $k in ('a', 'b'):
    setattr($o, $k, <i>)
delattr($o, 'a')
$r = (vars($o), hasattr($o, 'a'), getattr($o, 'b'), getattr($o, 'zz', None), '__dict__' in dir($o))
""", defs="class $C: pass", outs="r:o")
idiom("dict of object", """
$o = $C()
$o.__dict__['q'] = <i>
$o.__dict__.update(a=<i>)
$r = ($o.q, list($o.__dict__), $o.a)
""", defs="class $C: pass", outs="r:o o:o", weight=0.6)
idiom("del hook free object", """
$o = $C([<i>])
$o.items.append($o.items[0])
$p = $o
$p.items += [<i>]
$r = ($o.items, $p is $o)
""", defs="""
class $C:
    def __init__(self, items): self.items = items
""", outs="r:o o:o")
idiom("isinstance tricks", """
$r = (isinstance(<o>, $P), isinstance($Q(), $P), issubclass($Q, $P), isinstance(True, int), isinstance(<o>, int | str), type(<o>) in (int, float))
""", defs="""
class $Meta(type):
    def __instancecheck__(cls, v): return isinstance(v, (int, $Q))
class $P(metaclass=$Meta): pass
class $Q($P): pass
""", outs="r:o", weight=0.6)
idiom("dataclass", """
$a, $b = $D(<i>, <s>), $D(<i>)
$a.items.append(<i>)
$r = ($a, $a == $b, $b.items, repr($b), dataclasses.replace($a, n=<i>).n, dataclasses.asdict($b))
""", defs="""
@dataclasses.dataclass
class $D:
    n: int
    s: str = 'q'
    items: list = dataclasses.field(default_factory=list)
    def __post_init__(self): self.n += 1
""", outs="r:o a:o", weight=1.2)
idiom("frozen dataclass", """
$a = $D(<i>, <t>)
try:
    $a.n = 5
except dataclasses.FrozenInstanceError as e:
    $r = str(e)
$q = ($a.x + $a.n, {$D(1, None): 'hit'}.get($D(1, None)), sorted([$O(2), $O(1)])[0].n)
""", defs="""
@dataclasses.dataclass(frozen=True)
class $D:
    n: int
    x: object
@dataclasses.dataclass(order=True)
class $O:
    n: int
""", outs="r:s q:o a:o")
idiom("namedtuple", """
$p = $P(<i>, <t>)
$q = $p._replace(a=<i>)
$r = ($p, $q, $p.a, $q._asdict(), $P._fields, $p[0], len($p), isinstance($p, tuple), type($p).__name__)
""", defs="$P = collections.namedtuple('$P', 'a b', defaults=[<ci>])", outs="r:o p:o")
idiom("typing namedtuple", """
$p = $P(x=<t>)
$a, $b = $p
$r = ($p.total(), $p == $P($p.x, 2) if <ci> < 0 else $b)
""", defs="""
class $P(typing.NamedTuple):
    x: object
    k: int = 2
    def total(self): return self.x * self.k
""", outs="r:o p:o a:t")
idiom("enum", """
$c = $E(<ci> % 2 + 1)
$r = ($c, $c.name, $c.value, $E['A'] is $E.A, [e.value for e in $E], $c == $E.A, $E.A in $E, {$E.A: <i>}[$E.A], str($c))
match $c:
    case $E.A:
        $q = <i>
    case _:
        $q = <i>
""", defs="""
class $E(enum.Enum):
    A = 1
    B = 2
    @property
    def twice(self): return self.value * 2
""", outs="r:o q:i c:o")
idiom("int enum and flag", """
$r = ($I.ONE + <i>, <t> * $I.TWO, $I(2).name, $F.X | $F.Y, $F.X in ($F.X | $F.Y), int($I.TWO), $I.ONE < $I.TWO, f'{$I.ONE}')
""", defs="""
class $I(enum.IntEnum):
    ONE = 1
    TWO = 2
class $F(enum.Flag):
    X = 1
    Y = 2
""", outs="r:o")
idiom("subclassed builtins", """
$l = $L([<i>])
$l.append(<i>)
$d = $D(a=<i>)
$d['b'] = <i>
$r = ($l, $l.total(), $d, $d.log, len($l), $l + [1], type($l[:]).__name__, $d.get('zz'), $N(<i>) + 1, type($N(2) * 2).__name__)
""", defs="""
class $L(list):
    def total(self): return sum(self)
class $D(dict):
    log = []
    def __setitem__(self, k, v):
        self.log.append(k)
        super().__setitem__(k, v)
class $N(int): pass
""", outs="r:o l:li d:di")
idiom("dict with missing", """
$d = $D(a=<i>)
$r = ($d['a'], $d['zz'], $d.get('zz'), dict($d))
""", defs="""
class $D(dict):
    def __missing__(self, key):
        self[key] = len(key)
        return -1
""", outs="r:o", weight=0.7)
idiom("str and tuple subclass", """
$s, $t = $S(<s>), $T(<li>)
$r = ($s, $s.upper(), type($s + 'a').__name__, $t, $t.first(), $t[0:1], type($t).__name__)
""", defs="""
class $S(str):
    pass
class $T(tuple):
    def first(self): return self[0] if self else None
""", outs="r:o", weight=0.6)

# Containers ------------------------------------------------------------------------------------------------------
idiom("list aliasing", """
$a = [<i>, <i>]
$b = $a
$c = $a[:]
$b.append(<i>)
$r = ($a, $b is $a, $c)
""", outs="r:o a:li")
idiom("nested list aliasing", """
$grid = [[<i>, 2], [3, <i>]]
$row = $grid[0]
$grid[0][1] = <t>
$row.append($row)if <ci> < -5 else $row.append(1)
$r = ($row[1], $row is $grid[0])
""", outs="grid:o r:o")
idiom("shared rows", """
$grid = [[0] * 2] * 2
$grid[0][0] = <i>
$other = [[0] * 2 for _ in range(2)]
$other[0][0] = <i>
""", outs="grid:o other:o")
idiom("self-containing list", """
$a = [<i>]
$a.append($a)
$r = ($a[1] is $a, len($a[1][1]))
""", outs="r:o", weight=0.4)
idiom("list augmented through alias", """
$a = <li>
$b = $a
$b += [<i>]
$c = $a
$c = $c + [<i>]
$r = ($a, $b, $c, $a is $b, $a is $c)
""", outs="r:o a:li")
idiom("slice assignment", """
$a = [1, 2, 3, 4, 5]
$a[<ci>:3] = [<i>]
$a[::2] = [0] * len($a[::2])
del $a[-1:]
$s = slice(1, <i>)
$r = ($a[$s], $s.indices(4), $s)
""", outs="a:li r:o")
idiom("changed while iterated", """
$a = [1, 2, 3]
$n = 0
for $e in $a:
    if len($a) < 6:
        $a.append($e * 2)
    $n += $e
""", outs="a:li n:i")
idiom("dict changed while iterated", """
$d = {'a': 1, 'b': 2}
try:
    for $k in $d:
        $d[$k + 'x'] = <i>
except RuntimeError as e:
    $r = str(e)
""", outs="d:di r:s", weight=0.6)
idiom("dict views", """
$d = <di>
$ks, $vs, $it = $d.keys(), $d.values(), $d.items()
$d['new'] = <i>
$r = (list($ks), list($vs), len($it), 'new' in $ks, $ks | {'z'}, type($vs).__name__, ('new', 1) in $it)
""", outs="r:o d:di")
idiom("dict views returned", """
$d = {'a': <t>, 'b': <i>}
$r = ($d.keys(), $d.values(), $d.items())
""", outs="r:o", weight=0.6)
idiom("dict order", """
$d = {'a': 1, 'b': 2, 'c': 3}
$d['a'] = $d.pop('a')
$d.update({'b': <i>, 'z': <i>})
$r = (list($d), list(reversed($d)), next(iter($d)), $d.popitem())
""", outs="d:di r:o")
idiom("dict keys of many types", """
$d = {1: 'a', 1.5: 'b', (1, 2): 'c', None: 'd', True: <s>, 'k': 'e', frozenset({1}): 'f'}
$r = ($d[1], $d.get(1.0), $d[(1, 2)], $d.get(<o>, 'none') if isinstance(<o>, (int, str)) else 0, len($d))
""", outs="d:o r:o")
idiom("tensor keyed dict", """
$d = {<x>: 1}
$r = ($d[list($d)[0]], len($d))
""", outs="r:o", weight=0.4)
idiom("ordered dict", """
$d = collections.OrderedDict([('a', <i>), ('b', <i>), ('c', 3)])
$d.move_to_end('a')
$d.move_to_end('c', last=False)
$r = (list($d), $d.popitem(last=False), $d == collections.OrderedDict(b=1), type($d.copy()).__name__)
""", outs="r:o d:o")
idiom("defaultdict", """
$d = collections.defaultdict(list)
$d[<key>].append(<t>)
$d['n'].append(<i>)
$c = collections.defaultdict(int, a=<i>)
$c['a'] += 1
$c[<s>] += <i>
$r = (len($d), 'zz' in $d, $d.get('zz'), $c['none'], dict($c))
""", outs="d:o r:o c:di")
idiom("defaultdict with own factory", """
$d = collections.defaultdict(lambda: <i>)
$r = ($d['a'], $d['b'] + 1, len($d))
""", outs="d:o r:o", weight=0.6)
idiom("counter", """
$c = collections.Counter(<s> + 'abca')
$c.update(<ls>)
$c['a'] -= 1
$r = ($c.most_common(1), $c['nope'], sum($c.values()), $c + collections.Counter('ab'), type($c - $c).__name__)
""", outs="c:o r:o")
idiom("deque", """
$q = collections.deque(<li>, maxlen=<ci> % 4 + 1)
$q.append(<i>)
$q.appendleft(<i>)
$q.rotate(1)
$q.extend([1, 2])
$r = (list($q), $q.maxlen, $q[0], len($q), $q.pop(), $q.popleft() if $q else None, <i> in $q)
""", outs="q:o r:o")
idiom("global deque", """
$dq.append(<t>)
$r = sum($dq)
""", defs="$dq = collections.deque(maxlen=2)", outs="r:t", weight=0.6)
idiom("sets", """
$a, $b = {1, 2, 3}, set(<li>)
$a.symmetric_difference_update($b)
$r = ($a & $b, $a | $b, $a - $b, $a ^ $b, $a <= $b, 2 in $a, len($a), frozenset($b) == $b, sorted($a))
$a.intersection_update({1, 2, <i>})
try:
    $a.remove(<i>)
except KeyError as e:
    $q = e.args
""", outs="r:o a:si")
idiom("set of strings and tuples", """
$s = {('a', 1), ('b', 2)} | {(<s>, <i>)}
$r = (('a', 1) in $s, len($s), sorted($s, key=repr))
""", outs="r:o s:o", weight=0.6)
idiom("tuple comparisons", """
$r = (<ti> < <ti>, <ti> == <ti>, (1, 'a') < (1, 'b'), <ti>.count(<i>), <ti> + (1,), hash((1, <ci>)) == hash((1, <ci>)), <ti> is <ti>)
""", outs="r:o")
idiom("heapq and bisect", """
$h = []
for $e in <li>:
    heapq.heappush($h, $e)
$r = (heapq.heappop($h) if $h else None, list($h), bisect.bisect([1, 3, 5], <i>), heapq.nlargest(2, <li>))
""", outs="r:o", weight=0.7)
idiom("chain map and user dict", """
$m = collections.ChainMap({'a': <i>}, <di>)
$m['n'] = <i>
$r = ($m['a'], $m.get('b'), len($m), $m.maps[0])
""", outs="r:o", weight=0.4)
idiom("simple namespace", """
$o = types.SimpleNamespace(a=<i>, x=<t>)
$o.b = $o.a + 1
$r = ($o.b, $o.x * $o.a, vars($o).keys() == {'a', 'x', 'b'}, $o == types.SimpleNamespace(a=1))if <b> else $o
""", outs="r:o o:o")
idiom("range objects", """
$rg = range(<i>, 20, 3)
$r = (<i> in $rg, len($rg), $rg[1] if len($rg) > 1 else None, $rg[::-1], $rg == range(<i>, 20, 3), list($rg)[:2], $rg.index(5) if 5 in $rg else -1, $rg)
""", outs="r:o")
idiom("int varies in container", """
$r = {'n': <i>, 'f': <f>, 'l': [<i>] * (<i> % 3), 't': (<i>, <f>)}
""", outs="r:o")
idiom("string building", """
$out = ''
for $i, $c in enumerate(<s> + 'xyz'):
    $out += $c if $i % 2 else f'[{$c}]'
$r = ($out, $out.split('['), '%s|%5.2f|%03d' % (<s>, <f>, <i>), '{:>{w}}'.format(<s>, w=6), f'{<af>:.3g}/{<ai>!r}')
""", outs="r:o out:s")
idiom("string methods", """
$s = <s> + 'a-b_C'
$r = [$s.swapcase(), $s.partition('-'), $s.rsplit('_', 1), $s.casefold(), $s.isupper(), $s.encode(), $s.find('C'), $s.expandtabs(), $s.ljust(9, '.'), $s.istitle(), $s.count('a'), $s.rfind('a'), 'a' <= $s]
""", outs="r:o s:s", weight=0.8)
idiom("bytes", "$r = (<s>.encode() + b'x', bytes([1, 2]), b'abc'[1], bytearray(b'q'), int.from_bytes(b'ab', 'big'), b'a' in b'ba')", outs="r:o", weight=0.4)
idiom("numbers", """
$r = [<i> // 3, <i> % 3, divmod(<i>, -3), <f> // 0.5, round(<f>, 1), round(<i>, -1), int(<f>), complex(<i>, 1), <i> ** 2, (<i>).bit_length(), <f> == <i>, math.trunc(<f>), abs(-<i>), pow(<i>, 3, 5), <i> / 4, True + <i>, float(<i>).hex(), (<i>).to_bytes(4, 'big', signed=True), <i>.__class__]
""", outs="r:o")
idiom("math", """
$r = [math.sqrt(abs(<f>)), math.hypot(3, <f>), math.comb(5, 2), math.isfinite(<f>), math.prod(<li>), math.exp(0.5), math.log2(8), math.atan2(1, <f>), math.fmod(<f>, 2), math.isqrt(abs(<i>)), math.dist((1, 2), (<i>, 3))]
""", outs="r:o", weight=0.7)
idiom("decimal and fractions", "$r = (fractions.Fraction(<i>, 3) + 1, decimal.Decimal('1.5') * <i>)", outs="r:o", weight=0.2)
idiom("ternary chains and walrus", """
$r = [y if (y := e * 2) > 3 else -1 for e in <li>]
if ($m := <i>) > 2 and ($k := $m + 1):
    $m += $k
while ($m := $m - 3) > 0:
    pass
$q = 'neg' if $m < 0 else 'zero' if $m == 0 else 'pos'
""", outs="r:li m:i q:s")
idiom("star unpacking", """
$a, *$b, $c = [<i>, *<li>, <i>]
($d, $e), *$g = (1, <i>), <s>, 3
$r = [*$b, *range(2), *<di>, *(<ti>)]
$k = {**<di>, 'z': <i>, **{'a': 0}}
""", outs="r:o b:li k:di")
idiom("nested comprehension", """
$r = [[i * j for j in range(<ci> % 3)] for i in range(3) if i != <ai>]
$d = {k: [v + e for e in <li>] for k, v in <di>.items()}
$s = {(a, b) for a in <ti> for b in <ti> if a < b}
$t = [x * k for x in <lt> for k in (1, 2)]
""", outs="r:o d:o t:lt")
idiom("comprehension shadowing", """
$e = <i>
$r = [$e for $e in <li>]
$q = [$e + k for k in range(2)]
""", outs="r:li q:li e:i", weight=0.7)
idiom("chained comparison order", """
$log = []
def $see(v):
    $log.append(v)
    return v
$r = $see(<i>) < $see(<i>) <= $see(<i>)
$q = ($see(1) and $see(<i>)) or $see(3)
""", outs="r:b log:li")
idiom("evaluation order", """
$log = []
def $see(v):
    $log.append(v)
    return v
$d = {$see('k'): $see(1), $see('j'): $see(2)}
$l = [0, 0]
$l[$see(0)] = $see(<i>)
$r = pow($see(2), $see(3)) + $see(<i>) * $see(2)
""", outs="r:i log:o d:di")
idiom("delete and rebind", """
$a = {'x': <i>, 'y': 2}
del $a['x']
$b = [1, 2, 3]
del $b[<ci>]
$r = ($a, $b)
""", outs="r:o")

# Modules, random, tensors ----------------------------------------------------------------------------------------
idiom("random module", "$r = [random.random(), random.randint(1, <ci> % 3 + 9), random.choice([1, 2, 3]), random.uniform(0, 1)]", outs="r:o", weight=0.9)
idiom("random shuffle", """
$l = list(range(5))
random.shuffle($l)
$r = <t> + random.randint(1, 100)
""", outs="l:li r:t", weight=0.7)
idiom("random instance", """
$g = random.Random(<i>)
$r = [$g.randint(1, 50), $g.random(), $g.sample(range(9), 2)]
""", outs="r:o")
idiom("global random instance", "$r = <t> * $rng.randint(1, 9) + $rng.random()", defs="$rng = random.Random(<ci>)", outs="r:t")
idiom("random seeded", """
random.seed(<i>)
$r = random.randint(0, 99)
$s = random.getstate()
$q = random.random()
random.setstate($s)
$w = random.random() == $q
""", outs="r:i w:b", weight=0.4)
idiom("torch random", "$r = torch.rand(2) + torch.randn(2)", outs="r:t", weight=0.8)
idiom("torch random more", """
torch.manual_seed(<i> % 100)
$r = [torch.randint(0, 9, (2,)), torch.randperm(3), F.dropout(<x>, 0.5), torch.bernoulli(torch.full((2,), 0.5)), torch.rand_like(<x>)]
""", outs="r:o", weight=0.6)
idiom("torch generator", """
$g = torch.Generator().manual_seed(<i> % 50)
$r = torch.rand(2, generator=$g)
""", outs="r:t", weight=0.4)
idiom("module with state", """
$r = $net(<x>) + $net(<x>)
""", defs="""
class $Net(torch.nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k, self.calls, self.log = k, 0, []
        self.register_buffer('total', torch.zeros(1))
        self.w = torch.nn.Parameter(torch.full((1,), 2.0))
    def forward(self, x):
        self.calls += 1
        self.total += x.sum()
        self.log.append(self.calls)
        return x * self.w + self.k * self.calls + self.total
$net = $Net(<ci>)
""", outs="r:t", weight=1.3)
idiom("module lists and dicts", "$r = $net(<x>, <s>)", defs="""
class $Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.ReLU()])
        self.by = torch.nn.ModuleDict({'a': torch.nn.Tanh(), 'ab': torch.nn.Sigmoid()})
        self.scale = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(1) * 2)])
        self.seq = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Hardtanh())
    def forward(self, x, key='a'):
        for i, layer in enumerate(self.layers):
            x = layer(x) + i
        if key in self.by:
            x = self.by[key](x)
        names = [n for n, _ in self.named_children()]
        return self.seq(x) * self.scale[0] + len(names)
$net = $Net()
""", outs="r:t")
idiom("module hooks", """
$r = $net(<x>)
$q = len($log)
""", defs="""
$log = []
$net = torch.nn.ReLU()
$net.register_forward_hook(lambda m, a, out: ($log.append('post'), out * 2)[1])
$net.register_forward_pre_hook(lambda m, a: $log.append('pre'))
""", outs="r:t q:i")
idiom("module train mode", """
$a = $net(<x>)
$net.eval() if <b> else $net.train()
$r = ($net(<x>), $net.training)
""", defs="""
$net = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Identity())
""", outs="r:o")
idiom("module attribute swap", """
$net.act = torch.nn.Tanh() if <b> else torch.nn.ReLU()
$net.scale = <i>
$r = $net(<x>)
""", defs="""
class $Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act, self.scale = torch.nn.ReLU(), 1
    def forward(self, x): return self.act(x) * self.scale
$net = $Net()
""", outs="r:t")
idiom("module getattr and super", "$r = $net(<x>)", defs="""
class $Base(torch.nn.Module):
    def forward(self, x): return x + self.bias_value
    @property
    def bias_value(self): return <ci>
class $Net($Base):
    def forward(self, x):
        return super().forward(x) * self.helper(2)
    def helper(self, k): return k + len(list(self.parameters()))
$net = $Net()
""", outs="r:t")
idiom("module in a list", """
$r = <x>
for $m in $stack:
    $r = $m($r)
""", defs="$stack = [torch.nn.ReLU(), torch.nn.Identity(), lambda v: v + <ci>]", outs="r:t")
idiom("linear and grad", """
$y = $lin(torch.ones(2) * <f>)
$y.sum().backward()
$r = $lin.weight.grad.clone()
""", defs="""
$lin = torch.nn.Linear(2, 1)
with torch.no_grad():
    $lin.weight.fill_(0.5); $lin.bias.zero_()
""", outs="r:t y:t", weight=0.5)
idiom("autograd", """
$p = torch.ones(2, requires_grad=True)
$y = ($p * <f>).sum()
$g, = torch.autograd.grad($y, $p)
""", outs="g:t", weight=0.6)
idiom("requires grad flow", """
$w = torch.full((1,), <f>, requires_grad=True)
$y = <x> * $w
$z = $y.detach() + <t>
with torch.no_grad():
    $u = $w * 2
$r = ($y.requires_grad, $z.requires_grad, $u.requires_grad, $y.is_leaf, $w.is_leaf)
""", outs="r:o y:t u:t")
idiom("autograd function", "$r = $Fn.apply(<x>, <f>)", defs="""
class $Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None
""", outs="r:t", weight=0.7)
idiom("views", """
$base = <x> * 1
$v = $base[1:]
$w = $base.view(-1)
$v += <f>
$w[0] = <f>
$r = ($base, $v, $w, $base is $w)
""", outs="r:o base:t")
idiom("view of argument", """
$v = <x>[:1]
$v.mul_(2)
$r = $v
""", outs="r:t")
idiom("output aliases", """
$y = <x> + 1
$r = [$y, $y, $y[0:1], $y.view(-1), $y.t() if $y.ndim == 2 else $y, <x>]
""", outs="r:o")
idiom("input returned", "$r = {'x': <x>, 'again': [<x>], 'part': <x>[..., 0:1]}", outs="r:o", weight=0.7)
idiom("in-place chain", """
$y = <x>.clone()
$z = $y
$y += 1
$y.relu_().mul_(<f>)
$z[$z > 1] = 0
$y[0] = <t>.sum()
$r = $y is $z
""", outs="y:t r:b")
idiom("two dimensional", """
$m = torch.arange(6.0).reshape(2, 3) * <f>
$m[0, 1:] = <i>
$r = [$m.t(), $m.sum(0), $m[:, 0], $m @ $m.t(), $m[1], $m[..., -1], $m[None].shape, $m.max(dim=1).values, $m.argmax().item() if <ci> > 2 else 0, torch.einsum('ij->j', $m)]
$a, $b = $m
""", outs="r:o a:t m:t")
idiom("shapes and dtypes", """
$r = (<x>.shape, <x>.size(), <x>.stride(), <x>.dtype, <x>.device, <x>.numel(), tuple(<x>.shape) + (1,), <x>.shape + (1,), <x>.dim(), list(<x>.size()), <x>.element_size(), <x>.is_contiguous())
$n, = <x>.shape[:1]
$q = <t> * $n + $n // 2
""", outs="r:o q:t n:i")
idiom("shape arithmetic", """
$n = <x>.shape[0]
$r = [torch.zeros($n + 1), torch.arange($n), <x>.new_ones($n * 2), <x>.reshape(1, $n), list(range($n)), f'{$n}', $n / 2, $n % 2 == 0, -$n, str($n)]
if $n > <ci>:
    $r.append(<t>)
""", outs="r:o n:i")
idiom("dtype promotion", """
$r = [<x> + 1, <x>.long() + 1, <x>.long() / 2, torch.tensor([True]) + <i>, (<x> > 0) & (<x> < <f>), <x>.to(torch.float64) * <f>, torch.result_type(<x>, <i>), <x>.half().dtype, torch.tensor(<i>) + <f>, <x>.int() // 2, torch.tensor([1, 2]) % 2]
""", outs="r:o")
idiom("tensor comparisons", """
$m = <x> > <f>
$r = [$m.any(), $m.all(), $m.sum(), torch.equal(<x>, <x>), <x>[$m.nonzero().reshape(-1)[:0]], (<x> == <x>).all().item(), torch.allclose(<x>, <x>), <x>.eq(<f>)]
""", outs="r:o", weight=0.8)
idiom("data-dependent branch", """
if <x>.sum() > <f>:
    $r = <t> * 2
else:
    $r = <t> - 1
""", outs="r:t", weight=0.9)
idiom("item arithmetic", """
$v = <x>.max().item()
$r = (<t> * $v, $v > 1, f'{$v:.1f}', int($v))
""", outs="r:o", weight=0.7)
idiom("nonzero sizes", """
$nz = torch.nonzero(<x> > <f>).reshape(-1)
$r = (<x>[$nz], len($nz), $nz.numel() > 1)
""", outs="r:o", weight=0.4)
idiom("tensor iteration", """
$acc = 0
for $e in <x>:
    $acc = $acc + $e * 2
$a = [e.shape for e in <x>]
""", outs="acc:t a:o")
idiom("multiple outputs", """
$v, $i = torch.sort(<x>)
$mn, $mx = torch.aminmax(<x>)
$c = torch.chunk(<x>, 2)
$r = [$v, $i, $mx, torch.topk(<x>, 1), torch.unique(<x>), $c, type($c).__name__, torch.max(<x>, dim=0), type(torch.topk(<x>, 1)).__name__]
""", outs="r:o v:t")
idiom("numpy round trip", """
$r = torch.from_numpy(<x>.detach().numpy().copy() * 2)
""", outs="r:t", weight=0.4)
idiom("tensor attributes", """
$y = <x> * 1
$y.note = <s>
$y.data = $y.data + 1
$r = ($y.note, hasattr(<x>, 'note'), $y.T.shape, $y.real, $y.grad, $y.is_leaf, $y.names if <ci> > 99 else 0)
""", outs="r:o y:t", weight=0.6)
idiom("out argument", """
$o = torch.empty(<x>.shape)
$same = torch.add(<x>, 1, out=$o) is $o
""", outs="o:t same:b", weight=0.5)
idiom("parameter and buffer identity", """
$r = ($net.weight is $net.weight, $net.weight.shape, list($net._parameters), $net.weight)
""", defs="$net = torch.nn.Linear(2, 2, bias=False)\ntorch.nn.init.ones_($net.weight)", outs="r:o", weight=0.5)
idiom("default dtype", """
torch.set_default_dtype(torch.float64 if <b> else torch.float32)
$r = torch.ones(1).dtype
torch.set_default_dtype(torch.float32)
""", outs="r:o", weight=0.25)
idiom("copying", """
$a = [<li>, <t>]
$b, $c = copy.copy($a), copy.deepcopy($a)
$a[0].append(<i>)
$r = ($b[0] is $a[0], $c[0] is $a[0], $b[1] is $a[1], $c[1] is $a[1])
""", outs="r:o c:o")
idiom("graph break in helper", "$r = $h(<t>, <i>)", defs="""
def $h(x, k):
    y = x + k
    print('k is', k)
    if k > <ci>:
        z = json.dumps([k])
        return y * len(z)
    return y
""", outs="r:t", weight=1.2)
idiom("graph break in loop", """
$acc = []
for $i in range(3):
    $acc.append(<t> + $i)
    if $i == <ci>:
        print($i, end=';')
        continue
    $acc.append($i)
""", outs="acc:o", weight=1.2)
idiom("graph break in try and with", """
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
""", outs="g:o", weight=1.2)
idiom("break inside comprehension", "$r = [(print(e), e + 1)[1] for e in <li>]", outs="r:li", weight=0.6)
idiom("break with live iterator", """
$it = iter([<t>, <t>, <i>])
$a = next($it)
print('mid')
$b = next($it)
$rest = list($it)
""", outs="a:t b:t rest:o", weight=1.0)
idiom("break with live objects", """
$o = $C(<i>)
$o.x = <t>
$al = [$o, $o]
print('live')
$al[0].n += 1
$r = ($o.n, $al[1].x + $o.n, $al[0] is $al[1])
""", defs="""
class $C:
    def __init__(self, n): self.n = n
""", outs="r:o al:o", weight=1.0)
idiom("break with closure cell", """
$cell = <i>
def $get(): return $cell
def $put(v):
    nonlocal $cell
    $cell = v
$put(<i>)
print($get())
$put($get() + 1)
$r = ($cell, $get())
""", outs="r:o cell:i", weight=1.0)
idiom("break in nested call with with", "$r = $outer(<t>)", defs="""
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
""", outs="r:t", weight=1.0)
