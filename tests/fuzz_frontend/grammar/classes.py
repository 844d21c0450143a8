"""Idioms around classes: attributes, descriptors, operators, protocols, inheritance."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "class attribute counter",
    """
$C.n += <ci>
$r = <t> * $C.n
""",
    defs="""
class $C:
    n = 0
""",
    outs="r:t",
    weight=1.5,
)
idiom(
    "class list",
    """
$C.seen.append(<i>)
$r = len($C.seen)
""",
    defs="""
class $C:
    seen = []
""",
    outs="r:i",
)
idiom(
    "instance shadows class",
    """
$o = $C()
$a = $o.k
$o.k = <i>
$r = ($a, $o.k, $C.k, vars($o))
del $o.k
$q = $o.k
""",
    defs="""
class $C:
    k = <ci>
""",
    outs="r:o q:i o:o",
)
idiom(
    "global object",
    """
$o.n += 1
$o.items.append(<i>)
$r = <t> + $o.n
""",
    defs="""
class $C:
    def __init__(self):
        self.n = 0
        self.items = []
$o = $C()
""",
    outs="r:t",
    weight=1.5,
)
idiom(
    "property",
    """
$o = $C(<i>)
$a = $o.v
$o.v = <i>
$r = ($a, $o.v, $o.log)
""",
    defs="""
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
""",
    outs="r:o o:o",
)
idiom(
    "descriptor",
    """
$o = $C()
$o.p = <i>
$r = ($o.p, $o.__dict__)
""",
    defs="""
class $D:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name, -1) + 1
    def __set__(self, obj, value): setattr(obj, self.name, value * 2)
class $C:
    p = $D()
""",
    outs="r:o",
)
idiom(
    "getattr hook",
    """
$o = $C()
$o.real = <i>
$r = ($o.real, $o.ghost, getattr($o, 'bad', <s>), hasattr($o, 'bad'), $o.asked)
""",
    defs="""
class $C:
    def __init__(self): self.asked = []
    def __getattr__(self, name):
        self.asked.append(name)
        if name == 'bad':
            raise AttributeError(name)
        return name + '!'
""",
    outs="r:o",
)
idiom(
    "setattr hook",
    """
$o = $C()
$o.a = <i>
$o.b = <t>
$r = $o.order
""",
    defs="""
class $C:
    def __init__(self): object.__setattr__(self, 'order', [])
    def __setattr__(self, name, value):
        self.order.append(name)
        object.__setattr__(self, name, value)
""",
    outs="r:ls o:o",
)
idiom(
    "getattribute",
    """
$o = $C()
$r = ($o.k, $o.other)
""",
    defs="""
class $C:
    k = <ci>
    def __getattribute__(self, name):
        if name == 'other':
            return 'made up'
        return object.__getattribute__(self, name)
""",
    outs="r:o",
    weight=0.5,
)
idiom(
    "callable object",
    "$r = $o(<t>) + $o(<t>)",
    defs="""
class $C:
    def __init__(self, k): self.k, self.calls = k, 0
    def __call__(self, x, *more):
        self.calls += 1
        return x * self.k + self.calls
$o = $C(<ci>)
""",
    outs="r:t",
)
idiom(
    "operators",
    """
$a, $b = $V(<i>), $V(<i>)
$r = [($a + $b).n, ($a - 1).n, (2 * $a).n, (-$a).n, $a == $b, $a < $b, $a[3], len($a), bool($a), <i> in $a]
$a += 5
$q = ($a.n, repr($a), str($b), f'{$b}', hash($b) == $b.n)
""",
    defs="""
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
""",
    outs="r:o q:o",
    weight=1.3,
)
idiom(
    "reflected and NotImplemented",
    """
$a, $b = $L(), $R()
$r = [$a + $b, $b + <i> if <b> else 0]
try:
    $r.append($a + 1)
except TypeError as e:
    $r.append(type(e).__name__)
$q = ($a == $b, $a in [$a], $a in [$b], $b in ($b,), [$a].index($a), [$a, $b].count($a), $a != $a)
""",
    defs="""
class $L:
    def __add__(self, o): return NotImplemented
    def __eq__(self, o): return NotImplemented
    __hash__ = None
class $R:
    def __radd__(self, o): return 'radd'
    def __add__(self, o): return ('add', o)
    def __eq__(self, o): return False
    def __hash__(self): return 1
""",
    outs="r:o q:o",
)
idiom(
    "identity and equality",
    """
$n = float('nan')
$o = $C()
$r = ($n in [$n], $n in (float('nan'),), [$n] == [$n], $n == $n, $o in [$o], $o in {$o}, [$o].index($o), ($o, 1) == ($o, 1), [$o].count($o))
""",
    defs="""
class $C:
    def __eq__(self, o): return False
    def __hash__(self): return 3
