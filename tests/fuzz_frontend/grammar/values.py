"""Expression templates by type: what a program can say about ints, floats, strings, containers and tensors.

A template that starts with `!` often fails at run time; it is taken seldom.
"""

from __future__ import annotations

from tests.fuzz_frontend.grammar.core import expressions

expressions(
    "t",
    """
<t> + <t>
<t> * <t>
<t> - <t>
<t> + <t>
<t> * <f>
<t> + <i>
<t> - <f>
<i> - <t>
<t> / 2
(-<t>)
<t> * 2 + 1
torch.sin(<t>)
torch.relu(<t>)
torch.cos(<t>)
<t>.abs()
<t>.clamp(<cf>)
<t>.clamp(min=-1.0, max=2.0)
torch.where(<t> > 0, <t>, <t>)
torch.maximum(<t>, <t>)
<t>.sum()
<t>.mean()
<t>.detach()
<t>.clone()
<t>.double().float()
torch.stack([<x>, <x>]).sum(0)
torch.zeros_like(<t>)
torch.full_like(<t>, <f>)
torch.full((1,), <f>)
torch.tensor(<i>)
torch.tensor([<f>])
<t>.view(-1)
<t>.reshape(-1)[:1]
<x>[..., :1]
<x>[-1]
<x>[0]
<t>.unsqueeze(0).squeeze(0)
<t>.new_zeros(1)
<t>.pow(2)
<t> ** 2
(<t> if <b> else <t>)
(lambda a: a + <ai>)(<t>)
(lambda a, b=<i>: a * b)(<t>)
sum(<lt>)
sum(<lt>, <t>)
functools.reduce(operator.add, <lt>, <t>)
getattr(torch, 'cos')(<t>)
getattr(<x>, 'neg')()
operator.mul(<t>, <f>)
torch.cat([<t>.reshape(-1), <t>.reshape(-1)]).sum()
<dt>.get(<key>, <t>)
(<lt> or [<t>])[0]
(<lt> + [<t>])[-1]
torch.arange(<x>.shape[0]) * 1.0
torch.ones(<x>.shape)
torch.softmax(<t>, -1)
F.relu(<t>)
<t>.type_as(<x>)
torch.add(<t>, <t>, alpha=2)
<x>.size(0) * <t>
<t>.masked_fill(<t> < 0, <cf>)
next(iter(<lt>), <t>)
torch.cumsum(<x>, 0)
<x>.flip(0)
torch.ones(1) * len(<li>)
torch.ones(1) * <i>
<t> * float(<i>)
<t>.add(<i>).mul(<i>)
max(<x>.unbind(0), default=<t>)
(w0 := <t>)
""",
)

expressions(
    "i",
    """
<ci>
<i> + <i>
<i> * <i>
<i> - <i>
<i> // 3
! <i> // <ci>
<i> % (abs(<ci>) + 1)
! <i> % <ci>
<i> & <i>
<i> | <i>
<i> ^ <i>
~<i>
-<i>
+<i>
abs(<i>)
len(<li>)
len(<s>)
len(<di>)
len(<si>)
! len(<o>)
sum(<li>)
sum(<ti>)
max(<i>, <i>)
min(<i>, <i>, <i>)
! max(<li>)
min(<li>, default=<i>)
int(<f>)
int(<b>)
! int(<s>)
<t>.dim()
<t>.numel()
<x>.shape[0]
<x>.size(-1)
len(<x>)
<t>.ndim
ord('a')
(<li>[0] if <li> else <i>)
! <li>[<ci>]
! <li>[-1]
! <ti>[0]
! <di>[<key>]
<di>.get(<key>, <i>)
<di>.get(<key>) or <i>
round(<f>)
! divmod(<i>, <ci>)[0]
int(str(<i>))
(<i>).bit_length()
<s>.count('a')
<s>.find('b')
! <s>.index('a')
(<i> if <b> else <i>)
! <li>.index(<i>)
<li>.count(<i>)
math.floor(<f>)
math.ceil(<f>)
math.gcd(<i>, <i>)
operator.index(<i>)
operator.add(<i>, <i>)
next(iter(<li>), <i>)
next((e for e in <li> if e > <ai>), <i>)
(w1 := <i>)
sum(1 for e in <li> if e > <ai>)
sum(e * e for e in <li>)
len({*<li>})
functools.reduce(lambda a, b: a * 2 + b, <li>, <i>)
functools.reduce(operator.xor, <li>, 0)
pow(<i>, 2, 7)
pow(<i>, 2)
range(5)[<i> % 5]
len(range(<i>))
[<i>, <i>][<b>]
(<i>, <i>)[-1]
<i> << 1
! <i> >> 1
<b> + <b>
(lambda *a, **k: len(a) + len(k))(*<li>, q=<i>)
(lambda a, /, b=2, *, c=3: a + b * c)(<i>, c=<i>)
{1: <i>, 2: <i>}[<i> % 2 + 1]
[*<li>, <i>][0]
int(math.copysign(<i>, -1))
<li>.__len__()
(<i>).__add__(<i>)
(<i>).__rsub__(<i>)
sorted([<i>, <i>])[0]
bool(<i>) * <i>
collections.Counter(<li>)[<i>]
hash(<ci>)
int(True)
! int('12', <ci> % 3 + 8)
""",
)

