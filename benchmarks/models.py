"""Real models, small and with random weights: what pydynamo captures of them, next to torch.compile (backend "eager" for both).

    python benchmarks/models.py [--train] [--json FILE] [PATTERN ...]

Runs those of transformers, timm, torchvision, diffusers, torch-geometric and einops that are installed; nothing is downloaded.
Each model runs in a process of its own, in which both compilers are loaded already. For each: graphs, graph breaks and
seconds of the first call, and whether outputs, gradients and buffers are those of eager mode.
Exits with 0 whatever was reached: this measures, it does not test.
"""

from __future__ import annotations

import argparse
import copy
import fnmatch
import importlib
import importlib.util
import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

import pydynamo

#: a module, its positional and its keyword arguments
Case = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]
Row = dict[str, Any]

VOCABULARY = 99
_ENCODER = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
_DECODER = {**_ENCODER, "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_GPT = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
_PAIR = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    **{f"{side}_{part}": size for side in ("encoder", "decoder") for part, size in (("layers", 2), ("ffn_dim", 48))},
    **{f"{side}_attention_heads": 4 for side in ("encoder", "decoder")},
    "max_position_embeddings": 64,
    "pad_token_id": 1,
    "decoder_start_token_id": 2,
}
_T5 = {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
_VISION = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "image_size": 32,
    "patch_size": 8,
}
_STAGES = {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}

#: name -> class, class of its configuration, settings
TEXT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertForMaskedLM", "BertConfig", _ENCODER),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", {**_ENCODER, "pad_token_id": 1}),
    "albert": ("AlbertForMaskedLM", "AlbertConfig", {**_ENCODER, "embedding_size": 16}),
    "electra": ("ElectraForMaskedLM", "ElectraConfig", {**_ENCODER, "embedding_size": 16}),
    "deberta": (
        "DebertaForMaskedLM",
        "DebertaConfig",
        {**_ENCODER, "relative_attention": True, "pos_att_type": ["c2p"]},
    ),
    "longformer": ("LongformerForMaskedLM", "LongformerConfig", {**_ENCODER, "attention_window": 4, "pad_token_id": 1}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", _GPT),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", _ENCODER),
    "gptj": ("GPTJForCausalLM", "GPTJConfig", {**_GPT, "rotary_dim": 4}),
    "bloom": (
        "BloomForCausalLM",
        "BloomConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    ),
    "opt": (
        "OPTForCausalLM",
        "OPTConfig",
        {**_ENCODER, "ffn_dim": 48, "word_embed_proj_dim": 32},
    ),
    "llama": ("LlamaForCausalLM", "LlamaConfig", _DECODER),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**_DECODER, "sliding_window": 4}),
    "mixtral": ("MixtralForCausalLM", "MixtralConfig", {**_DECODER, "num_local_experts": 4}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", _DECODER),
    "qwen3_moe": (
        "Qwen3MoeForCausalLM",
        "Qwen3MoeConfig",
        {**_DECODER, "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16},
    ),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**_DECODER, "head_dim": 8, "sliding_window": 4}),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", _DECODER),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
    ),
    "t5": ("T5ForConditionalGeneration", "T5Config", {**_T5, "decoder_start_token_id": 0}),
    "bart": ("BartForConditionalGeneration", "BartConfig", _PAIR),
    "pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", _PAIR),
}
IMAGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "vit": ("ViTForImageClassification", "ViTConfig", _VISION),
    "deit": ("DeiTForImageClassification", "DeiTConfig", _VISION),
    "swin": (
        "SwinForImageClassification",
        "SwinConfig",
        {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 2], "num_heads": [2, 4], "window_size": 4},
    ),
    "convnext": ("ConvNextForImageClassification", "ConvNextConfig", _STAGES),
    "resnet_hf": ("ResNetForImageClassification", "ResNetConfig", {**_STAGES, "embedding_size": 8}),
}
#: name -> size of the images, settings
TIMM: dict[str, tuple[int, dict[str, Any]]] = {
    "resnet18": (32, {}),
    "efficientnet_b0": (32, {}),
    "mobilenetv3_small_050": (32, {}),
    "regnety_002": (32, {}),
    "densenet121": (32, {"growth_rate": 4, "block_config": (1, 1, 1, 1)}),
    "vit_tiny_patch16_224": (32, {"img_size": 32, "patch_size": 8, "depth": 2}),
    "convnext_atto": (32, {}),
    "mixer_s16_224": (32, {"img_size": 32}),
    "maxvit_rmlp_pico_rw_256": (64, {"img_size": 64}),
    "xcit_nano_12_p16_224": (32, {"img_size": 32, "depth": 2}),
    "levit_128s": (224, {}),
    "crossvit_tiny_240": (240, {}),
}
TORCHVISION = ("shufflenet_v2_x0_5", "mobilenet_v2", "googlenet", "swin_v2_t")


#: what is loaded before the first model is timed
PACKAGES = ("transformers.modeling_utils", "timm", "torchvision", "diffusers.models", "torch_geometric.nn", "einops")