""",
    outs="r:o",
)
idiom(
    "eq with side effects",
    """
$log.clear()
$items = [$C(1), $C(2), $C(3)]
$r = ($C(<ci>) in $items, $items.index($C(2)), list($log))
""",
    defs="""
$log = []
class $C:
    def __init__(self, n): self.n = n
    def __eq__(self, o):
        $log.append((self.n, o.n))
        return self.n == o.n
    __hash__ = None
""",
    outs="r:o",
)
idiom(
    "bool and len protocols",
    """
$r = [bool($B(<i>)), bool($Z(<i> % 2)), 'y' if $Z(0) else 'n', not $B(0), [1] if $B(1) and $Z(1) else []]
""",
    defs="""
class $B:
    def __init__(self, n): self.n = n
    def __bool__(self): return self.n > 1
class $Z:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
""",
    outs="r:o",
)
idiom(
    "iteration protocols",
    """
$r = [*$It(3), *$Old(), max($It(4)), sum($It(3)), list(zip($It(2), $Old()))]
$a, *$b = $It(3)
""",
    defs="""
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
""",
    outs="r:o b:li",
)
idiom(
    "inheritance",
    """
$o = $C(<i>)
$r = ($o.go(<t>), $C.made, $B.made, isinstance($o, $A), [k.__name__ for k in type($o).__mro__])
""",
    defs="""
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
""",
    outs="r:o o:o",
    weight=1.3,
)
idiom(
    "class and static methods",
    """
$o = $D.make(<i>)
$r = ($o.k, $D.count(), $o.count(), $D.twice(<i>), $o.twice(<t>), type($o).__name__)
""",
    defs="""
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
""",
    outs="r:o o:o",
)
idiom(
    "bound methods kept",
    """
$o = $C(<i>)
$m = $o.add
$o.k = <i>
$r = ($m(<i>), $C.add($o, 1), $o.add == $o.add, $m.__self__ is $o, [h(2) for h in [$m, $o.add]])
""",
    defs="""
class $C:
    def __init__(self, k): self.k = k
    def add(self, v): return v + self.k
""",
    outs="r:o m:o",
)
idiom(
    "slots",
    """
$o = $C(<i>)
$o.b = <t>
$r = ($o.a, hasattr($o, 'c'))
try:
    $o.zzz = 1
except AttributeError as e:
    $r += (type(e).__name__,)
""",
    defs="""
class $C:
    __slots__ = ('a', 'b', 'c')
    def __init__(self, a): self.a = a
""",
    outs="r:o o:o",
)
idiom(
    "new and singleton",
    """
$r = ($S() is $S(), $S().n)
$S().n += 1
""",
    defs="""
class $S:
    one = None
    def __new__(cls):
        if cls.one is None:
            cls.one = super().__new__(cls)
            cls.one.n = <ci>
        return cls.one
""",
    outs="r:o",
    weight=0.6,
)
idiom(
    "metaclass and init_subclass",
    """
$r = ($B.tag, $reg[:], len($A.__subclasses__()))
""",
    defs="""