expressions(
    "f",
    """
<cf>
<f> + <i>
<f> * <f>
<f> - <f>
float(<i>)
<i> / 4
! <i> / <ci>
<i> * 0.5
math.sqrt(abs(<f>))
round(<f>, 1)
abs(<f>)
-<f>
min(<f>, <f>)
max(<i>, <f>)
math.pi
float('inf')
float('nan')
-0.0
<f> // 1
<f> % 1.5
math.copysign(<f>, -1)
(<f>).real
sum([<f>, <f>])
(<f> if <b> else <f>)
! float(<s>)
<f> ** 2
! <i> ** -1
(<f>).__add__(1.0)
math.fsum([<f>, <i>])
float(str(<f>))
(lambda v=<f>: v + 1)()
divmod(<f>, 2)[1]
math.floor(<f>) + 0.5
operator.truediv(<i>, 2)
""",
)

expressions(
    "b",
    """
<i> > <i>
<i> == <i>
<i> <= <f>
<i> < <i> <= <i>
<f> != <f>
not <i>
not <li>
(<b> and <b>)
(<b> or <b>)
<b> ^ <b>
<i> in <li>
<i> not in <si>
<i> in range(<ci>, 10, 2)
<i> in range(<i>)
<i> in <ti>
<key> in <di>
<s> in <ls>
'a' in <s>
isinstance(<o>, int)
isinstance(<o>, (list, tuple))
isinstance(<o>, collections.abc.Sized)
<o> is None
<o> is not None
<o> in [1, None, 'a']
<li> == <li>
<li> < <li>
<ti> <= <ti>
<di> == <di>
<si> <= <si>
<si> == set(<li>)
<s> < <s>
<s> == <s>
<s>.startswith('a')
<s>.endswith(('b', 'c'))
<s>.isalpha()
<s>.isdigit()
any(<li>)
all(e > 0 for e in <li>)
any(e == <ai> for e in <li>)
bool(<li>)
bool(<s>)
bool(<i>)
callable(<o>)
hasattr(<o>, 'append')
type(<o>) is int
type(<o>) == type(<o>)
<i> == <f>
(<f>).is_integer()
issubclass(bool, int)
<t>.is_floating_point()
torch.is_tensor(<o>)
<x>.requires_grad
torch.is_grad_enabled()
<x> is <x>
<x>.shape == <x>.shape
<x>.dtype == torch.float32
<x>.shape[0] > <i>
<x>.ndim == 1
math.isnan(<f>)
math.isclose(<f>, <f>)
operator.contains(<li>, <i>)
operator.lt(<i>, <i>)
<li> is <li>
True if <o> else False
isinstance(<o>, type(<o>))
bool(<o> is True)
<di>.keys() == <di>.keys()
<si>.isdisjoint(<li>)
1 in {1.0: 2}
""",
)

