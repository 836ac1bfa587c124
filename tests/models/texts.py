"""A tiny text classifier of transformers: built from a configuration, with a tokenizer built here, saved as usual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    PreTrainedTokenizerFast,
)

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "very", "film", "a"]
TEXTS = ["a good film", "bad", "very very bad film", "good good", "a very good film", "a film"]


def tokenizer(*, padding: bool = True, marks: bool = True) -> Any:
    """``padding``: whether there is a token for it; ``marks``: whether texts begin and end with one."""
    words = {word: code for code, word in enumerate(WORDS)}
    plain = Tokenizer(models.WordPiece(words, unk_token=WORDS[1]))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    if marks:
        plain.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    special = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "eos_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=plain, **special, **({"pad_token": "[PAD]"} if padding else {}))


def bert(**given: Any) -> Any:
    torch.manual_seed(3)
    sizes = {"vocab_size": len(WORDS), "hidden_size": 8, "intermediate_size": 8, "max_position_embeddings": 12}
    config = BertConfig(num_hidden_layers=1, num_attention_heads=2, initializer_range=1.0, **sizes, **given)
    return BertForSequenceClassification(config)


def gpt2(**given: Any) -> Any:
    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=len(WORDS), n_embd=8, n_layer=1, n_head=2, n_positions=12, initializer_range=1.0, **given
    )
    return GPT2ForSequenceClassification(config)


def trained_bert() -> Any:
    """Told good from bad in twenty steps."""
    net, words = bert(num_labels=2, id2label={0: "bad", 1: "good"}, label2id={"bad": 0, "good": 1}), tokenizer()
    given = words(TEXTS[:5], padding=True, return_tensors="pt")
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(20):
        optimizer.zero_grad()
        net(**given, labels=torch.tensor([1, 0, 0, 1, 1])).loss.backward()
        optimizer.step()
    return net.eval()


def saved(net: Any, folder: Path, **given: Any) -> Path:
    net.save_pretrained(folder)
    tokenizer(**given).save_pretrained(folder)
    return folder


def reference(net: Any, text: str, **given_tokenizer: Any) -> tuple[Any, Any]:
    """Logits, and states of the tokens behind the last block, of one text alone, without padding."""
    given = tokenizer(**given_tokenizer)([text], return_tensors="pt")
    with torch.no_grad():
        state = net(**given, output_hidden_states=True)
    return state.logits[0].double().numpy(), state.hidden_states[-1][0].numpy()


def pooled(net: Any, found: list[tuple[Any, Any]]) -> Any:
    """What BERT's head reads, one row per text, from what ``reference`` gave for each."""
    with torch.no_grad():
        return torch.cat([net.bert.pooler(torch.from_numpy(states)[None]) for _, states in found]).numpy()
