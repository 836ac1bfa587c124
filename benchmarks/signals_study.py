"""Which auxiliary variables help: alone and together, on pools of networks trained here, clean and shifted.

    OMP_NUM_THREADS=1 python benchmarks/signals_study.py                     all four pools, as Markdown
    OMP_NUM_THREADS=1 python benchmarks/signals_study.py mnist cifar10       some of them

The pools are the test images of MNIST (LeNet-5) and CIFAR-10 (a small residual network), as they are and with half of
them perturbed. Each set of variables is judged twice: by the smallest RMSE, relative to simple random sampling, that
a sample allocated by it could reach (as ``fieldcheck auxiliary`` says), and by the RMSE of real ``waves`` campaigns
with 200 labels. What was predicted is kept beside the networks (``signals-*``; delete it to start anew), so that only
the first run takes long.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

import networks
from fieldcheck import sources
from fieldcheck.accuracy import auxiliary, predict
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.signals import separation
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.auxiliary.member import LOW
from fieldcheck.accuracy.auxiliary.training.augmentations import augmented
from fieldcheck.accuracy.designs import registry
from fieldcheck.accuracy.estimators.model_assisted import Fit
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.rng import stream
from fieldcheck.core.types import FloatArray
from fieldcheck.numerics.regression.features import Features
from fieldcheck.numerics.regression.population import Population
from fieldcheck.numerics.regression.priors import model_of
from fieldcheck.tomography import perturbations

LABELS = 200
REFERENCE = 10_000
SEVERITIES = (2, 3, 4)

SIGNALS = ("confidence", "dsa", "lsa", "mdsa", "knn", "knn_disagreement", "sae:epochs=10", "vae:epochs=10")
"""What ``predict`` is asked for; margin, entropy, gini and combined follow from these."""

USUAL = ("confidence", "dsa", "lsa")
KINDS = TRAINED, TUNED = "trained", "tuned"
"""Kinds of second models: as ``--member train`` makes it; a copy of the model itself, trained on with disturbed
images."""


@dataclass(frozen=True)
class Subject:
    """A network, its data, what may happen to them, and the symmetry that keeps their labels."""

    network: str
    data: Callable[[str], tuple[networks.Images, npt.NDArray[np.int64]]]
    shifts: tuple[str, ...]
    symmetry: str | None


SUBJECTS = {
    "mnist": Subject(
        "lenet5", networks.mnist, ("brightness", "motion-blur", "gaussian-noise:scale=imagenet"), symmetry=None
    ),
    "cifar10": Subject("resnet", networks.cifar10, ("contrast", "gaussian-blur", "shot-noise"), symmetry="flip"),
}
POOLS = tuple(f"{name}{end}" for name in SUBJECTS for end in ("", "-shifted"))


def items_of(name: str) -> Path:
    """The test images, and after them perturbed copies of a random half, each with one shift and severity."""
    path = networks.cache_folder() / f"signals-{name}.npz"
    if not path.exists():
        images, labels = SUBJECTS[name].data("test")
        half = shifted_half(len(images))
        copies = perturbed(images[half], SUBJECTS[name].shifts)
        np.savez(path, images=np.concatenate([images, copies]), labels=np.concatenate([labels, labels[half]]))
    return path


def shifted_half(size: int) -> npt.NDArray[np.int64]:
    return np.sort(stream(0, "signals", "half").permutation(size)[: size // 2])


def perturbed(images: networks.Images, shifts: Sequence[str]) -> networks.Images:
    rng, result = stream(0, "signals", "shift"), images.copy()
    which, severity = rng.integers(len(shifts), size=len(images)), rng.choice(SEVERITIES, len(images))
    for code, spec in enumerate(shifts):
        one, at = perturbations.registry.build(spec), np.flatnonzero(which == code)
        draws = perturbations.ItemStreams.of(0, one.name, at, severity[at])
        result[at] = one.apply(images[at], severity[at], draws)
    return result


def reference_of(name: str) -> Path:
    """Some of what the network was trained on."""
    path = networks.cache_folder() / f"signals-{name}-reference.npz"
    if not path.exists():
        images, labels = SUBJECTS[name].data("train")
        np.savez(path, images=images[:REFERENCE], labels=labels[:REFERENCE])
    return path


def predicted(name: str) -> Pool:
    """All items of a subject, with every signal but those of second models."""
    path = networks.cache_folder() / f"signals-{name}.parquet"
    if not path.exists():
        subject = SUBJECTS[name]
        pool = predict.predict(
            networks.trained(subject.network),
            items_of(name),
            reference=reference_of(name),
            auxiliary=SIGNALS,
            symmetry=subject.symmetry,
            labels=True,
        )
        sources.save(pool, path)
    return sources.load(path)


def members(name: str) -> dict[str, FloatArray]:
    """By kind of second model, its probabilities for all items."""
    path = networks.cache_folder() / f"signals-{name}-members.npz"
    if not path.exists():
        with np.load(items_of(name)) as items, np.load(reference_of(name)) as known:
            trained = auxiliary.train_member(known["images"], known["labels"], 10, seed=0)
            tuned = copy.deepcopy(networks.trained(SUBJECTS[name].network))
            train_on(tuned, known["images"], known["labels"])
            logits = torch.from_numpy(networks.answers(tuned.eval(), items["images"])).double()
            np.savez(path, **{TRAINED: trained(items["images"]), TUNED: logits.softmax(dim=1).numpy()})
    with np.load(path) as file:
        return {kind: file[kind] for kind in KINDS}


def train_on(network: torch.nn.Module, images: networks.Images, labels: npt.NDArray[np.int64]) -> None:
    """Two more passes, over images with the disturbances that a trained member gets."""
    noise, rng = torch.Generator().manual_seed(0), stream(0, "signals", "tuned")
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    network.train()
    order = np.concatenate([rng.permutation(len(images)) for _ in range(2)])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, -(-len(order) // 128))
    for start in range(0, len(order), 128):
        some = order[start : start + 128]
        batch = augmented(torch, networks.batch_of(images[some]), auxiliary.AUGMENTATIONS[:-1], noise)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(network(batch), torch.from_numpy(labels[some])).backward()
        optimiser.step()
        schedule.step()


@dataclass(frozen=True, eq=False)
class Case:
    """A pool, what two second models think of its predictions, and how often these are wrong themselves.

    doubts
        By kind of second model, the column ``member``.
    errors
        By kind, the share of the pool that it gets wrong.
    """

    pool: Pool
    doubts: dict[str, FloatArray]
    errors: dict[str, float]

    @property
    def error(self) -> float:
        return float(self.pool.losses().mean())

    def with_member(self, kind: str) -> Pool:
        return replace(self.pool, columns={**self.pool.columns, "member": self.doubts[kind]})


def case_of(name: str) -> Case:
    """One of ``POOLS``; in the shifted ones, half of the items are the perturbed copies."""
    subject, _, shifted = name.partition("-")
    size = len(SUBJECTS[subject].data("test")[1])
    chosen = np.arange(size)
    if shifted:
        half = shifted_half(size)
        chosen[half] = size + np.arange(len(half))
    pool = replace(predicted(subject).select(chosen), name=name)
    assert pool.classes == tuple(str(code) for code in range(10))
    answers = {kind: given[chosen] for kind, given in members(subject).items()}
    doubts = {kind: doubt(pool, given) for kind, given in answers.items()}
    errors = {kind: float((given.argmax(axis=1) != pool.target).mean()) for kind, given in answers.items()}
    return Case(pool, doubts, errors)


def doubt(pool: Pool, member: FloatArray) -> FloatArray:
    """The column ``member`` from a second model's probabilities."""
    fitted = auxiliary.Member().fit(None, seed=0)
    assert pool.predictions is not None
    return fitted.finish(fitted.values(Trace("classification", pool.predictions, member=member)))


