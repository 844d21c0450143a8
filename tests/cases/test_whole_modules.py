"""Modules of torch.nn: hooks, parametrizations, buffers, recurrent cells: captured in one graph."""

import torch.nn.utils.parametrizations
import torch.nn.utils.parametrize
import torch.utils.checkpoint
from harness import program, seeded, torch, whole
from torch import nn
from torch.nn import functional as F

ONE = torch.ones(3)
ROWS = torch.arange(12.0).reshape(4, 3)


@whole
def test_lstm():
    m = seeded(lambda: nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True))

    def f(x):
        y, (h, c) = m(x)
        return y * 2, h, c

    return f, [(ROWS[None],), (ROWS[None] + 1,)]


@whole
def test_gru_and_rnn():
    gru = seeded(lambda: nn.GRU(3, 4))
    rnn = seeded(lambda: nn.RNN(3, 4, nonlinearity="relu"))

    def f(x):
        y, h = gru(x)
        z, k = rnn(x)
        return y + z, h + k

    return f, [(ROWS[:, None],), (ROWS[:, None],)]


@whole
def test_recurrent_cells():
    cell = seeded(lambda: nn.LSTMCell(3, 4))
    gru = seeded(lambda: nn.GRUCell(3, 4))

    def f(x):
        state = None
        h = None
        for row in x.split(1):
            state = cell(row, state)
            h = gru(row, h)
        return state, h

    return f, [(ROWS,), (ROWS,)]


@whole
def test_module_containers():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
            self.by_name = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
            self.weights = nn.ParameterList([nn.Parameter(torch.ones(3) * i) for i in range(2)])
            self.table = nn.ParameterDict({"w": nn.Parameter(torch.ones(3))})
            self.seq = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2))

        def forward(self, x):
            for i, layer in enumerate(self.layers):
                x = layer(x) + i
            for layer in self.layers[1:]:
                x = layer(x)
            for name, m in self.by_name.items():
                x = m(x) + len(name)
            for w in self.weights:
                x = x * w
            x = x + self.table["w"] + self.weights[1] + len(self.layers)
            if "a" in self.by_name:
                x = self.by_name["a"](x)
            return self.seq[:2](x), self.seq(x), self.layers[-1](x), list(self.by_name.keys())

    return seeded(M), [(ROWS,), (ROWS + 1,)]


@whole
def test_loops_over_parameters_and_modules():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)
            self.b = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.register_buffer("k", torch.ones(3))

        def forward(self, x):
            total = 0
            for name, p in self.named_parameters():
                total = total + p.sum() * len(name)
            for m in self.modules():
                if isinstance(m, nn.Linear):
                    x = m(x)
            for name, m in self.named_children():
                x = x + len(name)
            for b in self.buffers():
                x = x + b
            names = [n for n, _ in self.named_modules()]
            return x + total, sum(p.numel() for p in self.parameters()), names, [n for n, _ in self.named_buffers()]

    return seeded(M), [(ROWS,), (ROWS,)]


@whole
def test_tied_weights():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(5, 4)
            self.head = nn.Linear(4, 5, bias=False)
            self.head.weight = self.emb.weight

        def forward(self, i):
            return self.head(self.emb(i)), self.head.weight is self.emb.weight

    return seeded(M), [(torch.tensor([1, 2]),), (torch.tensor([0, 4]),)]


@whole
def test_buffers_that_are_updated():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros((), dtype=torch.long))
            self.register_buffer("mean", torch.zeros(3))
            self.count = 0

        def forward(self, x):
            self.steps += 1
            self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
            self.mean = self.mean + 1
            self.count += 1
            return x - self.mean, self.steps * 2

    return M(), [(ROWS,), (ROWS,), (ROWS,)]


@whole
def test_batch_norm_running_statistics_and_switch():
    m = seeded(lambda: nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5)))

    def f(x, train):
        m.train(train)
        return m(x), m[0].running_mean, m[0].num_batches_tracked

    def run(x):
        return m(x), m[0].running_mean * 1, m[0].num_batches_tracked * 1

    return run, [(ROWS,), (ROWS + 1,)]


@whole
def test_dropout_follows_train_and_eval():
    m = seeded(lambda: nn.Dropout(0.5))

    def first(x):
        return m(x), m.training, F.dropout(x, 0.3, training=m.training)

    return first, [(ROWS,), lambda *_: (m.eval(), (ROWS,))[1], lambda *_: (m.train(), (ROWS,))[1]]


@whole
def test_normalization_layers():
    ms = seeded(lambda: nn.ModuleList([nn.LayerNorm(3), nn.GroupNorm(1, 4), nn.InstanceNorm1d(4), nn.RMSNorm(3)]))

    def f(x):
        return ms[0](x), ms[1](x[None]), ms[2](x[None]), ms[3](x)

    return f, [(ROWS,), (ROWS,)]