expressions(
    "s",
    """
<cs>
str(<i>)
str(<f>)
str(<b>)
repr(<f>)
repr(<s>)
repr(<li>)
str(<ti>)
str(<di>)
repr(<o>) if not torch.is_tensor(<o>) else 'T'
f'{<ai>}'
f'{<af>:.2f}'
f'{<af>!r}'
f'{<af>!s:>9}|'
f'{<ai>:>4}|{<ai>:<3}|{<ai>:04d}'
f'{<ai>:+}{<ai>:x}'
f'{<ai>=}'
! f'{<af>:{<ai> % 9}}'
f'{<as>!r:>8}'
f'{<ali>}{<adi>}'
f'{<ab>!s:^7}'
f'{<x>.shape}'
f'{<x>.dtype} {<ai>:3}'
'%d-%s' % (<i>, <s>)
'%5.1f' % <f>
'%(a)s' % {'a': <i>}
'%r' % (<o>,) if not torch.is_tensor(<o>) else 'T'
'{} {}'.format(<i>, <s>)
'{0!r} {k:>5}'.format(<s>, k=<i>)
'{a}'.format_map({'a': <i>})
<s> + <s>
<s>.upper()
<s>.title()
<s> * 2
<s> * (<i> % 5)
','.join(<ls>)
'-'.join(map(str, <li>))
'-'.join(str(e) for e in <ti>)
<s>[::-1]
<s>[:2]
! <s>[<i>]
<s>.replace('a', 'b')
<s>.center(9, '*')
<s>.zfill(4)
<s>.strip('a')
<s>.partition('b')[0]
<s>.removeprefix('a')
<s>.translate({97: 'z'})
type(<o>).__name__
type(<x>).__qualname__
str(<x>.dtype)
str(tuple(<x>.shape))
format(<i>, 'x')
format(<f>, '.3e')
format(<s>, '>5')
chr(97 + <i> % 26)
hex(<i>)
bin(<i>)
ascii(<s>)
('a' if <b> else 'b')
max(<ls>, default='z')
min(<s>, <s>)
str(None)
''.join(sorted(<s>))
(lambda *p: '/'.join(p))(*<ls>)
str(<i>).rjust(3, '0')
<i> and 'yes' or 'no'
""",
)

expressions(
    "li",
    """
[<i>, <i>]
[<i>]
list(range(<ci>))
list(range(<i> % 4))
list(<ti>)
list(<li>)
[e * 2 for e in <li>]
[e for e in <li> if e % 2]
[e + <ai> for e in <li>]
<li> + <li>
<li> + [<i>]
<li>[1:]
<li>[::-1]
<li>[<ci>:<ci>]
<li>[:<i>]
sorted(<li>)
sorted(<li>, reverse=True)
sorted(<li>, key=lambda e: -e)
sorted(<li>, key=lambda e: (e % 2, e))
sorted(<si>)
list(map(abs, <li>))
list(map(lambda a, b: a - b, <li>, <li>))
list(filter(None, <li>))
list(filter(lambda e: e > <ai>, <li>))
[*<li>, <i>]
[*<ti>, *<li>]
list(<di>.values())
<li> * 2
list(reversed(<li>))
list(itertools.accumulate(<li>))
list(itertools.accumulate(<li>, operator.mul, initial=1))
list(itertools.chain(<li>, <li>))
list(itertools.chain.from_iterable([<li>, <ti>]))
list(itertools.islice(itertools.count(<i>), 3))
list(itertools.islice(<li>, 1, None, 2))
list(itertools.repeat(<i>, 2))
list(itertools.takewhile(lambda e: e < 3, <li>))
list(itertools.dropwhile(lambda e: e < 3, <li>))
list(itertools.compress(<li>, [1, 0, 1]))
list(itertools.starmap(pow, [(2, 3), (1, 5)]))
[a + b for a, b in zip(<li>, <li>)]
[a * i for i, a in enumerate(<li>)]
[a * i for i, a in enumerate(<li>, 2)]
[a - b for a, b in itertools.pairwise(<li>)]
[len(list(v)) for _, v in itertools.groupby(<li>)]
[sum(p) for p in itertools.product(<li>, [1, 2])]
[sum(p) for p in itertools.combinations(<li>, 2)]
list(collections.deque(<li>, maxlen=2))
[q for e in <li> for q in (e, e + 1)]
copy.copy(<li>)
copy.deepcopy(<li>)
<li>.copy()
list(dict.fromkeys(<li>))
list(itertools.zip_longest(<li>, <li>, fillvalue=0))[0:0] + [1]
[*map(operator.add, <li>, <li>)]
list(<x>.shape)
[ord(c) for c in <s>]
(<li> or [<i>])
(<li> and [<i>])
list(e for e in <li>)
[(lambda: e)() for e in <li>]
[w2 := <i>, w2 + 1]
list((<i>, <i>))
list(divmod(<i>, 3))
[*range(<ci>), <i>]
[int(c) for c in str(abs(<i>))]
""",
)