@dataclass(frozen=True)
class Campaigns:
    """Of many simulated campaigns: RMSE relative to simple random sampling, its standard error, mean failures."""

    ratio: float
    error: float
    failures: float


def campaigns(field: Field, seeds: range) -> Campaigns:
    design = registry.build("waves:objective=estimate", auxiliary="+".join(field.frame.auxiliary))
    labelled = [play(field, design, budget=LABELS, seed=seed) for seed in seeds]
    squares = (np.array([Fit.of(one).value for one in labelled]) - field.losses.mean()) ** 2
    srs = field.losses.std() * np.sqrt(1 / LABELS - 1 / field.frame.size)
    ratio = float(np.sqrt(squares.mean()) / srs)
    relative = float(squares.std(ddof=1) / squares.mean() / np.sqrt(len(seeds))) / 2
    return Campaigns(ratio, ratio * relative, float(np.mean([one.failures for one in labelled])))


def as_odds(field: Field) -> Field:
    """The same field, whose risk model takes the member's log odds as they are and not by rank, with slope .25 ± .4."""
    frame = field.frame
    model = model_of(frame)
    at = 2 + list(frame.auxiliary).index("member")  # after 1, the doubt and its square; confidence comes first
    sd = model.sd.copy()
    sd[at] = 0.4
    rule = replace(model.rule, features=MemberAsOdds(model.rule.features, at - 1))
    frame.memo("risk", lambda: replace(model, rule=rule, sd=sd))
    return field