def _ids(length: int = 7) -> torch.Tensor:
    return torch.randint(3, VOCABULARY, (2, length))


def _text(entry: tuple[str, str, dict[str, Any]]) -> Case:
    import transformers

    model, config, settings = entry
    ids = _ids()
    given = {"input_ids": ids, "labels": ids.clone()}
    return getattr(transformers, model)(getattr(transformers, config)(**settings)), (), given


def _image(entry: tuple[str, str, dict[str, Any]]) -> Case:
    import transformers

    model, config, settings = entry
    given = {"pixel_values": torch.randn(2, 3, 32, 32), "labels": torch.tensor([0, 1])}
    return getattr(transformers, model)(getattr(transformers, config)(**settings)), (), given


def _clip() -> Case:
    import transformers

    text, vision = {**_ENCODER, "projection_dim": 16}, {**_VISION, "projection_dim": 16}
    model = transformers.CLIPModel(transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
    return model, (), {"input_ids": _ids(), "pixel_values": torch.randn(2, 3, 32, 32), "return_loss": True}


def _whisper() -> Case:
    import transformers

    sizes = {"max_source_positions": 16, "max_target_positions": 32, "num_mel_bins": 8}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    settings = {**{k: v for k, v in _PAIR.items() if k != "max_position_embeddings"}, **sizes, **tokens}
    model = transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(**settings))
    return model, (), {"input_features": torch.randn(2, 8, 32), "labels": _ids()}


def _timm(name: str) -> Case:
    import timm

    size, settings = TIMM[name]
    model = timm.create_model(name, pretrained=False, num_classes=5, **settings)
    return model, (torch.randn(2, 3, size, size),), {}


def _torchvision(name: str) -> Case:
    import torchvision

    settings = {"init_weights": False} if name == "googlenet" else {}
    return torchvision.models.get_model(name, weights=None, **settings), (torch.randn(2, 3, 64, 64),), {}


def _detection() -> Case:
    import torchvision

    kind = torchvision.models.detection.ssdlite320_mobilenet_v3_large
    model = kind(weights=None, weights_backbone=None, num_classes=3)
    target = {"boxes": torch.tensor([[2.0, 2.0, 30.0, 30.0]]), "labels": torch.tensor([1])}
    return model, ([torch.rand(3, 60, 70), torch.rand(3, 64, 64)], [target, target]), {}


def _unet() -> Case:
    from diffusers import UNet2DConditionModel

    model = UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(8, 16),
        layers_per_block=1,
        norm_num_groups=4,
        cross_attention_dim=16,
        attention_head_dim=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )
    return model, (torch.randn(1, 4, 16, 16), torch.tensor(5), torch.randn(1, 4, 16)), {}


def _vae() -> Case:
    from diffusers import AutoencoderKL

    model = AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        sample_size=16,
    )
    return model, (torch.randn(1, 3, 16, 16),), {"sample_posterior": True}


def _flux() -> Case:
    from diffusers import FluxTransformer2DModel

    model = FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=16,
        pooled_projection_dim=16,
        axes_dims_rope=(4, 4, 8),
    )
    given = {
        "hidden_states": torch.randn(1, 16, 4),
        "encoder_hidden_states": torch.randn(1, 3, 16),
        "pooled_projections": torch.randn(1, 16),
        "timestep": torch.tensor([1.0]),
        "img_ids": torch.zeros(16, 3),
        "txt_ids": torch.zeros(3, 3),
    }
    return model, (), given


def _graph_network() -> Case:
    from torch_geometric.nn import GATConv, SAGEConv, Sequential

    layers = [(GATConv(8, 4, heads=2), "x, edges -> x"), nn.ReLU(), (SAGEConv(8, 3), "x, edges -> x")]
    return Sequential("x, edges", layers), (torch.randn(6, 8), torch.randint(0, 6, (2, 14))), {}


