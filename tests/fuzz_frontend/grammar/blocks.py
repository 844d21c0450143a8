"""Idioms around `with` and `try`: managers, modes, exceptions as values, chains."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "class manager",
    """
with $CM(<s>) as $m:
    $log.append($m.tag)
    <block>
$r = list($log)
""",
    defs="""
$log = []
class $CM:
    def __init__(self, tag): self.tag = tag
    def __enter__(self):
        $log.append('in')
        return self
    def __exit__(self, kind, value, tb):
        $log.append(kind.__name__ if kind else 'out')
        return False
""",
    outs="r:o",
    weight=1.5,
)
idiom(
    "swallowing manager",
    """
$r = 0
with $CM():
    $r = 1
    $q = <i> // <ci>
    $r = 2
    raise ValueError(<i>)
""",
    defs="""
class $CM:
    last = None
    def __enter__(self): return 5
    def __exit__(self, kind, value, tb):
        $CM.last = str(value)
        return kind is not None
""",
    outs="r:i",
)
idiom(
    "contextmanager",
    """
with $deeper(<i>) as $d:
    <block|$d:i>
$r = list($trail)
""",
    defs="""
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
""",
    outs="r:li",
    weight=1.5,
)
idiom(
    "contextmanager catching",
    """
with $guard():
    $r = <i>
    <block>
    [][<i>]
""",
    defs="""
$caught = []
@contextlib.contextmanager
def $guard():
    try:
        yield
    except (IndexError, ZeroDivisionError) as e:
        $caught.append(type(e).__name__)
""",
    outs="",
)
idiom(
    "manager created early",
    """
$ctx = torch.no_grad()
$y = <t> * 2
<block>
with $ctx:
    $z = <t> * 3
$r = ($y.requires_grad, $z.requires_grad, torch.is_grad_enabled())
""",
    outs="y:t z:t r:o",
)
idiom(
    "no_grad decorator",
    "$r = ($h(<t>), torch.is_grad_enabled())",
    defs="""
@torch.no_grad()
def $h(x):
    return x * 2, torch.is_grad_enabled()
""",
    outs="r:o",
)
idiom(
    "exit stack",
    """
with contextlib.ExitStack() as $st:
    $st.callback($log.append, <i>)
    $v = $st.enter_context(contextlib.nullcontext(<i>))
    <block|$v:i>
$r = list($log)
""",
    defs="$log = []",
    outs="r:li",
    weight=0.5,
)
idiom(
    "redirected print",
    """
$buf = io.StringIO()
with contextlib.redirect_stdout($buf):
    print(<i>, <s>)
$r = $buf.getvalue()
""",
    outs="r:s",
    weight=0.4,
)
idiom(
    "grad mode left changed",
    """
torch.set_grad_enabled(<b>)
$r = <t> * 1
torch.set_grad_enabled(True)
""",
    outs="r:t",
    weight=0.5,
)
idiom("grad mode flipped for the caller", "torch.set_grad_enabled(False)", weight=0.1)
idiom(
    "nested with and return",
    "$r = $h(<t>)",
    defs="""
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
""",
    outs="r:t",
)
idiom(
    "custom exception",
    """
try:
    $chk(<i>)
    $r = 'fine'
except $Err as e:
    $r = (e.code, str(e), e.args)
""",
    defs="""
class $Err(ValueError):
    def __init__(self, code, text='bad'):
        super().__init__(text, code)
        self.code = code
def $chk(n):
    if n > <ci>:
        raise $Err(n)
    return n
""",
    outs="r:o",
    weight=1.2,
)
idiom(
    "raise from",
    """
try:
    try:
        <o>.nothing
    except AttributeError as e:
        raise KeyError(<i>) from e
except KeyError as e:
    $r = (type(e.__cause__).__name__, e.__suppress_context__, e.args)
""",
    outs="r:o",
)
idiom(
    "implicit context",
    """
try:
    try:
        {}[<i>]
    except KeyError:
        [][<i>]
except IndexError as e:
    $r = (type(e.__context__).__name__, e.__context__.args, e.__cause__)
""",
    outs="r:o",
)
idiom(
    "exception as value",
    """
$errs = [ValueError(<i>), KeyError(<s>)]
$r = None
try:
    raise $errs[<b>]
except (ValueError, KeyError) as e:
    $r = e is $errs[0]
""",
    outs="errs:o r:o",
)
idiom(
    "exception returned",
    """
try:
    int(<s> + 'x')
except ValueError as e:
    $kept = e
""",
    outs="kept:o",
    weight=0.5,
)
idiom(
    "else and finally order",
    """
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
""",
    outs="log:o",
)
idiom(
    "return in finally",
    "$r = $h(<b>)",
    defs="""
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
""",
    outs="r:s",
)
idiom(
    "reraise",
    """
try:
    $h(<i>)
except Exception as e:
    $r = (type(e).__name__, str(e))
""",
    defs="""
$log = []
def $h(n):
    try:
        return 10 // n + [1, 2][n]
    except ZeroDivisionError:
        $log.append('zero')
        raise
    except IndexError as e:
        raise RuntimeError('wrapped') from e
""",
    outs="r:o",
)
idiom(
    "exception group",
    """
try:
    raise ExceptionGroup('g', [ValueError(<i>), KeyError('k')])
except* ValueError as e:
    $r = [str(v) for v in e.exceptions]
except* KeyError:
    pass
""",
    outs="r:o",
    weight=0.2,
)
idiom(
    "exception notes",
    """
try:
    try:
        raise ValueError('v')
    except ValueError as e:
        e.add_note(<s>)
        raise
except ValueError as e:
    $r = e.__notes__
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "escaping exception",
    """
if <b>:
    $log.append(<i>)
    raise $E(<i>, <s>)
""",
    defs="""
$log = []
class $E(Exception): pass
""",
    weight=0.5,
)
idiom(
    "name cleared after except",
    """
$e = 'before'
try:
    raise ValueError(1)
except ValueError as $e:
    pass
try:
    $r = $e
except UnboundLocalError as err:
    $r = str(err)
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "data-dependent error",
    """
try:
    $r = torch.index_select(<x>, 0, torch.tensor([<ci>])) + 1
except (IndexError, RuntimeError) as e:
    $r = <t>
""",
    outs="r:t",
)
idiom(
    "shape error",
    """
try:
    $r = <x> @ torch.ones(7, 2)
except RuntimeError as e:
    $r = type(e).__name__
""",
    outs="r:o",
)
idiom(
    "assert message",
    """
try:
    assert <i> > <i>, (<s>, <i>)
    $r = 1
except AssertionError as e:
    $r = e.args
""",
    outs="r:o",
)
idiom(
    "lookup errors",
    """
$r = []
for $fn in (lambda: <li>[<i>], lambda: <di>[<s>], lambda: <li>.index(<i>), lambda: <ti>[<i>], lambda: next(iter(<li>))):
    try:
        $r.append($fn())
    except Exception as e:
        $r.append((type(e).__name__, str(e)))
""",
    outs="r:o",
)
idiom(
    "type errors",
    """
$r = []
for $fn in (lambda: <o> + <o>, lambda: <o> < <o>, lambda: len(<o>), lambda: <o>[0], lambda: -<o>, lambda: <o>(), lambda: iter(<o>)):
    try:
        $v = $fn()
        $r.append($v if isinstance($v, (int, str, float)) else type($v).__name__)
    except Exception as e:
        $r.append(type(e).__name__)
""",
    outs="r:o",
    weight=1.2,
)