expressions(
    "ti",
    """
(<i>, <i>)
(<i>,)
tuple(<li>)
tuple(e + 1 for e in <li>)
<ti> + <ti>
<ti> * 2
<ti>[1:]
(*<li>, <i>)
tuple(<x>.shape)
tuple(sorted(<li>))
divmod(<i>, 3)
tuple(range(<ci>))
! tuple(zip(<li>, <ti>))
tuple(reversed(<ti>))
! tuple(enumerate(<li>))
()
""",
)

expressions(
    "lt",
    """
[<t>, <t>]
[<t>]
[e * 2 for e in <lt>]
[e + i for i, e in enumerate(<lt>)]
<lt> + [<t>]
<lt>[::-1]
list(map(torch.sin, <lt>))
list(<dt>.values())
[<t> for _ in range(2)]
list(<x>.unbind(0))
list(torch.split(<x>, 1))
[*<lt>, <t>]
[<x> + k for k in <li>]
[a * b for a, b in zip(<lt>, <li>)]
sorted(<lt>, key=lambda q: -q.numel())
[torch.ones(1) * e for e in <ti>]
""",
)

expressions(
    "ls",
    """
[<s>, <s>]
[<s>]
<s>.split('b')
list(<s>)
sorted(<ls>)
list(<di>)
[str(e) for e in <li>]
[c.upper() for c in <ls>]
<ls> + [<s>]
'a b c'.split()
sorted(<ls>, key=len)
[f'{k}{i}' for i, k in enumerate(<ls>)]
<s>.splitlines()
list(map(str, <li>))
list(sorted(<di>.keys()))
""",
)

expressions(
    "di",
    """
{'a': <i>}
{'a': <i>, 'b': <i>}
{<key>: <i>, <key>: <i>}
dict(a=<i>, b=<i>)
dict(<di>)
{**<di>, 'b': <i>}
{**<di>, **<di>}
{k: v + 1 for k, v in <di>.items()}
{str(e): e for e in <li>}
dict(zip('abc', <li>))
<di> | {'c': <i>}
<di>.copy()
dict.fromkeys('ab', <i>)
dict([('k', <i>)])
dict(sorted(<di>.items(), key=lambda kv: kv[1]))
{k: <i> for k in <ls>}
dict(collections.Counter(<s>))
dict(collections.OrderedDict(a=<i>))
{k: v for k, v in <di>.items() if v > <ai>}
copy.copy(<di>)
""",
)

expressions(
    "dt",
    """
{'a': <t>}
{'a': <t>, 'b': <t>}
{k: v * 2 for k, v in <dt>.items()}
{**<dt>, 'c': <t>}
dict(zip('ab', <lt>))
dict(k=<t>)
<dt> | {'b': <t>}
{k: <t> for k in <ls>}
""",
)

expressions(
    "si",
    """
{<i>, <i>}
set(<li>)
{e % 3 for e in <li>}
<si> | {<i>}
<si> & set(<li>)
<si> - {<i>}
<si> ^ set(<li>)
set()
frozenset(<li>)
set(<ti>)
{*<li>}
<si>.union(<li>, [<i>])
set(<di>.values())
<si>.copy()
""",
)
