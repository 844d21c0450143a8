"""Idioms around functions: defaults, closures, partials, decorators, generators, context managers, exceptions."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

# Defaults and closures -------------------------------------------------------------------------------------------
idiom("mutable default", "$r = list($h(<i>))", defs="""
def $h(v, acc=[]):
    acc.append(v)
    return acc
""", outs="r:li", weight=1.5)
idiom("mutable default returned", "$r = $h(<i>)", defs="""
def $h(v, acc=[<ci>]):
    acc.append(v)
    return acc
""", outs="r:li")
idiom("mutable default dict", "$r = $h(<key>, <t>)", defs="""
def $h(k, x, seen={}):
    seen[k] = seen.get(k, 0) + 1
    return x * seen[k]
""", outs="r:t")
idiom("mutable keyword default", "$r = $h(<t>, by=<i>) if <b> else $h(<t>)", defs="""
def $h(x, *, by=1, log=[]):
    log.append(by)
    return x + len(log) * by
""", outs="r:t")
idiom("rewritten defaults", """
$r = $h(<t>)
$h.__defaults__ = (<i>,)
$q = $h(<t>)
""", defs="""
def $h(x, k=1):
    return x * k
""", outs="r:t q:t", weight=0.5)
idiom("function attribute", """
$h.calls += 1
$r = $h(<t>)
""", defs="""
def $h(x):
    return x + $h.calls
$h.calls = 0
""", outs="r:t")
idiom("closure counter", """
$r = $c()
$q = $c() + <i>
""", defs="""
def $mk(k):
    n = k
    def tick(by=1):
        nonlocal n
        n += by
        return n
    return tick
$c = $mk(<ci>)
""", outs="r:i q:i", weight=1.5)
idiom("fresh closure", """
$mk = <i>
def $tick():
    nonlocal $mk
    $mk += <ci>
    return $mk
$r = [$tick(), $tick()]
""", outs="r:li mk:i")
idiom("late binding closures", """
$fs = [lambda v: v + k for k in range(3)]
$gs = []
for $k in <li>[:3]:
    $gs.append(lambda v, q=$k: v * q + $k)
$r = [g(<i>) for g in $fs + $gs]
""", outs="r:li")
idiom("closure over tensor", """
$w = <t>
def $scale(v):
    return v * $w
$r = $scale(<t>)
$w = <t>
$q = $scale(<t>)
""", outs="r:t q:t")
idiom("returned closure", """
def $adder(k):
    return lambda v: v + k
$a, $b = $adder(<i>), $adder(<f>)
$r = $a(<t>) + $b(<t>)
""", outs="r:t a:o")
idiom("recursion", "$r = $rec(<i> % 5, <t>)", defs="""
def $rec(n, x):
    if n <= 0:
        return x
    return $rec(n - 1, x + n) * 2
""", outs="r:t")
idiom("mutual recursion", "$r = $even(<i> % 6)", defs="""
def $even(n):
    return True if n == 0 else $odd(n - 1)
def $odd(n):
    return False if n == 0 else $even(n - 1)
""", outs="r:b")
idiom("varargs", "$r = $va(<t>, *<li>, k=<i>, **<di>)", defs="""
def $va(x, *args, k=2, **kw):
    return x * len(args) + k, sorted(kw), args
""", outs="r:o")
idiom("varargs forwarding", "$r = $outer(<i>, <f>, c=<i>)", defs="""
def $inner(a, b=2, /, *, c=3, d=4):
    return (a, b, c, d)
def $outer(*args, **kw):
    return $inner(*args, **kw) + (len(args), type(args).__name__, type(kw).__name__)
""", outs="r:o")
idiom("bad call", """
try:
    $r = $h(<i>, <i>, <i>)
except TypeError as e:
    $r = str(e)
""", defs="""
def $h(a, b=1):
    return a + b
""", outs="r:o")
idiom("bad keyword", """
try:
    $r = $h(<i>, z=<i>)
except TypeError as e:
    $r = e.args
