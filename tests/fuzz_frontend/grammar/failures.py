"""Operators that fail for their data, in every place where what came before them, or comes after, can be seen."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import expressions, idiom

# `bad` is a tensor expression that may fail only when it runs
expressions(
    "bad",
    """
torch.linalg.inv(torch.eye(2) * <i>)
torch.linalg.cholesky(torch.eye(2) * <i>)
torch.linalg.solve(torch.eye(2) * <ci>, torch.ones(2) * <f>)
torch.inverse(torch.ones(2, 2) * <i>)
torch.index_select(<t>.reshape(-1), 0, torch.tensor([<i>]))
<t>.reshape(-1)[torch.tensor([<ci>])]
torch.gather(<t>.reshape(-1), 0, torch.tensor([<i>]))
torch.take(<t>, torch.tensor([<i>]))
<t>.reshape(-1).index_add(0, torch.tensor([<ci>]), torch.ones(1))
<t>.reshape(-1).scatter(0, torch.tensor([<i>]), 1.0)
torch.tensor([1, 2]) // torch.tensor([<i>, 1])
torch.tensor([5, 4]) % <i>
<ci> // torch.tensor([1, <i>])
torch.fmod(torch.tensor([3]), torch.tensor([<i>]))
torch.tensor([7]).remainder(torch.tensor([<i>]))
F.one_hot(torch.tensor([<i>, 0]), 3)
F.embedding(torch.tensor([<i>]), torch.ones(3, 2))
F.cross_entropy(torch.ones(1, 3), torch.tensor([<i>]))
F.nll_loss(torch.zeros(1, 3), torch.tensor([<ci>]))
F.binary_cross_entropy(torch.tensor([<f>]), torch.tensor([1.0]))
torch.bernoulli(torch.full((2,), <f>))
torch.multinomial(torch.tensor([1.0, <f>]), 1)
torch.bincount(torch.tensor([<i>, 1]))
torch.repeat_interleave(torch.ones(2), torch.tensor([<i>, 1]))
torch.masked_select(<t>, <t> > <f>)
torch.normal(torch.zeros(2), torch.full((2,), <f>))
torch.nn.functional.max_unpool1d(torch.ones(1, 1, 2), torch.tensor([[[0, <i>]]]), 2)
""",
)
expressions(
    "t",
    """
! <bad>
! <t> + <bad>.sum()
! torch.ones(2) * <bad>.to(torch.float32).mean()
""",
)

idiom("failing operator", "$r = <bad>", outs="r:t", weight=2)
idiom(
    "failing after visible steps",
    """
$log.append(<i>)
print(<s>)
$r = <x> * 2
$log.append('computed')
$r = <bad> + 0
$log.append('passed')
""",
    defs="$log = []",
    outs="r:t",
    weight=2,
)
idiom(
    "failing in try",
    """
$said = []
try:
    $said.append('try')
    $r = <bad>
    $said.append('passed')
    <block>
except (RuntimeError, IndexError, ZeroDivisionError, ValueError) as $e:
    $said.append(type($e).__name__)
    $r = <t>
else:
    $said.append('else')
finally:
    $said.append('finally')
""",
    outs="r:t said:ls",
    weight=2.5,
)
idiom(
    "failing in handler",
    """
try:
    try:
        raise KeyError(<s>)
    except KeyError:
        $tries.append(1)
        $r = <bad>
except Exception as $e:
    $r = (type($e).__name__, type($e.__context__).__name__, $e.__cause__)
""",
    defs="$tries = []",
    outs="r:o",
)
idiom(
    "failing in finally",
    """
try:
    try:
        $seen.append(<i>)
        <block>
    finally:
        $seen.append('finally')
        $r = <bad>
except Exception as $e:
    $seen.append(type($e).__name__)
""",
    defs="$seen = []",
)
idiom(
    "failing in a loop",
    """
$done = []
for $k in range(3):
    try:
        $done.append(torch.index_select(<x>.reshape(-1), 0, torch.tensor([$k])) * 2)
    except IndexError as $e:
        $done.append(str($e)[:5])
        continue
    finally:
        $count['n'] = $count.get('n', 0) + 1
""",
    defs="$count = {}",
    outs="done:o",
    weight=1.5,
)
idiom(
    "failing behind a change of the input",
    """
<x>.add_(1)
$log.append(1)
try:
    $r = <bad> + <x>.sum()
except Exception as $e:
    $r = type($e).__name__
    <x>.mul_(2)
""",
    defs="$log = []",
    outs="r:o",
    weight=1.5,
)
idiom(
    "failing before a change of the input",
    """
try:
    $r = <bad>
    <x>.sub_(1)
    $flags['changed'] = True
except Exception:
    $r = <x> * 3
    $flags['failed'] = True
""",
    defs="$flags = {}",
    outs="r:t",
    weight=1.5,
)
idiom(
    "failing between random numbers",
    """
$a = torch.rand(2)
$log.append($a.shape)
try:
    $b = <bad>
except Exception as $e:
    $b = torch.rand(1)
$c = F.dropout(torch.ones(3), 0.5)
""",
    defs="$log = []",
    outs="a:t b:t c:t",
    weight=1.2,
)
idiom(
    "failing in a manager",
    """
with $CM(), contextlib.suppress(ZeroDivisionError):
    $r = <x> + 1
    $q = <bad>
    $CM.log.append('passed')
""",
    defs="""
class $CM:
    log = []
    def __enter__(self):
        $CM.log.append('+')
        return self
    def __exit__(self, kind, value, tb):
        $CM.log.append((kind and kind.__name__, str(value)[:12]))
        return kind is RuntimeError
""",
    weight=1.5,
)
idiom(
    "failing in no_grad",
    """
$w = torch.ones(2, requires_grad=True)
try:
    with torch.no_grad():
        $y = $w * 2
        $z = <bad>
except Exception as $e:
    pass
$r = ($w * 3).requires_grad, torch.is_grad_enabled()
""",
    outs="r:o w:t",
)
idiom(
    "failing in a method",
    """
try:
    $r = $box.step(<t>)
except Exception as $e:
    $r = ($e.__class__.__name__, $box.n, len($box.kept))
""",
    defs="""
class $Box:
    def __init__(self):
        self.n, self.kept = 0, []
    def step(self, x):
        self.n += 1
        y = x * self.n
        self.kept.append(y)
        z = torch.index_select(y.reshape(-1), 0, torch.tensor([self.n]))
        self.n += 10
        return z
$box = $Box()
""",
    outs="r:o",
    weight=1.5,
)
idiom(
    "failing in a generator",
    """
$it = $parts(<t>, $log)
$r = []
try:
    for $v in $it:
        $r.append($v)
except Exception as $e:
    $r.append(type($e).__name__)
$r.append(len($log))
""",
    defs="""
$log = []
def $parts(x, log):
    try:
        for k in range(4):
            log.append(k)
            yield x.reshape(-1)[torch.tensor([k])] + k
    finally:
        log.append('closed')
""",
    outs="r:o",
)
idiom(
    "error from a helper with context",
    """
try:
    $r = $wrap(<i>)
except ValueError as $e:
    $r = (str($e), type($e.__cause__).__name__, $e.__suppress_context__, getattr($e, '__notes__', None))
""",
    defs="""
def $wrap(n):
    try:
        return torch.tensor([1, 2]) // torch.tensor([n, 1])
    except RuntimeError as e:
        new = ValueError('wrapped', n)
        new.add_note('n=' + str(n))
        raise new from e
""",
    outs="r:o",
)
