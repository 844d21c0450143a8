"""Idioms around tensors, modules and random state."""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import idiom

idiom(
    "random module",
    "$r = [random.random(), random.randint(1, <ci> % 3 + 9), random.choice([1, 2, 3]), random.uniform(0, 1)]",
    outs="r:o",
    weight=0.9,
)
idiom(
    "random shuffle",
    """
$l = list(range(5))
random.shuffle($l)
$r = <t> + random.randint(1, 100)
""",
    outs="l:li r:t",
    weight=0.7,
)
idiom(
    "random instance",
    """
$g = random.Random(<i>)
$r = [$g.randint(1, 50), $g.random(), $g.sample(range(9), 2)]
""",
    outs="r:o",
)
idiom(
    "global random instance",
    "$r = <t> * $rng.randint(1, 9) + $rng.random()",
    defs="$rng = random.Random(<ci>)",
    outs="r:t",
)
idiom(
    "random seeded",
    """
random.seed(<i>)
$r = random.randint(0, 99)
$s = random.getstate()
$q = random.random()
random.setstate($s)
$w = random.random() == $q
""",
    outs="r:i w:b",
    weight=0.4,
)
idiom("torch random", "$r = torch.rand(2) + torch.randn(2)", outs="r:t", weight=0.8)
idiom(
    "torch random more",
    """
torch.manual_seed(<i> % 100)
$r = [torch.randint(0, 9, (2,)), torch.randperm(3), F.dropout(<x>, 0.5), torch.bernoulli(torch.full((2,), 0.5)), torch.rand_like(<x>)]
""",
    outs="r:o",
    weight=0.6,
)
idiom(
    "torch generator",
    """
$g = torch.Generator().manual_seed(<i> % 50)
$r = torch.rand(2, generator=$g)
""",
    outs="r:t",
    weight=0.4,
)
idiom(
    "module with state",
    """
$r = $net(<x>) + $net(<x>)
""",
    defs="""
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
""",
    outs="r:t",
    weight=1.3,
)
idiom(
    "module lists and dicts",
    "$r = $net(<x>, <s>)",
    defs="""
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
""",
    outs="r:t",
)
idiom(
    "module hooks",
    """
$r = $net(<x>)
$q = len($log)
""",
    defs="""
$log = []
$net = torch.nn.ReLU()
$net.register_forward_hook(lambda m, a, out: ($log.append('post'), out * 2)[1])
$net.register_forward_pre_hook(lambda m, a: $log.append('pre'))
""",
    outs="r:t q:i",
)
idiom(
    "module train mode",
    """
$a = $net(<x>)
$net.eval() if <b> else $net.train()
$r = ($net(<x>), $net.training)
""",
    defs="""
$net = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Identity())
""",
    outs="r:o",
)
idiom(
    "module attribute swap",
    """
$net.act = torch.nn.Tanh() if <b> else torch.nn.ReLU()
$net.scale = <i>
$r = $net(<x>)
""",
    defs="""
class $Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act, self.scale = torch.nn.ReLU(), 1
    def forward(self, x): return self.act(x) * self.scale
$net = $Net()
""",
    outs="r:t",
)
idiom(
    "module getattr and super",
    "$r = $net(<x>)",
    defs="""
class $Base(torch.nn.Module):
    def forward(self, x): return x + self.bias_value
    @property
    def bias_value(self): return <ci>
class $Net($Base):
    def forward(self, x):
        return super().forward(x) * self.helper(2)
    def helper(self, k): return k + len(list(self.parameters()))
$net = $Net()
""",
    outs="r:t",
)
idiom(
    "module in a list",
    """
$r = <x>
for $m in $stack:
    $r = $m($r)
""",
    defs="$stack = [torch.nn.ReLU(), torch.nn.Identity(), lambda v: v + <ci>]",
    outs="r:t",
)
idiom(
    "linear and grad",
    """
$y = $lin(torch.ones(2) * <f>)
$y.sum().backward()
$r = $lin.weight.grad.clone()
""",
    defs="""
$lin = torch.nn.Linear(2, 1)
with torch.no_grad():
    $lin.weight.fill_(0.5); $lin.bias.zero_()
""",
    outs="r:t y:t",
    weight=0.5,
)
idiom(
    "autograd",
    """
$p = torch.ones(2, requires_grad=True)
$y = ($p * <f>).sum()
$g, = torch.autograd.grad($y, $p)
""",
    outs="g:t",
    weight=0.6,
)
idiom(
    "requires grad flow",
    """
$w = torch.full((1,), <f>, requires_grad=True)
$y = <x> * $w
$z = $y.detach() + <t>
with torch.no_grad():
    $u = $w * 2
$r = ($y.requires_grad, $z.requires_grad, $u.requires_grad, $y.is_leaf, $w.is_leaf)
""",
    outs="r:o y:t u:t",
)
idiom(
    "autograd function",
    "$r = $Fn.apply(<x>, <f>)",
    defs="""
class $Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None
""",
    outs="r:t",
    weight=0.7,
)
idiom(
    "views",
    """
$base = <x> * 1
$v = $base[1:]
$w = $base.view(-1)
$v += <f>
$w[0] = <f>
$r = ($base, $v, $w, $base is $w)
""",
    outs="r:o base:t",
)
idiom(
    "view of argument",
    """
$v = <x>[:1]
$v.mul_(2)
$r = $v
""",
    outs="r:t",
)
idiom(
    "output aliases",
    """
$y = <x> + 1
$r = [$y, $y, $y[0:1], $y.view(-1), $y.t() if $y.ndim == 2 else $y, <x>]
""",
    outs="r:o",
)
idiom("input returned", "$r = {'x': <x>, 'again': [<x>], 'part': <x>[..., 0:1]}", outs="r:o", weight=0.7)
idiom(
    "in-place chain",
    """
$y = <x>.clone()
$z = $y
$y += 1
$y.relu_().mul_(<f>)
$z[$z > 1] = 0
$y[0] = <t>.sum()
$r = $y is $z
""",
    outs="y:t r:b",
)
idiom(
    "two dimensional",
    """
$m = torch.arange(6.0).reshape(2, 3) * <f>
$m[0, 1:] = <i>
$r = [$m.t(), $m.sum(0), $m[:, 0], $m @ $m.t(), $m[1], $m[..., -1], $m[None].shape, $m.max(dim=1).values, $m.argmax().item() if <ci> > 2 else 0, torch.einsum('ij->j', $m)]
$a, $b = $m
""",
    outs="r:o a:t m:t",
)
idiom(
    "shapes and dtypes",
    """
$r = (<x>.shape, <x>.size(), <x>.stride(), <x>.dtype, <x>.device, <x>.numel(), tuple(<x>.shape) + (1,), <x>.shape + (1,), <x>.dim(), list(<x>.size()), <x>.element_size(), <x>.is_contiguous())
$n, = <x>.shape[:1]
$q = <t> * $n + $n // 2
""",
    outs="r:o q:t n:i",
)
idiom(
    "shape arithmetic",
    """
$n = <x>.shape[0]
$r = [torch.zeros($n + 1), torch.arange($n), <x>.new_ones($n * 2), <x>.reshape(1, $n), list(range($n)), f'{$n}', $n / 2, $n % 2 == 0, -$n, str($n)]
if $n > <ci>:
    $r.append(<t>)
""",
    outs="r:o n:i",
)
idiom(
    "dtype promotion",
    """
$r = [<x> + 1, <x>.long() + 1, <x>.long() / 2, torch.tensor([True]) + <i>, (<x> > 0) & (<x> < <f>), <x>.to(torch.float64) * <f>, torch.result_type(<x>, <i>), <x>.half().dtype, torch.tensor(<i>) + <f>, <x>.int() // 2, torch.tensor([1, 2]) % 2]
""",
    outs="r:o",
)
idiom(
    "tensor comparisons",
    """
$m = <x> > <f>
$r = [$m.any(), $m.all(), $m.sum(), torch.equal(<x>, <x>), <x>[$m.nonzero().reshape(-1)[:0]], (<x> == <x>).all().item(), torch.allclose(<x>, <x>), <x>.eq(<f>)]
""",
    outs="r:o",
    weight=0.8,
)
idiom(
    "data-dependent branch",
    """
if <x>.sum() > <f>:
    $r = <t> * 2
else:
    $r = <t> - 1
""",
    outs="r:t",
    weight=0.9,
)
idiom(
    "item arithmetic",
    """
$v = <x>.max().item()
$r = (<t> * $v, $v > 1, f'{$v:.1f}', int($v))
""",
    outs="r:o",
    weight=0.7,
)
idiom(
    "nonzero sizes",
    """
$nz = torch.nonzero(<x> > <f>).reshape(-1)
$r = (<x>[$nz], len($nz), $nz.numel() > 1)
""",
    outs="r:o",
    weight=0.4,
)
idiom(
    "tensor iteration",
    """
$acc = 0
for $e in <x>:
    $acc = $acc + $e * 2
$a = [e.shape for e in <x>]
""",
    outs="acc:t a:o",
)
idiom(
    "multiple outputs",
    """
$v, $i = torch.sort(<x>)
$mn, $mx = torch.aminmax(<x>)
$c = torch.chunk(<x>, 2)
$r = [$v, $i, $mx, torch.topk(<x>, 1), torch.unique(<x>), $c, type($c).__name__, torch.max(<x>, dim=0), type(torch.topk(<x>, 1)).__name__]
""",
    outs="r:o v:t",
)
idiom(
    "numpy round trip",
    """
$r = torch.from_numpy(<x>.detach().numpy().copy() * 2)
""",
    outs="r:t",
    weight=0.4,
)
idiom(
    "tensor attributes",
    """
$y = <x> * 1
$y.note = <s>
$y.data = $y.data + 1
$r = ($y.note, hasattr(<x>, 'note'), $y.T.shape, $y.real, $y.grad, $y.is_leaf, $y.names if <ci> > 99 else 0)
""",
    outs="r:o y:t",
    weight=0.6,
)
idiom(
    "out argument",
    """
$o = torch.empty(<x>.shape)
$same = torch.add(<x>, 1, out=$o) is $o
""",
    outs="o:t same:b",
    weight=0.5,
)
idiom(
    "parameter and buffer identity",
    """
$r = ($net.weight is $net.weight, $net.weight.shape, list($net._parameters), $net.weight)
""",
    defs="$net = torch.nn.Linear(2, 2, bias=False)\ntorch.nn.init.ones_($net.weight)",
    outs="r:o",
    weight=0.5,
)
idiom(
    "default dtype",
    """
torch.set_default_dtype(torch.float64 if <b> else torch.float32)
$r = torch.ones(1).dtype
torch.set_default_dtype(torch.float32)
""",
    outs="r:o",
    weight=0.25,
)
idiom(
    "copying",
    """
$a = [<li>, <t>]
$b, $c = copy.copy($a), copy.deepcopy($a)
$a[0].append(<i>)
$r = ($b[0] is $a[0], $c[0] is $a[0], $b[1] is $a[1], $c[1] is $a[1])
""",
    outs="r:o c:o",
)
