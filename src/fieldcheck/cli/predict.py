"""``fieldcheck predict``: from a model and inputs to a pool."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from fieldcheck import engines, models, sources
from fieldcheck.accuracy import predict as running
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.cli import detectors, options
from fieldcheck.cli.show import Report, progress, say, show_json, tell
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError, ModelError
from fieldcheck.core.inputs import Inputs
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files.places import place_of
from fieldcheck.files.whole import whole_file
from fieldcheck.models import classes as naming
from fieldcheck.sources.pools.shards import manifest

NO_MODEL = "none"


LIST = "list"


KNOWN = ("auto", "folder")
"""Truths that need no name: what the inputs know."""


class BareTruth(TyperCommand):
    """A command whose ``--truth`` may stand alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ends = [*args[1:], "-"]
        alone = [at for at, word in enumerate(args) if word == "--truth" and ends[at].startswith("-")]
        for at in reversed(alone):
            args.insert(at + 1, KNOWN[0])
        return super().parse_args(ctx, args)


COMMAND = BareTruth


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="File or folder of the model; none: no model.")],
    inputs: Annotated[
        str,
        typer.Argument(metavar="INPUTS", help="Folder of images, list, npy, npz#array, CSV, Parquet, saved datasets."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The pool: .parquet, .csv or .tsv, complete or not there; or a folder of shards, which can go on.",
        ),
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", "-r", help="Inputs that the model was trained on.")
    ] = None,
    reference_limit: Annotated[
        int | None, typer.Option(min=2, help="So many items of the reference, drawn at random.")
    ] = None,
    auxiliary: Annotated[
        str | None, typer.Option("--auxiliary", "-a", help="Auxiliary variables, between commas: confidence,dsa,lsa.")
    ] = None,
    layer: Annotated[
        str, typer.Option(help="Layer of the activations; auto: the last hidden one; list: show them.")
    ] = "auto",
    activations: Annotated[
        Path | None, typer.Option(help="Keep the activations of the layer in this .npy file, for ces.")
    ] = None,
    activations_type: Annotated[str, typer.Option(help="float32, or float16 for half the size.")] = "float32",
    member: Annotated[
        str | None,
        typer.Option(help="A second model, asked about the same items; train: one trained on the reference."),
    ] = None,
    symmetry: Annotated[
        str | None, typer.Option(help="flip (left-right) or flop (top-bottom), where the truth stays the same.")
    ] = None,
    features: Annotated[str | None, typer.Option(help="A model that makes features; by default the inputs.")] = None,
    adapter: Annotated[
        str | None, typer.Option(help="Kind of model, where it cannot be told: torch, onnx, ...")
    ] = None,
    task: options.TaskName = None,
    outputs: Annotated[str, typer.Option(help="auto, logits, probabilities or values.")] = "auto",
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Run code that comes with the model (pickles, TorchScript, modules): it can do anything here.",
        ),
    ] = False,
    classes: Annotated[
        str | None, typer.Option(help="Names of the outputs, in order: between commas, or a file.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="image, text or row, where it cannot be told.")] = None,
    columns: Annotated[
        str, typer.Option("--input", help="Columns of a table that the model gets, between commas; or array of an npz.")
    ] = "",
    text: Annotated[
        list[str] | None, typer.Option(help="Column of texts; several times for items of several texts.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column of labels, of the inputs and of the reference.")] = None,
    id_column: Annotated[str | None, typer.Option("--id", help="Column of ids.")] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="COLUMN",
            help="Write the labels into the pool, for simulations: this column or array; folder: class folders; alone:"
            " whatever the inputs know.",
        ),
    ] = None,
    size: Annotated[str | None, typer.Option(help="Resize images: WIDTHxHEIGHT.")] = None,
    colour: Annotated[str, typer.Option(help="Images: auto, rgb or grey (gray).")] = "auto",
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out images that cannot be read; they are not in the pool.")
    ] = False,
    scale: Annotated[str, typer.Option(help="auto (images of 8 bits become 0 to 1), none, 0-1, or MEAN,STD.")] = "auto",
    layout: Annotated[str, typer.Option(help="Images: auto, first, last (channels), flat or plain.")] = "auto",
    fit: Annotated[
        str, typer.Option(help="Images, to the model's size: letterbox, letterbox-centre, stretch or none.")
    ] = "none",
    channels: Annotated[str, typer.Option(help="Images: rgb, or bgr for models that were trained so.")] = "rgb",
    decoder: Annotated[
        str | None,
        typer.Option(help="The model finds objects, and its outputs are read so: yolox, boxes, module:function."),
    ] = None,
    check: Annotated[
        str, typer.Option(help="Detectors: which pictures are right; detection:share=0.5,iou=0.5,score=0.3.")
    ] = "detection",
    match: Annotated[
        list[str] | None,
        typer.Option(help="Detectors, with --truth: true classes = the model's, as 0,3=2,5,7; once for each group."),
    ] = None,
    boxes: Annotated[
        str, typer.Option(help="Detectors: columns of the true boxes in an npz, as class,x0,y0,x1,y1.")
    ] = "x0,y0,x1,y1,class",
    where: Annotated[str | None, typer.Option(help="Of an npz, items whose array has a value: split=1.")] = None,
    dtype: Annotated[str, typer.Option("--dtype", help="auto, float32, float64, float16, uint8 or int64.")] = "auto",
    probabilities: Annotated[
        bool | None, typer.Option(help="Keep the probabilities of all classes (default: up to 50 classes).")
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Items that go through the model at once.")] = 256,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the model (onnx, torch).")] = None,
    rows: Annotated[
        int, typer.Option(min=1, help="Items of a shard, where --out is a folder; what a kill may lose.")
    ] = 65_536,
    engine: options.EngineName = "local",
    seed: options.Seed = 0,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Run a model over inputs and write what it said, and how suspicious that looks, as a pool."""
    names = None if auxiliary is None else options.split_list(auxiliary)
    out = None if out is None else place_of(out)
    if model == NO_MODEL:
        _check_out(out, folder=False)
        more = running.from_predictions(sources.load(inputs, encoding=encoding), names or (), seed=seed)
        _finish(more, out, items="", as_json=as_json)
        return
    reading = {
        "kind": kind,
        "text": text or (),
        "label": truth if truth not in (None, *KNOWN) else label,
        "id": id_column,
        "columns": options.split_list(columns),
        "size": size,
        "colour": colour,
        "skip_broken": skip_broken,
        "encoding": encoding,
        "boxes": boxes,
        "where": where,
    }
    required = truth is not None or reference is None
    items = sources.open_inputs(inputs, label_required=required, **cast(Any, reading))
    meaning = "raw" if decoder and outputs == "auto" else outputs
    opening = models.Opening(adapter, cast(Any, task), cast(Any, meaning), trust=trust, threads=threads)
    preparation = models.Preparation(scale, cast(Any, layout), dtype, cast(Any, fit), channels=cast(Any, channels))
    if layer == LIST:
        _show_layers(model, items, opening, preparation, as_json=as_json)
        return
    _check_out(out, activations)
    runs = _engine(engine, out)
    if decoder is not None:
        detectors.refuse(
            {
                "--reference": reference,
                "--auxiliary": auxiliary,
                "--activations": activations,
                "--member": member,
                "--symmetry": symmetry,
                "--features": features,
                detectors.FOLDER: out is not None and _is_folder(out),
            }
        )
        opened = models.opened(model, items, opening=opening, preparation=preparation)
        with progress("predict") as told:
            found = detectors.pool_of(
                opened,
                items,
                decoder=decoder,
                check=check,
                match=match or (),
                classes=() if classes is None else _names(classes),
                truth=truth is not None,
                trust=trust,
                batch=batch,
                told=told,
            )
        _finish(found, out, items=inputs, as_json=as_json)
        return

    def made(items: Inputs, reading: dict[str, Any], told: Report) -> Pool | manifest.Manifest:
        asked = running.Prediction(
            model,
            items,
            reference=None if reference is None else partial(sources.open_inputs, reference, **cast(Any, reading)),
            auxiliary=names,
            layer=layer,
            member=member,
            symmetry=symmetry,
            features=features,
            batch=batch,
            labels=True if truth is not None else None,
            classes=None if classes is None else _names(classes),
            prepare=preparation,
            opening=opening,
            reference_limit=reference_limit,
            keep_probabilities=probabilities,
            seed=seed,
        )
        if out is None or not _is_folder(out):
            part = None if activations is None else running.ActivationsFile(activations, activations_type)
            return asked.pool(told, part)
        # Other processes open the inputs themselves.
        opened = partial(sources.open_inputs, inputs, label_required=required, **cast(Any, reading))
        asked = replace(asked, inputs=opened)
        return running.predict_shards(asked, out.absolute(), rows=rows, engine=runs, progress=told)

    with progress("predict") as told:
        try:
            pool: Pool | manifest.Manifest = made(items, reading, told)
        except ModelError as refused:
            if not _may_be_grey(items, colour):
                raise
            pool = _in_grey(made, inputs, {**reading, "colour": "grey"}, told, refused, required=required)
    if truth is None and running.has_labels(items):
        tell("note: the inputs know the truth (class folders, or a column of labels); --truth writes it into the pool")
    seen = inputs if items.kind != "text" and Path(inputs).exists() else ""
    if isinstance(pool, manifest.Manifest):
        _tell_shards(pool, out, items=seen, as_json=as_json)
    else:
        _finish(pool, out, activations=activations, items=seen, as_json=as_json)


def _may_be_grey(items: Inputs, colour: str) -> bool:
    """Whether the images are in colour because nobody said otherwise."""
    return items.kind == "image" and colour == "auto" and items.batch(0, 1).shape[3:] == (3,)


def _in_grey(
    made: Callable[[Inputs, dict[str, Any], Report], Pool | manifest.Manifest],
    inputs: str,
    reading: dict[str, Any],
    told: Report,
    refused: ModelError,
    *,
    required: bool,
) -> Pool | manifest.Manifest:
    """The same with grey images; where the model does not take them either, what it said first."""
    try:
        pool = made(sources.open_inputs(inputs, label_required=required, **cast(Any, reading)), reading, told)
    except ModelError:
        raise refused from None
    note = "the images are in colour, the model takes grey: turned (--colour grey)"
    return replace(pool, notes=(note, *pool.notes))


def _names(given: str) -> list[str]:
    """Class names as they are typed, or as a file has them."""
    return (
        list(naming.read_names(Path(given).read_text("utf-8-sig")))
        if Path(given).is_file()
        else options.split_list(given)
    )


def _show_layers(
    model: str, items: Inputs, opening: models.Opening, preparation: models.Preparation, *, as_json: bool
) -> None:
    ready = models.opened(model, items, opening=opening, preparation=preparation).model
    if as_json:
        show_json({"layers": list(ready.layers), "auto": ready.layer})
        return
    for name in ready.layers:
        say(f"{name}  (auto)" if name == ready.layer else name)
    if not ready.layers:
        tell("this model shows no layers")


def _is_folder(out: Path) -> bool:
    """Whether shards are wanted: ``pool/``, or a folder that is there."""
    return not out.suffix or out.is_dir()


def _engine(spec: str, out: Path | None) -> Engine:
    """The engine; only shards can be spread over others."""
    made = engines.engine_of(spec)
    if made != engines.engine_of("local") and (out is None or not _is_folder(out)):
        raise FieldcheckError(
            f"--engine {spec} with --out {out}", rule="other engines write shards, into a folder", hint="--out pool/"
        )
    return made


def _check_out(out: Path | None, activations: Path | None = None, *, folder: bool = True) -> None:
    """Refuse before any work is done."""
    written = sources.suffixes(written=True)
    if out is None or (out.suffix.lower() not in written and not (folder and _is_folder(out))):
        raise FieldcheckError(
            "no --out" if out is None else f"--out {out}",
            rule="the pool is written to a file: " + ", ".join(written) + (", or into a folder" if folder else ""),
            hint="--out pool.parquet",
        )
    if not _is_folder(out):
        options.check_outputs(out, activations)
    elif activations is not None:
        raise FieldcheckError(
            f"--activations with the folder {out}",
            rule="activations go beside a pool in one file",
            hint="--out pool.parquet",
        )


def _tell_shards(made: manifest.Manifest, out: Path | None, *, items: str, as_json: bool) -> None:
    for note in made.notes:
        tell(f"note: {note}")
    if as_json:
        files = [one.file for one in made.shards]
        show_json({"folder": str(out), "items": made.rows, "shards": files, "columns": dict(made.schema)})
        return
    say(f"{words.counted(made.rows, 'item')} in {words.counted(len(made.shards), 'shard')} in {out}")
    shown = ["--items", items] if items else []
    say("next: " + shlex.join(["fieldcheck", "start", str(out), "--campaign", f"{Path(str(out)).name}.db", *shown]))


def _finish(pool: Pool, out: Path | None, *, items: str, activations: Path | None = None, as_json: bool) -> None:
    """Write the pool and say what is in it; ``items`` is where people see what was predicted on."""
    if out is None:
        return
    with whole_file(out) as place:
        sources.save(pool, place)
    for note in pool.notes:
        tell(f"note: {note}")
    if as_json:
        show_json(_summary(pool, out, activations))
        return
    say(f"{words.counted(len(pool), 'item')} in {out}; auxiliary variables: {', '.join(derived.names(pool)) or 'none'}")
    if activations is not None:
        say(f"activations in {activations}")
    say(_what_next(pool, out, items))


def _summary(pool: Pool, out: Path, activations: Path | None) -> dict[str, Any]:
    return {
        "file": str(out),
        "activations": None if activations is None else str(activations),
        "items": len(pool),
        "task": pool.task,
        "classes": list(pool.classes),
        "auxiliary": list(derived.names(pool)),
        "accuracy": None if pool.failed is None else float(1 - pool.failed.mean()),
        "notes": list(pool.notes),
    }


def _what_next(pool: Pool, out: Path, items: str) -> str:
    if pool.truth_known:
        return f"next: {shlex.join(['fieldcheck', 'simulate', str(out)])}"
    shown = ["--items", items] if items else []
    return "next: " + shlex.join(["fieldcheck", "start", str(out), "--campaign", f"{out.stem}.db", *shown])
