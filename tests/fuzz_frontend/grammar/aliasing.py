"""Identity of results with inputs, views and what is changed through them, one object in several containers; autograd."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "identity of results",
    """
$y = <x>
$z = $y.view_as($y)
$w = $y.contiguous()
$r = [$y is <x>, $z is $y, $w is $y, $y.to(torch.float32) is $y, $y.detach() is $y, $y.data is $y]
""",
    outs="z:t w:t r:o",
    weight=1.2,
)
idiom(
    "in-place returns its self",
    """
$y = <t> * 1
$z = $y.add_(1)
$y += 1
$r = ($z is $y, $y.mul_(2) is $z)
""",
    outs="y:t z:t r:o",
)
idiom(
    "views of views",
    """
$base = torch.arange(12.0).reshape(3, 4) + <f>
$a = $base[1:]
$b = $a[:, ::2]
$c = $b.t()
$c[0] = <f>
$a.mul_(2)
$b += <i>
$r = ($base.sum(), $c.stride(), $b.storage_offset(), $c.is_contiguous())
""",
    outs="base:t a:t b:t c:t r:o",
    weight=1.3,
)
idiom(
    "parts changed in place",
    """
$base = torch.ones(6) * <f>
$p = $base.chunk(3)
$p[0].zero_()
$q, $s = $base.split([2, 4])
$s[1:] = <f>
$u = $base.unfold(0, 2, 2)
$u[0, 0] = 9.0
""",
    outs="base:t q:t s:t u:t p:o",
)
idiom(
    "expanded and written",
    """
$e = torch.ones(1, 3).expand(2, 3)
try:
    $e.add_(1)
    $r = $e.sum()
except RuntimeError as $x2:
    $r = str($x2)[:20]
""",
    outs="r:o",
)
idiom(
    "one tensor in many places",
    """
$t1 = <t> + 1
$pair = [$t1, $t1]
$d = {'a': $t1, 'b': $pair}
$pair[0].add_(1)
$d['b'][1] = $pair[0] * 2
$r = ($d['a'] is $pair[0], $d['a'] is $pair[1], $t1)
""",
    outs="r:o d:o pair:lt",
)
idiom(
    "argument list holds the argument",
    """
$held = [<x>, <x>[:1], <x> * 1]
$held[0].add_(1)
$held[1].mul_(2)
$r = [h is <x> for h in $held]
""",
    outs="held:lt r:o",
    weight=1.2,
)
idiom(
    "inputs swapped in their container",
    """
$held = <lt>
if len($held) > 1:
    $held[0], $held[-1] = $held[-1], $held[0]
$r = [t is <x> for t in $held]
""",
    outs="r:o",
)
idiom(
    "copies and assignment",
    """
$c = copy.copy(<lt>)
$d = <lt>[:]
$c.append(<t>)
$r = ($c is $d, [a is b for a, b in zip($c, $d)], len($d))
""",
    outs="r:o c:lt",
)
idiom(
    "clone and detach",
    """
$g = torch.ones(2, requires_grad=True)
$h = $g * 2
$k = $h.detach()
$k.add_(1)
$r = ($h.requires_grad, $k.requires_grad, $h.is_leaf, $g.is_leaf, $k._base is None, $h)
""",
    outs="k:t r:o",
)
idiom(
    "backward in the program",
    """
$w = torch.ones(2, requires_grad=True)
$loss = (($w * <x>.detach().sum()) ** 2).sum()
$loss.backward()
$r = $w.grad * 1
$w.grad = None
$q = ($w.grad is None, $loss.requires_grad)
""",
    outs="r:t q:o",
    weight=1.3,
)
idiom(
    "gradient accumulated over calls",
    """
($param * <x>.detach().sum()).sum().backward()
$r = $param.grad.clone()
if <b>:
    $param.grad.zero_()
""",
    defs="$param = torch.ones(2, requires_grad=True)",
    outs="r:t",
)
idiom(
    "step of an optimizer by hand",
    """
$loss = ($param - <f>).pow(2).sum()
($g,) = torch.autograd.grad($loss, [$param])
with torch.no_grad():
    $param.sub_(0.1 * $g)
$r = $param.detach().clone()
""",
    defs="$param = torch.zeros(2, requires_grad=True)",
    outs="r:t",
    weight=1.2,
)
idiom(
    "leaf changed in place",
    """
$leaf = torch.ones(2, requires_grad=True)
try:
    $leaf.add_(1)
except RuntimeError as $e:
    $r = str($e)[:30]
with torch.no_grad():
    $leaf.add_(1)
$leaf.requires_grad_(False)
$q = $leaf.requires_grad
""",
    outs="r:o q:b leaf:t",
)
idiom(
    "grad mode and what is made in it",
    """
$p = torch.ones(2, requires_grad=True)
$made = []
for $on in (True, False, True):
    with torch.set_grad_enabled($on):
        $made.append(($p * 2).requires_grad)
@torch.enable_grad()
def $h(v):
    return (v * 3).requires_grad
with torch.no_grad():
    $made.append($h($p))
$made.append(torch.is_grad_enabled())
""",
    outs="made:o",
)
idiom(
    "written through numpy-like indices",
    """
$y = torch.zeros(3, 3)
$y[0, :] = <f>
$y[:, 1] += 1
$y[[0, 2]] = $y[[2, 0]]
$y[..., -1] *= 2
$y[$y > 1] = -1
$r = $y[1:, :2].sum(0)
""",
    outs="y:t r:t",
)
idiom(
    "stored into an argument's part",
    """
<x>.view(-1)[0] = <f>
$v = <x>[..., :1]
$v.fill_(<ci>)
$r = <x> + 0
""",
    outs="v:t r:t",
)
idiom(
    "metadata of an argument",
    "$r = (<x>.shape, <x>.dtype, <x>.stride(), <x>.ndim, <x>.numel(), <x>.is_contiguous(), <x>.requires_grad, len(<x>.size()), <x>.storage_offset())",
    outs="r:o",
)
idiom(
    "numbers out of tensors",
    """
$i1 = int(<x>.sum().nan_to_num())
$f1 = float(<x>.reshape(-1)[:1].sum().nan_to_num())
$b1 = bool((<x> > 0).any())
$r = [type(v).__name__ for v in ($i1, $f1, $b1, <x>.numel(), <x>.max().item())]
$y = <x> + $i1
""",
    outs="i1:i f1:f b1:b r:ls y:t",
)
idiom(
    "kinds of numeric results",
    """
$vals = [<i> / 1, <i> // 1, <i> * 1.0, True + <i>, <b> & True, <b> | 0, -<b>, round(<f>), round(<f>, 1), abs(<b>), <i> ** 2, divmod(<i>, 2), int(<f>) ^ 1,
         sum([<b>, <b>]), max(<i>, <f>), min(True, <i>), <f> // 1, <f> % 2, 2 ** -1, (<i>).bit_length(), (1 if <b> else 1.0)]
$r = [(type(v).__name__, v) for v in $vals]
""",
    outs="r:o",
    weight=1.3,
)
idiom(
    "formats",
    """
$r = [f'{<i>:>4}|{<f>:.2f}|{<s>!r:^8}|{<b>}', '%s-%d-%r' % (<s>, <i>, <f>), '{0}{1}{0}'.format(<i>, <s>), f'{<i>:+d}{<i>:x}{<i>:#b}',
      str(<li>), repr(<di>), f'{<ti>}', f'{<f>:e}', '{:,}'.format(<i> * 1000), '{a[0]}'.format(a=(<i>,)), f'{<x>.shape}', f'{<i>=}']
""",
    outs="r:ls",
    weight=1.3,
)