""", defs="""
def $h(a, *, k):
    return a + k
""", outs="r:o")
idiom("lambda table", """
$ops = {'add': lambda a, b: a + b, 'mul': operator.mul, 'sub': lambda a, b: a - b}
$r = [fn(<t>, <f>) for fn in $ops.values()]
$q = $ops['add'](<i>, <i>)
""", outs="r:lt q:i")
idiom("function as argument", "$r = $ap(lambda v: v + <ai>, <t>)", defs="""
def $ap(fn, x, times=2):
    for _ in range(times):
        x = fn(x)
    return x
""", outs="r:t")
idiom("unbound local", """
try:
    $r = $h(<b>)
except UnboundLocalError as e:
    $r = (type(e).__name__, e.args)
""", defs="""
def $h(flag):
    if flag:
        value = 1
    return value
""", outs="r:o")
idiom("free variable empty", """
def $h():
    return $later
try:
    $r = $h()
except NameError as e:
    $r = str(e)
$later = <i>
$q = $h()
""", outs="r:o q:i")
idiom("global counter", """
$r = $bump(<i>)
$q = <t> * $total
""", defs="""
$total = <ci>
def $bump(by):
    global $total
    $total += by
    return $total
""", outs="r:i q:t", weight=1.5)
idiom("global list", """
$log.append(<i>)
$r = len($log)
""", defs="$log = []", outs="r:i log:li")
idiom("global dict", """
$reg[<key>] = $reg.get(<key>, 0) + 1
$r = dict($reg)
""", defs="$reg = {'a': 1}", outs="r:di reg:di")
idiom("global tensor", """
$gt.add_(<ci>)
$r = <t> + $gt
""", defs="$gt = torch.zeros(1)", outs="r:t")
idiom("globals item", """
globals()['$gi'] = <i>
$r = $gi
""", defs="$gi = 0", outs="r:i", weight=0.7)
idiom("global deleted and set", """
$r = $gd
globals().pop('$gd')
try:
    $q = $gd
except NameError as e:
    $q = str(e)
globals()['$gd'] = <i>
""", defs="$gd = 1", outs="r:i q:o", weight=0.3)
idiom("function identity", """
def $a(): return <i>
$b = $a
$r = ($a is $b, $a == $b, $a.__name__, $a.__qualname__, callable($a))
$s = {$a: 1}[$b]
""", outs="r:o s:i")
idiom("inspect bits", """
$r = ($h.__name__, $h.__defaults__, $h.__kwdefaults__, $h.__code__.co_varnames, $h.__doc__)
""", defs="""
def $h(a, b=<ci>, *, c=<cs>):
    "Text."
    return a
""", outs="r:o")

# functools -------------------------------------------------------------------------------------------------------
idiom("partial", """
$p = functools.partial($h, <i>, c=<i>)
$r = $p(<t>)
$q = ($p.args, $p.keywords, $p.func is $h)
""", defs="""
def $h(a, x, b=1, *, c=2):
    return x * a + b - c
""", outs="r:t q:o")
idiom("partial returned", "$p = functools.partial(operator.add, <i>)", outs="p:o", weight=0.5)
idiom("nested partial", """
$p = functools.partial(functools.partial(pow, <ci>), 2)
$r = ($p(), $p.args, type($p.args).__name__)
""", outs="r:o")
idiom("partial mutated", """
$p = functools.partial($h, k=<i>)
$a = $p(<i>)
$p.keywords['k'] = <i>
$r = ($a, $p(<i>))
""", defs="""
def $h(a, k=0):
    return a * 10 + k
""", outs="r:o", weight=0.5)
idiom("partialmethod", """
$r = $K().double(<t>)
""", defs="""
class $K:
    def scale(self, x, by=1):
        return x * by
    double = functools.partialmethod(scale, by=<ci>)
""", outs="r:t")
idiom("lru cache", """
$r = [$h(<i>), $h(<i>), $h(1)]
$q = $h.cache_info().misses
""", defs="""
$seen = []
@functools.lru_cache(maxsize=None)
def $h(n):
    $seen.append(n)
    return n * n + 1