class Patches(nn.Module):
    """Attention over patches, its axes rearranged by einops."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.mixed = nn.Linear(48, 16), nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from einops import rearrange, reduce

        y = self.embed(rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4))
        q, k, v = rearrange(self.mixed(y), "b n (t h d) -> t b h n d", t=3, h=4)
        mixed = torch.einsum(
            "b h i j, b h j d -> b h i d", torch.einsum("b h i d, b h j d -> b h i j", q, k).softmax(-1), v
        )
        return reduce(mixed, "b h n d -> b (h d)", "mean")


def cases() -> Iterator[tuple[str, Callable[[], Case]]]:
    """The models of what is installed."""

    def has(package: str) -> bool:
        return importlib.util.find_spec(package) is not None

    if has("transformers"):
        yield from ((name, lambda e=entry: _text(e)) for name, entry in TEXT.items())  # type: ignore[misc]
        yield from ((name, lambda e=entry: _image(e)) for name, entry in IMAGES.items())  # type: ignore[misc]
        yield from (("clip", _clip), ("whisper", _whisper))
    if has("timm"):
        yield from ((f"timm {name}", lambda n=name: _timm(n)) for name in TIMM)  # type: ignore[misc]
    if has("torchvision"):
        yield from ((f"torchvision {name}", lambda n=name: _torchvision(n)) for name in TORCHVISION)  # type: ignore[misc]
        yield "torchvision ssdlite", _detection
    if has("diffusers"):
        yield from (("diffusers unet", _unet), ("diffusers vae", _vae), ("diffusers flux", _flux))
    if has("torch_geometric"):
        yield "torch_geometric gat+sage", _graph_network
    if has("einops"):
        yield "einops attention", lambda: (Patches(), (torch.randn(2, 3, 8, 8),), {})


# one model --------------------------------------------------------------------------------------------------------------
def _tensors(value: Any, found: list[torch.Tensor]) -> list[torch.Tensor]:
    """All tensors that an output holds, in order."""
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            _tensors(item, found)
    elif hasattr(value, "__dict__"):
        _tensors(vars(value), found)
    return found


def _step(call: Callable[..., Any], model: nn.Module, case: Case, train: bool) -> list[torch.Tensor]:
    """What one call, and in training the backward pass, leaves: outputs, gradients, buffers, the random state."""
    torch.manual_seed(0)
    args, kwargs = copy.deepcopy(case[1:])
    outputs = _tensors(call(*args, **kwargs), [])
    if train:
        sum((t.float() ** 2).mean() for t in outputs if t.requires_grad).backward()  # type: ignore[union-attr]
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    return [t.detach().clone() for t in (*outputs, *gradients, *model.buffers(), torch.get_rng_state())]


def _same(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    return len(left) == len(right) and all(
        a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
        for a, b in zip(left, right, strict=True)
    )


def measure(build: Callable[[], Case], train: bool) -> Row:
    """One row, without its name."""
    from torch._dynamo.utils import counters

    torch.manual_seed(0)
    model, *given = build()
    model.train(train)
    case: Case = (model, *given)  # type: ignore[assignment]
    plain, ours, theirs = (copy.deepcopy(model) for _ in range(3))
    want = _step(plain, plain, case, train)

    explained = pydynamo.explain(ours)
    found: list[Any] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        found.append(explained(*args, **kwargs))
        return found[0].result

    start = time.perf_counter()
    got = _step(call, ours, case, train)
    row: Row = {
        "same": _same(want, got),
        "graphs": len(found[0].graphs),
        "breaks": len(found[0].breaks),
        "seconds": time.perf_counter() - start,
    }
    graphs = 0

    def backend(module: torch.fx.GraphModule, examples: list[Any]) -> Any:
        nonlocal graphs
        graphs += 1
        return module.forward

    counters.clear()
    start = time.perf_counter()
    _step(torch.compile(theirs, backend=backend), theirs, case, train)
    row["torch_seconds"] = time.perf_counter() - start
    return {**row, "torch_graphs": graphs, "torch_breaks": sum(counters["graph_break"].values())}


def in_child(build: Callable[[], Case], train: bool) -> Row:
    """``measure`` in a process of its own."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            row = measure(build, train)
        except Exception as error:
            row = {"error": f"{type(error).__name__}: {error}"[:200]}
        os.write(ends[1], json.dumps(row).encode())
        os._exit(0)
    os.close(ends[1])
    with os.fdopen(ends[0], "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "the process died"}  # type: ignore[no-any-return]


def show(rows: list[Row]) -> None:
    """The table, and its sums."""
    table = Table(title="pydynamo / torch.compile")
    for column in ("model", "as eager", "graphs", "breaks", "seconds", "ratio"):
        table.add_column(column, justify="left" if column == "model" else "right")
    measured = [row for row in rows if "error" not in row]
    for row in rows:
        if "error" in row:
            table.add_row(row["model"], row["error"])
            continue
        table.add_row(
            row["model"],
            "yes" if row["same"] else "NO",
            *(f"{row[key]} / {row['torch_' + key]}" for key in ("graphs", "breaks")),
            f"{row['seconds']:.2f} / {row['torch_seconds']:.2f}",
            f"{row['seconds'] / row['torch_seconds']:.2f}",
        )
    console = Console()
    console.print(table)
    whole, theirs = (sum(row[key] == 1 for row in measured) for key in ("graphs", "torch_graphs"))
    seconds, others = (sum(row[key] for row in measured) for key in ("seconds", "torch_seconds"))
    console.print(
        f"{len(measured)} models; in one graph: {whole} / {theirs}; seconds: {seconds:.0f} / {others:.0f}; "
        f"not as eager: {sum(not row['same'] for row in measured)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", help="names of models, with wildcards")
    parser.add_argument("--train", action="store_true", help="a training step instead of a call in evaluation mode")
    parser.add_argument("--json", help="also write the rows to this file")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for compiler in (pydynamo.compile, torch.compile):  # both are loaded before the children are
        compiler(lambda x: x + 1, backend="eager")(torch.ones(1))
    for package in PACKAGES:
        if importlib.util.find_spec(package.partition(".")[0]) is not None:
            importlib.import_module(package)
    rows = []
    for name, build in cases():
        if options.patterns and not any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns):
            continue
        rows.append({"model": name, **in_child(build, options.train)})
    show(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
