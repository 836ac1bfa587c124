"""A space file to begin with: commented, complete, for one of the papers' families."""

from __future__ import annotations

from fieldcheck.tomography import perturbations

HEAD = """\
# Where does the model break? Run with: fieldcheck tomography run {name} --out run/
seed = 0
ordered = false          # true: the order in which perturbations are applied matters
surrogate = "auto"       # predicts the tests that are not run; auto chooses by held-out outcomes

[model]
{model:<24} # .onnx, .keras, a transformers folder; with --trust: .pt, module:name, ...; relative to this file
# adapter = "onnx"       # where it cannot be told from the file
# outputs = "logits"     # auto, logits, probabilities, values
# scale = "0-1"          # images: auto, none, 0-1, or MEAN,STD
# layout = "first"       # images: auto, first, last, flat, plain

[data]
{data:<24} # npz, npy, image folder, CSV or Parquet, with the true labels
{columns}# limit = 1000           # only so many, drawn at random

[check]
kind = "label"           # the predicted class is the true one; accuracy:top=2; tolerance; detection; function
# expect = 0.98          # right answers without perturbation: far from it, the run stops before the rest is spent
# tolerance = 5.0        # largest absolute error that is right
# function = "mychecks:boxes"   # (outputs, truths) -> 1.0 or 0.0 each; needs --trust

[plan]
kind = "spread"          # few inputs in many tests of all orders; pairs: orders up to two; full: everything
inferences = 20000
# half_width = 0.02      # instead: until the intervals are this narrow
# stop = "half-width"    # of pairs and full: half-width, sequence, or published
# share = 0.05           # of pairs: of the tests of orders 3 and 4, far from each other

# [quality]              # how plausible perturbed inputs still are; then in queries: quality {sign}
# score = "{quality}"
# tests = 150            # measured; the others are predicted
# inputs = 100
# surrogate = "process"  # or forest: the published way, with all tests of orders up to two
# stop = 0.005           # the published early stopping, with inputs = 1000
"""


AXIS = """
[[perturbation]]
name = "{name}"
levels = 5
apply = "{apply}"
words = {{ low = [1, 2], medium = [3, 3], high = [4, 5] }}
"""


def template(family: str, *, name: str = "space.toml") -> str:
    """The text of a space file for a family of perturbations."""
    specs = perturbations.family(family)
    text = perturbations.registry[specs[0].partition(":")[0]].kind == "text"
    head = HEAD.format(
        name=name,
        model='file = "classifier"' if text else 'file = "model.onnx"',
        data='file = "test.csv"' if text else 'file = "test.npz"',
        quality="token-f1" if text else "kid",
        sign=">= 0.9 (1: untouched)" if text else "<= 0.1 (0: clean, 1: as far off as pure noise)",
        columns='text = "text"            # column of the texts\nlabel = "label"\n' if text else "",
    )
    return head + "".join(AXIS.format(name=spec.partition(":")[0], apply=spec) for spec in specs)