@whole
def test_parametrization():
    class Symmetric(nn.Module):
        def forward(self, w):
            return w.triu() + w.triu(1).T

    m = seeded(lambda: nn.Linear(3, 3))
    nn.utils.parametrize.register_parametrization(m, "weight", Symmetric())

    def f(x):
        return m(x), m.weight

    return f, [(ROWS,), (ROWS,)]


@whole
def test_weight_norm():
    m = seeded(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)))
    m._load_state_dict_pre_hooks.clear()  # keyed by a number that counts all hooks of the process

    def f(x):
        return m(x) + 1

    return f, [(ROWS,), (ROWS,)]


@whole
def test_spectral_norm():
    m = seeded(lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3)))

    def f(x):
        return m(x) + 1

    return f, [(ROWS,), (ROWS,)]


@whole
def test_forward_hooks():
    m = seeded(lambda: nn.Linear(3, 3))
    seen = []
    m.register_forward_pre_hook(lambda mod, args: (args[0] + 1,))
    m.register_forward_hook(lambda mod, args, out: out * 2)

    def f(x):
        return m(x)

    return f, [(ROWS,), (ROWS,)]


@whole
def test_a_hook_that_collects_activations():
    m = seeded(lambda: nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    seen = []
    m[0].register_forward_hook(lambda mod, args, out: seen.append(out))

    def f(x):
        seen.clear()
        return m(x), len(seen), seen[0]

    return f, [(ROWS,), (ROWS,)]


@program
def test_checkpoint():
    m = seeded(lambda: nn.Linear(3, 3))

    def block(x):
        return torch.relu(m(x)) * 2

    def f(x):
        return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) + 1

    return f, [(ROWS,), (ROWS,)]


@whole
def test_attention():
    m = seeded(lambda: nn.MultiheadAttention(4, 2, batch_first=True))

    def f(q, k, v):
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        b = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(5, 5, dtype=torch.bool).tril())
        return a, b, m(q[:, 0], k[:, 0], v[:, 0])

    q = torch.arange(40.0).reshape(1, 2, 5, 4) / 40
    return f, [(q, q + 1, q * 2), (q, q, q)]


@whole
def test_transformer_layers():
    m = seeded(lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True))
    e = seeded(lambda: nn.TransformerEncoder(m, 2, enable_nested_tensor=False))

    def f(x):
        return m(x), e(x, src_key_padding_mask=torch.zeros(1, 5, dtype=torch.bool))

    return f, [(torch.arange(20.0).reshape(1, 5, 4) / 20,), (torch.ones(1, 5, 4),)]


@whole
def test_a_module_called_by_name_getattr_and_apply_functions():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            for i in range(2):
                setattr(self, f"fc{i}", nn.Linear(3, 3))
            self.act = {"relu": F.relu, "tanh": torch.tanh}
            self.kind = "relu"

        def forward(self, x, *, scale=None):
            for i in range(2):
                x = getattr(self, f"fc{i}")(x)
            x = self.act[self.kind](x)
            if scale is not None and self.training:
                x = x * scale
            return x, self.get_submodule("fc0")(x), hasattr(self, "fc9"), self.fc0.weight.shape, self.extra_repr()

    return seeded(M), [(ROWS,), (ROWS,)]


@whole
def test_a_module_that_inherits_and_overrides_call():
    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            return self.post(self.fc(x))

        def post(self, x):
            return x

    class Derived(Base):
        def forward(self, x):
            return super().forward(x) + 1

        def post(self, x):
            return super().post(x) * 2

        def __call__(self, *args, **kwargs):
            return super().__call__(*args, **kwargs) - 1

    m = seeded(Derived)

    def f(x):
        return m(x)

    return f, [(ROWS,), (ROWS,)]


@whole
def test_requires_grad_loops_and_state():
    m = seeded(lambda: nn.Linear(3, 3))

    def f(x):
        return (
            [p.requires_grad for p in m.parameters()],
            m(x.detach()),
            m.training,
            m.in_features * 2,
            next(m.parameters()).device,
        )

    return f, [(ROWS,), (ROWS,)]


@whole
def test_module_made_inside():
    def f(x):
        return nn.ReLU()(x) + nn.Sequential(nn.Identity(), nn.Tanh())(x)

    return f, [(ONE,), (ONE,)]


@whole
def test_loss_modules_and_pairs():
    ce = nn.CrossEntropyLoss(label_smoothing=0.1)
    bce = nn.BCEWithLogitsLoss()

    def f(x, t):
        return ce(x, t) + bce(x[:, 0], (t > 0).float()), nn.MSELoss(reduction="sum")

    def g(x, t):
        return f(x, t)[0]

    return lambda x, t: ce(x, t) + bce(x[:, 0], (t > 0).float()), [
        (ROWS, torch.tensor([0, 1, 2, 0])),
        (ROWS, torch.tensor([0, 1, 2, 0])),
    ]