""", outs="r:li q:i")
idiom("wraps decorator", """
$r = $h(<t>, <i>)
$q = ($h.__name__, $h.__wrapped__.__name__, $calls[-1])
""", defs="""
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
""", outs="r:t q:o")
idiom("decorator with arguments", "$r = $h(<t>)", defs="""
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
""", outs="r:t")
idiom("decorator in function", """
def $deco(fn):
    def run(*a):
        return fn(*a) + <ci>
    return run
@$deco
def $h(v):
    return v * 2
$r = $h(<t>)
""", outs="r:t")
idiom("singledispatch", "$r = [$h(<i>), $h(<s>), $h(<f>)]", defs="""
@functools.singledispatch
def $h(v):
    return 'other'
@$h.register
def _(v: int):
    return v + 1
@$h.register
def _(v: str):
    return v.upper()
""", outs="r:o", weight=0.6)
idiom("cached property", """
$o = $K(<i>)
$r = ($o.v, $o.v, $K.hits)
""", defs="""
class $K:
    hits = 0
    def __init__(self, n): self.n = n
    @functools.cached_property
    def v(self):
        $K.hits += 1
        return self.n * 2
""", outs="r:o o:o")
idiom("reduce with side effects", """
$log = []
$r = functools.reduce(lambda a, b: ($log.append(a), a + b)[1], <li>, <i>)
""", outs="r:i log:li")
idiom("cmp_to_key", "$r = sorted(<li>, key=functools.cmp_to_key(lambda a, b: b - a))", outs="r:li", weight=0.6)
idiom("sort key with side effects", """
$log = []
def $key(e):
    $log.append(e)
    return -e
$r = sorted(<li>, key=$key)
""", outs="r:li log:li")
idiom("operator getters", """
$r = sorted([(<i>, 'a'), (<i>, 'b'), (1, 'c')], key=operator.itemgetter(0))
$q = operator.itemgetter(1, 0)(<ti> + (1, 2))
$s = operator.attrgetter('shape')(<x>)
$u = operator.methodcaller('upper')(<s>)
""", outs="r:o q:o u:s")
idiom("total ordering", "$r = ($V(<i>) < $V(<i>), $V(1) >= $V(<i>), sorted([$V(3), $V(1)])[0].n)", defs="""
@functools.total_ordering
class $V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
""", outs="r:o", weight=0.6)

# Generators ------------------------------------------------------------------------------------------------------
idiom("lazy generator log", """
$g = $gen(<t>)
$r = [next($g), next($g)]
""", defs="""
$log = []
def $gen(x):
    for i in range(4):
        $log.append(i)
        yield x + i
    $log.append('end')
""", outs="r:lt", weight=1.5)
idiom("generator returned", "$g = $gen(<t>)", defs="""
def $gen(x):
    yield x + 1
    got = yield x.sum()
    yield got
""", outs="g:o", weight=0.7)
idiom("generator partly used and returned", """
$g = (e * 2 for e in <li> + [1, 2])
$r = next($g)
""", outs="g:o r:i")
idiom("generator send", """
$g = $gen(<i>)
$r = [next($g), $g.send(<i>), $g.send(<i>)]
$g.close()
""", defs="""
$log = []
def $gen(total):
    try:
        while True:
            got = yield total
            total += got
    finally:
        $log.append(total)
""", outs="r:li")
idiom("generator throw", """
$g = $gen()
next($g)
try:
    $r = $g.throw(ValueError('in'))
except RuntimeError as e:
    $r = (str(e), type(e.__cause__).__name__)
""", defs="""
def $gen():
    try:
        yield 1
    except ValueError as e:
        if <cf> > 0:
            yield 'caught ' + str(e)
        raise RuntimeError('out') from e
""", outs="r:o")
idiom("yield from", """
$g = $outer(<li>)
$r = list($g)
""", defs="""
def $inner(items):
    for i in items:
        yield i * 2
    return len(items)