$reg = []
class $A:
    def __init_subclass__(cls, tag=0, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        $reg.append(cls.__name__)
class $B($A, tag=<ci>): pass
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "class made inside",
    """
class $In:
    k = <i>
    items = []
    def add(self, v):
        self.items.append(v)
        return self.k
$o = $In()
$r = [$o.add(<i>), $o.add(2), $In.items, $o.items is $In.items]
""",
    outs="r:o",
)
idiom(
    "class attribute method swap",
    """
$o = $C()
$a = $o.go(<i>)
$C.go = lambda self, v: v * 100
$r = ($a, $o.go(<i>))
$C.go = $C.old
""",
    defs="""
class $C:
    def go(self, v): return v + 1
    old = go
""",
    outs="r:o",
    weight=0.6,
)
idiom(
    "setattr and delattr",
    """
$o = $C()
for $k in ('a', 'b'):
    setattr($o, $k, <i>)
delattr($o, 'a')
$r = (vars($o), hasattr($o, 'a'), getattr($o, 'b'), getattr($o, 'zz', None), '__dict__' in dir($o))
""",
    defs="class $C: pass",
    outs="r:o",
)
idiom(
    "dict of object",
    """
$o = $C()
$o.__dict__['q'] = <i>
$o.__dict__.update(a=<i>)
$r = ($o.q, list($o.__dict__), $o.a)
""",
    defs="class $C: pass",
    outs="r:o o:o",
    weight=0.6,
)
idiom(
    "del hook free object",
    """
$o = $C([<i>])
$o.items.append($o.items[0])
$p = $o
$p.items += [<i>]
$r = ($o.items, $p is $o)
""",
    defs="""
class $C:
    def __init__(self, items): self.items = items
""",
    outs="r:o o:o",
)
idiom(
    "isinstance tricks",
    """
$r = (isinstance(<o>, $P), isinstance($Q(), $P), issubclass($Q, $P), isinstance(True, int), isinstance(<o>, int | str), type(<o>) in (int, float))
""",
    defs="""
class $Meta(type):
    def __instancecheck__(cls, v): return isinstance(v, (int, $Q))
class $P(metaclass=$Meta): pass
class $Q($P): pass
""",
    outs="r:o",
    weight=0.6,
)
idiom(
    "dataclass",
    """
$a, $b = $D(<i>, <s>), $D(<i>)
$a.items.append(<i>)
$r = ($a, $a == $b, $b.items, repr($b), dataclasses.replace($a, n=<i>).n, dataclasses.asdict($b))
""",
    defs="""
@dataclasses.dataclass
class $D:
    n: int
    s: str = 'q'
    items: list = dataclasses.field(default_factory=list)
    def __post_init__(self): self.n += 1
""",
    outs="r:o a:o",
    weight=1.2,
)
idiom(
    "frozen dataclass",
    """
$a = $D(<i>, <t>)
try:
    $a.n = 5
except dataclasses.FrozenInstanceError as e:
    $r = str(e)
$q = ($a.x + $a.n, {$D(1, None): 'hit'}.get($D(1, None)), sorted([$O(2), $O(1)])[0].n)
""",
    defs="""
@dataclasses.dataclass(frozen=True)
class $D:
    n: int
    x: object
@dataclasses.dataclass(order=True)
class $O:
    n: int
""",
    outs="r:s q:o a:o",
)
idiom(
    "namedtuple",
    """
$p = $P(<i>, <t>)
$q = $p._replace(a=<i>)
$r = ($p, $q, $p.a, $q._asdict(), $P._fields, $p[0], len($p), isinstance($p, tuple), type($p).__name__)
""",
    defs="$P = collections.namedtuple('$P', 'a b', defaults=[<ci>])",
    outs="r:o p:o",
)
idiom(
    "typing namedtuple",
    """
$p = $P(x=<t>)
$a, $b = $p
$r = ($p.total(), $p == $P($p.x, 2) if <ci> < 0 else $b)
""",
    defs="""
class $P(typing.NamedTuple):
    x: object
    k: int = 2
    def total(self): return self.x * self.k
""",
    outs="r:o p:o a:t",
)
idiom(
    "enum",
    """
$c = $E(<ci> % 2 + 1)
$r = ($c, $c.name, $c.value, $E['A'] is $E.A, [e.value for e in $E], $c == $E.A, $E.A in $E, {$E.A: <i>}[$E.A], str($c))
match $c:
    case $E.A:
        $q = <i>
    case _:
        $q = <i>
""",
    defs="""
class $E(enum.Enum):
    A = 1
    B = 2
    @property
    def twice(self): return self.value * 2
""",
    outs="r:o q:i c:o",
)
idiom(
    "int enum and flag",
    """
$r = ($I.ONE + <i>, <t> * $I.TWO, $I(2).name, $F.X | $F.Y, $F.X in ($F.X | $F.Y), int($I.TWO), $I.ONE < $I.TWO, f'{$I.ONE}')
""",
    defs="""
class $I(enum.IntEnum):
    ONE = 1
    TWO = 2
class $F(enum.Flag):
    X = 1
    Y = 2
""",
    outs="r:o",
)
idiom(
    "subclassed builtins",
    """
$l = $L([<i>])
$l.append(<i>)
$d = $D(a=<i>)
$d['b'] = <i>
$r = ($l, $l.total(), $d, $d.log, len($l), $l + [1], type($l[:]).__name__, $d.get('zz'), $N(<i>) + 1, type($N(2) * 2).__name__)
""",
    defs="""
class $L(list):
    def total(self): return sum(self)
class $D(dict):
    log = []
    def __setitem__(self, k, v):
        self.log.append(k)
        super().__setitem__(k, v)
class $N(int): pass
""",
    outs="r:o l:li d:di",
)
idiom(
    "dict with missing",
    """
$d = $D(a=<i>)
$r = ($d['a'], $d['zz'], $d.get('zz'), dict($d))
""",
    defs="""
class $D(dict):
    def __missing__(self, key):
        self[key] = len(key)
        return -1
""",
    outs="r:o",
    weight=0.7,
)
idiom(
    "str and tuple subclass",
    """
$s, $t = $S(<s>), $T(<li>)
$r = ($s, $s.upper(), type($s + 'a').__name__, $t, $t.first(), $t[0:1], type($t).__name__)
""",
    defs="""
class $S(str):
    pass
class $T(tuple):
    def first(self): return self[0] if self else None
""",
    outs="r:o",
    weight=0.6,
)