@dataclass(frozen=True, eq=False)
class MemberAsOdds:
    """Features, but for the member's log odds at this place."""

    features: Features
    at: int

    @property
    def key(self) -> str:
        return f"{self.features.key} odds at {self.at}"

    def columns(self, part: Population) -> list[np.ndarray]:
        found = self.features.columns(part)
        found[self.at] = part.auxiliary["member"] + LOW
        return found


@dataclass(frozen=True)
class Row:
    """One line of a table: a variable, or several together."""

    name: str
    auc: float
    riskiest: float
    achievable: float
    achieved: Campaigns

    def __str__(self) -> str:
        cells = (
            *(self.name, f"{self.auc:.3f}", f"{self.riskiest:.0f}", f"{self.achievable:.3f}"),
            *(f"{self.achieved.ratio:.3f} ± {self.achieved.error:.3f}", f"{self.achieved.failures:.0f}"),
        )
        return f"| {' | '.join(cells)} |"


def row(pool: Pool, name: str, names: Sequence[str], *, seeds: range) -> Row:
    found = separation(pool, names).signals[-1]
    achieved = campaigns(Field.of(pool, auxiliary=names), seeds)
    return Row(name, found.separation, found.riskiest, found.ratio, achieved)


def rows(case: Case, seeds: range) -> Iterator[Row]:
    """Variables alone, the best first, with a third of the campaigns; then together, the tuned copy last."""
    pool, other = case.with_member(TRAINED), case.with_member(TUNED)
    few, many = partial(row, seeds=seeds[: len(seeds) // 3]), partial(row, seeds=seeds)
    alone = [few(pool, name, (name,)) for name in derived.names(pool)]
    alone.append(few(other, "member (tuned copy)", ("member",)))
    yield from sorted(alone, key=lambda one: one.achievable)
    for name, names in together(derived.names(pool)).items():
        yield many(pool, f"**{name}**", names)
    yield many(other, "**+ member (tuned copy)**", (*USUAL, "member"))
    yield many(other, "**auto (tuned copy)**", helpful(derived.names(pool)))


def odds(case: Case, seeds: range) -> str:
    """What confidence + dsa + lsa + member would reach if the risk model took the member's log odds as they are."""
    fields = {kind: as_odds(Field.of(case.with_member(kind), auxiliary=(*USUAL, "member"))) for kind in KINDS}
    found = {kind: campaigns(field, seeds) for kind, field in fields.items()}
    words = ", ".join(f"{one.ratio:.3f} ± {one.error:.3f} ({kind})" for kind, one in found.items())
    return f"`+ member` by its log odds and not by rank: {words}."


def together(have: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Sets of variables by what they are called in the table; ``auto`` is what the technique takes by itself."""
    more = {f"+ {name}": (*USUAL, name) for name in ("member", "symmetry", "knn_disagreement") if name in have}
    auto = helpful(have)
    without = tuple(name for name in auto if name not in ("sae", "vae"))
    return {" + ".join(USUAL): USUAL, **more, "auto without sae, vae": without, "auto": auto}


def helpful(have: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name, variable in auxiliary.registry.items() if variable.helpful and name in have)


HEAD = (
    f"| auxiliary | AUC | failures in 200 riskiest | achievable ratio | at {LABELS} labels | failures found |",
    "|---|---|---|---|---|---|",
)


def table(name: str, seeds: range) -> str:
    case = case_of(name)
    lines = [f"## {name}", "", about(case), "", *HEAD]
    lines += [str(one) for one in rows(case, seeds)]
    return "\n".join([*lines, "", odds(case, seeds), ""])


def about(case: Case) -> str:
    wrong = "; ".join(
        f"the {kind} member {error:.1%}, {error / case.error:.2f} times as often" for kind, error in case.errors.items()
    )
    return f"The model fails on {case.error:.1%} of {len(case.pool):,} items; {wrong}."


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("pools", nargs="*", metavar="pool", help=", ".join(POOLS))
    parser.add_argument("--repetitions", type=int, default=600)
    parser.add_argument("--first", type=int, default=0, help="seed of the first campaign")
    given = parser.parse_args()
    if unknown := set(given.pools) - set(POOLS):
        parser.error(f"no pool {', '.join(unknown)}; there are {', '.join(POOLS)}")
    for name in given.pools or POOLS:
        print(table(name, range(given.first, given.first + given.repetitions)), flush=True)


if __name__ == "__main__":
    main()