def $outer(items):
    n = yield from $inner(items)
    yield n
    yield from (1, 2)
""", outs="r:li")
idiom("yield from send", """
$g = $outer()
$r = [next($g), $g.send(<i>), $g.send(<s>), next($g, 'end')]
""", defs="""
def $inner():
    a = yield 'first'
    b = yield a
    return (a, b)
def $outer():
    r = yield from $inner()
    yield r
""", outs="r:o")
idiom("generator return value", """
$g = $gen(<i>)
$r = next($g)
try:
    next($g)
except StopIteration as e:
    $q = e.value
""", defs="""
def $gen(n):
    yield n
    return n * 10
""", outs="r:i q:i")
idiom("generator finally order", """
$log.clear()
for $v in $gen():
    $log.append($v)
    if $v >= <ci>:
        break
$log.append('after')
""", defs="""
$log = []
def $gen():
    try:
        for i in range(3):
            yield i
    finally:
        $log.append('closed')
""", outs="log:o")
idiom("generator shared by two loops", """
$g = iter(<li> + [1, 2, 3])
$r = []
for $a in $g:
    $r.append($a)
    if len($r) > 1:
        break
for $a in $g:
    $r.append(-$a)
""", outs="r:li")
idiom("growing list in generator", """
$todo = [<t>]
def $walk():
    for v in $todo:
        if len($todo) < 4:
            $todo.append(v + 1)
        yield v
$r = sum($walk())
""", outs="r:t")
idiom("generator over globals", """
$r = list($gen(2))
$src.append(<i>)
$q = list($gen(3))
""", defs="""
$src = [1]
def $gen(k):
    for e in $src:
        yield e * k
""", outs="r:li q:li")
idiom("generator in any", """
$log = []
def $see(e):
    $log.append(e)
    return e > <ci>
$r = any($see(e) for e in <li>)
$q = all($see(e) for e in <li>)
""", outs="r:b q:b log:li")
idiom("generator expression closure", """
$k = <i>
$g = (e + $k for e in <li>)
$k = <i>
$r = list($g)
""", outs="r:li")
idiom("stop iteration in generator", """
try:
    $r = list($gen(<li>))
except RuntimeError as e:
    $r = (str(e), type(e.__cause__).__name__)
""", defs="""
def $gen(items):
    it = iter(items)
    while True:
        yield next(it)
""", outs="r:o")
idiom("tree walk", "$r = list($walk([<i>, [<i>, [<i>]], <li>]))", defs="""
def $walk(node):
    if isinstance(node, list):
        for child in node:
            yield from $walk(child)
    else:
        yield node
""", outs="r:li")
idiom("generator pipeline", """
$r = list($odd($double(<li>)))
""", defs="""
def $double(items):
    for i in items:
        yield i
        yield i * 2
def $odd(items):
    return (i for i in items if i % 2)
""", outs="r:li")
idiom("generator across a break", """
$g = $gen(<i>)
$a = next($g)
print($a)
$r = [$a, next($g, None), $g.send(5) if <b> else 0]
""", defs="""
def $gen(n):
    got = yield n
    yield got
    yield n + 1
""", outs="r:o")
idiom("iterators kept", """
$it = iter(<li> + [1])
next($it)
$z = zip(<li>, 'ab')
$m = map(lambda e: e + 1, <li>)
$en = enumerate(<ls>, <ci>)
""", outs="it:o z:o m:o en:o", weight=0.8)
idiom("iterator state", """
$it = itertools.count(<i>, 2)
$cy = itertools.cycle([1, 2])
$r = [next($it), next($it), next($cy), next($cy), next($cy)]
""", outs="r:li it:o")
idiom("tee and chain", """
$a, $b = itertools.tee(<li>)
$r = [list($a), list(itertools.chain($b, <ti>))]
""", outs="r:o")
idiom("iter with sentinel", """
$stack = [<i>, 0, <i>]
$r = list(iter($stack.pop, 0))
""", outs="r:li stack:li", weight=0.6)
idiom("zip strict", """
try:
    $r = list(zip(<li>, <ti>, strict=True))
