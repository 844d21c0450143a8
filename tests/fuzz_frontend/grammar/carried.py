"""What is carried from one call to the next: objects, closures, caches, registries, flags; arguments that change in kind."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "running statistics",
    """
$r = $stats.update(<t>)
$n = $stats.n
""",
    defs="""
class $Stats:
    def __init__(self):
        self.n, self.mean, self.history = 0, None, []
    def update(self, x):
        self.n += 1
        m = x.detach().sum()
        self.mean = m if self.mean is None else self.mean + (m - self.mean) / self.n
        if self.n % 2:
            self.history.append(self.mean)
        return self.mean
$stats = $Stats()
""",
    outs="r:t n:i",
    weight=1.5,
)
idiom(
    "cache by shape",
    """
$key = tuple(<x>.shape)
if $key not in $cache:
    $misses.append($key)
    $cache[$key] = torch.ones($key) * len($cache)
$r = <x> + $cache[$key]
""",
    defs="$cache, $misses = {}, []",
    outs="r:t",
    weight=1.3,
)
idiom(
    "every other call",
    """
$calls[0] += 1
if $calls[0] % 2 == 0:
    $r = <t> * -1
elif $calls[0] > 2:
    $r = <t> + $calls[0]
else:
    $r = <t>
""",
    defs="$calls = [0]",
    outs="r:t",
)
idiom(
    "previous argument kept",
    """
$same = $last[0] is <x>
$r = <x> if $last[0] is None else <x>.sum() + $last[0].sum()
$last[0] = <x>
""",
    defs="$last = [None]",
    outs="same:b r:t",
)
idiom(
    "default that turns from None",
    """
$r = $h(<x>)
$r = $h($r, bias=<t>.sum())
$r = $h($r, None, scale=<i>)
""",
    defs="""
def $h(x, bias=None, *, scale=None, out=None):
    if bias is not None:
        x = x + bias
    if scale is not None:
        x = x * scale
    return x
""",
    outs="r:t",
)
idiom(
    "registry filled by decorator",
    """
$table = sorted($registry)
$r = [$registry[k](<t>) for k in $table]
if <b>:
    @$register('late' + str(len($registry)))
    def $late(x):
        return x - 1
""",
    defs="""
$registry = {}
def $register(name):
    def add(fn):
        $registry[name] = fn
        return fn
    return add
@$register('double')
def $d(x): return x * 2
@$register('half')
def $hf(x): return x / 2
""",
    outs="r:lt table:ls",
)
idiom(
    "global flag toggled",
    """
$r = $h(<t>)
$toggle()
$q = $h(<t>)
""",
    defs="""
$mode = 'add'
def $toggle():
    global $mode
    $mode = 'mul' if $mode == 'add' else 'add'
def $h(x):
    return x + 2 if $mode == 'add' else x * 2
""",
    outs="r:t q:t",
)
idiom(
    "class counter with instances",
    """
$a, $b = $Node(<i>), $Node(<i>)
$a.next = $b
$b.next = $a if <b> else None
$r = ($Node.made, [n.v for n in $walk($a, 3)])
""",
    defs="""
class $Node:
    made = 0
    def __init__(self, v):
        type(self).made += 1
        self.v, self.next, self.id = v, None, $Node.made
def $walk(node, limit):
    while node is not None and limit:
        yield node
        node, limit = node.next, limit - 1
""",
    outs="r:o",
)
idiom(
    "attribute that comes and goes",
    """
if hasattr($o, 'extra'):
    $r = $o.extra + <t>
    del $o.extra
else:
    $o.extra = <t>
    $r = <t>
""",
    defs="""
class $O: pass
$o = $O()
""",
    outs="r:t",
)
idiom(
    "method replaced on the instance",
    """
$r = $o.go(<t>)
$o.go = (lambda x: x * 10) if <b> else $o.go
$q = $o.go(<t>)
""",
    defs="""
class $O:
    def go(self, x): return x + 1
$o = $O()
""",
    outs="r:t q:t",
)
idiom(
    "list of layers that grows",
    """
$layers.append(lambda x, k=len($layers): x + k)
$r = <t>
for $f in $layers:
    $r = $f($r)
""",
    defs="$layers = []",
    outs="r:t",
)
idiom(
    "tensor in a closure updated",
    """
$r = $step(<t>)
$total = $peek()
""",
    defs="""
def $make():
    total, seen = torch.zeros(1), 0
    def step(x):
        nonlocal total, seen
        total = total + x.sum()
        seen += x.numel()
        return total / seen
    def peek():
        return total, seen
    return step, peek
$step, $peek = $make()
""",
    outs="r:t total:o",
    weight=1.2,
)
idiom(
    "buffer written in place",
    """
$buf[$pos[0] % 4] = <x>.sum()
$pos[0] += 1
$r = $buf * 1
$v = $buf[: $pos[0] % 5]
""",
    defs="$buf, $pos = torch.zeros(4), [0]",
    outs="r:t v:t",
    weight=1.2,
)
idiom(
    "memo with exception",
    """
try:
    $r = $memo(<i>)
except KeyError as $e:
    $r = $e.args
""",
    defs="""
$store = {1: 'one'}
def $memo(n):
    try:
        return $store[n]
    except KeyError:
        $store[n] = str(n) * 2
        raise
""",
    outs="r:o",
)
idiom(
    "property with a setter and memory",
    """
$o.level = <i>
$o.level += 1
$r = ($o.level, $o.writes)
""",
    defs="""
class $O:
    writes = 0
    _level = 0
    @property
    def level(self): return self._level
    @level.setter
    def level(self, v):
        self.writes += 1
        self._level = v if v < 5 else 5
$o = $O()
""",
    outs="r:ti",
)
idiom(
    "slots with state",
    """
$p.x, $p.n = <t>, $p.n + 1
try:
    $p.z = 1
except AttributeError as $e:
    $why = type($e).__name__
$r = $p.x * $p.n
""",
    defs="""
class $P:
    __slots__ = ('x', 'n')
    def __init__(self): self.n = 0
$p = $P()
""",
    outs="r:t",
)
idiom(
    "dataclass with state",
    """
$s.push(<t>)
$t2 = dataclasses.replace($s, name=<s>)
$r = ($s == $t2, len($t2.items), $t2.items is $s.items, $s.name)
""",
    defs="""
@dataclasses.dataclass
class $S:
    name: str = 'n'
    items: list = dataclasses.field(default_factory=list)
    def push(self, v):
        self.items.append(v)
        del self.items[:-3]
$s = $S()
""",
    outs="r:o",
)
