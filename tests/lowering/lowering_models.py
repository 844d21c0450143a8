"""Small models of the usual kinds: a residual network, a vision transformer, a Llama-like block with
dropout."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class BasicBlock(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.down = (
            nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if i != o else nn.Identity()
        )

    def forward(self, x):
        y = F.relu(self.b1(self.c1(x)))
        return F.relu(self.b2(self.c2(y)) + self.down(x))


class ResNet(nn.Module):
    def __init__(self, w=8, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, w, 7, 2, 3, bias=False), nn.BatchNorm2d(w), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        self.body = nn.Sequential(BasicBlock(w, w, 1), BasicBlock(w, 2 * w, 2))
        self.drop, self.fc = nn.Dropout(0.2), nn.Linear(2 * w, classes)

    def forward(self, x, target):
        return F.cross_entropy(self.fc(self.drop(self.body(self.stem(x)).mean((2, 3)))), target)


class Encoder(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o, self.up, self.down = (
            nn.Linear(d, 3 * d),
            nn.Linear(d, d),
            nn.Linear(d, 4 * d),
            nn.Linear(4 * d, d),
        )

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4).unbind(0)
        a = ((q @ k.transpose(-1, -2)) * (d // self.h) ** -0.5).softmax(-1)
        a = F.dropout(a, self.p, self.training) @ v
        x = x + F.dropout(self.o(a.transpose(1, 2).reshape(b, t, d)), self.p, self.training)
        return x + F.dropout(self.down(F.gelu(self.up(self.n2(x)))), self.p, self.training)


class ViT(nn.Module):
    def __init__(self, d=32, p=0.1, classes=10):
        super().__init__()
        self.patch, self.cls = nn.Conv2d(3, d, 8, 8), nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.randn(1, 17, d) * 0.02)
        self.blocks, self.norm = nn.Sequential(Encoder(d, 4, p), Encoder(d, 4, p)), nn.LayerNorm(d)
        self.head = nn.Linear(d, classes)

    def forward(self, x, target):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
        return F.cross_entropy(self.head(self.norm(self.blocks(x))[:, 0]), target, label_smoothing=0.1)


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(x) * self.w


class Llama(nn.Module):
    def __init__(self, d=32, h=4, f=48, vocab=50, p=0.1):
        super().__init__()
        self.h, self.p, self.emb, self.head = h, p, nn.Embedding(vocab, d), nn.Linear(d, vocab, bias=False)
        self.n1, self.n2, self.n3 = RMSNorm(d), RMSNorm(d), RMSNorm(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.g, self.u, self.w = (
            nn.Linear(d, f, bias=False),
            nn.Linear(d, f, bias=False),
            nn.Linear(f, d, bias=False),
        )
        angle = torch.outer(torch.arange(64.0), 10000 ** (-torch.arange(0, d // h, 2) / (d // h)))
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def rope(self, x):
        a, b = x.float().chunk(2, -1)
        cos, sin = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).type_as(x)

    def forward(self, idx, target):
        x = self.emb(idx)
        b, t, d = x.shape
        y = self.n1(x)
        q, k, v = (m(y).view(b, t, self.h, d // self.h).transpose(1, 2) for m in (self.q, self.k, self.v))
        a = F.scaled_dot_product_attention(self.rope(q), self.rope(k), v, is_causal=True)
        x = x + F.dropout(self.o(a.transpose(1, 2).reshape(b, t, d)), self.p, self.training)
        y = self.n2(x)
        x = x + F.dropout(self.w(F.silu(self.g(y)) * self.u(y)), self.p, self.training)
        return F.cross_entropy(self.head(self.n3(x)).flatten(0, 1), target.flatten())


def build(name):
    """(model in training mode, arguments)."""
    torch.manual_seed(0)
    image, label = torch.randn(2, 3, 32, 32), torch.tensor([3, 7])
    if name == "llama":
        return Llama().train(), (torch.randint(50, (2, 12)), torch.randint(50, (2, 12)))
    return {"resnet": ResNet, "vit": ViT}[name]().train(), (image, label)