except ValueError as e:
    $r = str(e)
""", outs="r:o")

# Context managers ------------------------------------------------------------------------------------------------
idiom("class manager", """
with $CM(<s>) as $m:
    $log.append($m.tag)
    <block>
$r = list($log)
""", defs="""
$log = []
class $CM:
    def __init__(self, tag): self.tag = tag
    def __enter__(self):
        $log.append('in')
        return self
    def __exit__(self, kind, value, tb):
        $log.append(kind.__name__ if kind else 'out')
        return False
""", outs="r:o", weight=1.5)
idiom("swallowing manager", """
$r = 0
with $CM():
    $r = 1
    $q = <i> // <ci>
    $r = 2
    raise ValueError(<i>)
""", defs="""
class $CM:
    last = None
    def __enter__(self): return 5
    def __exit__(self, kind, value, tb):
        $CM.last = str(value)
        return kind is not None
""", outs="r:i")
idiom("contextmanager", """
with $deeper(<i>) as $d:
    <block|$d:i>
$r = list($trail)
""", defs="""
$depth, $trail = 0, []
@contextlib.contextmanager
def $deeper(by=1):
    global $depth
    $depth += by
    try:
        yield $depth
    finally:
        $trail.append($depth)
        $depth -= by
""", outs="r:li", weight=1.5)
idiom("contextmanager catching", """
with $guard():
    $r = <i>
    <block>
    [][<i>]
""", defs="""
$caught = []
@contextlib.contextmanager
def $guard():
    try:
        yield
    except (IndexError, ZeroDivisionError) as e:
        $caught.append(type(e).__name__)
""", outs="")
idiom("manager created early", """
$ctx = torch.no_grad()
$y = <t> * 2
<block>
with $ctx:
    $z = <t> * 3
$r = ($y.requires_grad, $z.requires_grad, torch.is_grad_enabled())
""", outs="y:t z:t r:o")
idiom("no_grad decorator", "$r = ($h(<t>), torch.is_grad_enabled())", defs="""
@torch.no_grad()
def $h(x):
    return x * 2, torch.is_grad_enabled()
""", outs="r:o")
idiom("exit stack", """
with contextlib.ExitStack() as $st:
    $st.callback($log.append, <i>)
    $v = $st.enter_context(contextlib.nullcontext(<i>))
    <block|$v:i>
$r = list($log)
""", defs="$log = []", outs="r:li", weight=0.5)
idiom("redirected print", """
$buf = io.StringIO()
with contextlib.redirect_stdout($buf):
    print(<i>, <s>)
$r = $buf.getvalue()
""", outs="r:s", weight=0.4)
idiom("grad mode left changed", """
torch.set_grad_enabled(<b>)
$r = <t> * 1
torch.set_grad_enabled(True)
""", outs="r:t", weight=0.5)
idiom("grad mode flipped for the caller", "torch.set_grad_enabled(False)", weight=0.1)
idiom("nested with and return", "$r = $h(<t>)", defs="""
$log = []
class $CM:
    def __enter__(self): $log.append('+')
    def __exit__(self, *a): $log.append('-')
def $h(x):
    with $CM():
        for i in range(3):
            with $CM(), torch.no_grad():
                if i == 1:
                    return x + i
""", outs="r:t")

# Exceptions ------------------------------------------------------------------------------------------------------
idiom("custom exception", """
try:
    $chk(<i>)
    $r = 'fine'
except $Err as e:
    $r = (e.code, str(e), e.args)
""", defs="""
class $Err(ValueError):
    def __init__(self, code, text='bad'):
        super().__init__(text, code)
        self.code = code
def $chk(n):
    if n > <ci>:
        raise $Err(n)
    return n
""", outs="r:o", weight=1.2)
idiom("raise from", """
try:
    try:
        <o>.nothing
    except AttributeError as e:
        raise KeyError(<i>) from e
except KeyError as e:
    $r = (type(e.__cause__).__name__, e.__suppress_context__, e.args)
""", outs="r:o")
idiom("implicit context", """
try:
    try:
        {}[<i>]
    except KeyError:
        [][<i>]
except IndexError as e:
    $r = (type(e.__context__).__name__, e.__context__.args, e.__cause__)
""", outs="r:o")
idiom("exception as value", """
$errs = [ValueError(<i>), KeyError(<s>)]
$r = None
try:
    raise $errs[<b>]
except (ValueError, KeyError) as e:
    $r = e is $errs[0]
""", outs="errs:o r:o")
idiom("exception returned", """
try:
    int(<s> + 'x')
except ValueError as e:
    $kept = e
""", outs="kept:o", weight=0.5)
idiom("else and finally order", """
$log = []
for $k in range(3):
    try:
        if $k == <ci>:
            raise ValueError($k)
        if $k == 2:
            continue
    except ValueError as e:
        $log.append(('caught', e.args))
    else:
        $log.append(('else', $k))
    finally:
        $log.append(('finally', $k))
""", outs="log:o")
idiom("return in finally", "$r = $h(<b>)", defs="""
def $h(flag):
    try:
        if flag:
            raise ValueError
        return 'try'
    except ValueError:
        return 'except'
    finally:
        if <cf> < 0:
            return 'finally'
""", outs="r:s")
idiom("reraise", """
try:
    $h(<i>)
except Exception as e:
    $r = (type(e).__name__, str(e))
""", defs="""
$log = []
def $h(n):
    try:
        return 10 // n + [1, 2][n]
    except ZeroDivisionError:
        $log.append('zero')
        raise
    except IndexError as e:
        raise RuntimeError('wrapped') from e
""", outs="r:o")
idiom("exception group", """
try:
    raise ExceptionGroup('g', [ValueError(<i>), KeyError('k')])
except* ValueError as e:
    $r = [str(v) for v in e.exceptions]
except* KeyError:
    pass
""", outs="r:o", weight=0.2)
idiom("exception notes", """
try:
    try:
        raise ValueError('v')
    except ValueError as e:
        e.add_note(<s>)
        raise
except ValueError as e:
    $r = e.__notes__
""", outs="r:o", weight=0.4)
idiom("escaping exception", """
if <b>:
    $log.append(<i>)
    raise $E(<i>, <s>)
""", defs="""
$log = []
class $E(Exception): pass
""", weight=0.5)
idiom("name cleared after except", """
$e = 'before'
try:
    raise ValueError(1)
except ValueError as $e:
    pass
try:
    $r = $e
except UnboundLocalError as err:
    $r = str(err)
""", outs="r:o", weight=0.4)
idiom("data-dependent error", """
try:
    $r = torch.index_select(<x>, 0, torch.tensor([<ci>])) + 1
except (IndexError, RuntimeError) as e:
    $r = <t>
""", outs="r:t")
idiom("shape error", """
try:
    $r = <x> @ torch.ones(7, 2)
except RuntimeError as e:
    $r = type(e).__name__
""", outs="r:o")
idiom("assert message", """
try:
    assert <i> > <i>, (<s>, <i>)
    $r = 1
except AssertionError as e:
    $r = e.args
""", outs="r:o")
idiom("lookup errors", """
$r = []
for $fn in (lambda: <li>[<i>], lambda: <di>[<s>], lambda: <li>.index(<i>), lambda: <ti>[<i>], lambda: next(iter(<li>))):
    try:
        $r.append($fn())
    except Exception as e:
        $r.append((type(e).__name__, str(e)))
""", outs="r:o")
idiom("type errors", """
$r = []
for $fn in (lambda: <o> + <o>, lambda: <o> < <o>, lambda: len(<o>), lambda: <o>[0], lambda: -<o>, lambda: <o>(), lambda: iter(<o>)):
    try:
        $v = $fn()
        $r.append($v if isinstance($v, (int, str, float)) else type($v).__name__)
    except Exception as e:
        $r.append(type(e).__name__)
""", outs="r:o", weight=1.2)
