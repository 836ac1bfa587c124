"""Options that several verbs share, and how their text is read."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from fieldcheck import engines, sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.cli import wrong_files
from fieldcheck.cli.show import tell
from fieldcheck.core.errors import FieldcheckError, PoolError
from fieldcheck.core.pool.engine import Engine
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.types import Loss, Task
from fieldcheck.files.damage import decoding
from fieldcheck.sources import description

PoolFile = Annotated[Path, typer.Argument(metavar="POOL", help="CSV, Excel, Parquet, JSON or npz: a row per item.")]


DesignSpec = Annotated[
    str,
    typer.Option(
        "--design", "-d", help="Technique, with parameters after a colon: ssrs:k=8. See `fieldcheck designs`."
    ),
]


AuxiliaryName = Annotated[
    str | None,
    typer.Option("--auxiliary", "-a", help="Auxiliary variable: confidence, dsa, lsa, or any numeric column."),
]


Budget = Annotated[int, typer.Option("--budget", "-n", help="Number of labels.")]


Seed = Annotated[int, typer.Option("--seed", "-s", min=0, help="Same seed, same items and same estimate.")]


Level = Annotated[
    float,
    typer.Option("--level", min=0.5, max=0.9999, help="What share of campaigns the interval must hold in."),
]


Truth = Annotated[str | None, typer.Option("--truth", help="Column of true labels (classes, numbers, or Pass/Fail).")]


Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        "-c",
        metavar="ROLE=NAME",
        help="Name a column: prediction=yhat, id=file, confidence=p:percent, confidence=none ...",
    ),
]


TaskName = Annotated[str | None, typer.Option("--task", help="classification or regression, where it cannot be told.")]


Shift = Annotated[list[str] | None, typer.Option("--shift", help="Subtract the minimum of this column (negative lsa).")]


Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Of a CSV file that is not UTF-8: latin-1, utf-16 ...")
]


LossName = Annotated[str, typer.Option("--loss", help="Regression: squared (mse, rmse) or absolute error (mae).")]


Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        help="Regression: an absolute error over this counts as a failure (default: sd of predictions).",
    ),
]


Activations = Annotated[
    Path | None,
    typer.Option("--activations", help="For ces: .npy array, one row per item, one column per neuron."),
]


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


UndecidedExit = Annotated[
    int, typer.Option("--undecided-exit", metavar="N", min=0, max=255, help="Exit code where it is undecided.")
]


def load_pool(
    path: Path,
    *,
    truth: str | None = None,
    columns: Sequence[str] | None = None,
    task: str | None = None,
    shift: Sequence[str] | None = None,
    encoding: str | None = None,
    engine: Engine | None = None,
) -> Pool:
    """The pool behind the options."""
    with wrong_files.expecting(path, "a pool"):
        return sources.load(
            path,
            columns=roles_of(columns),
            task=task_of(task),
            shift=tuple(shift or ()),
            encoding=encoding,
            truth=truth,
            engine=engine,
        )


def pool_options(
    columns: Sequence[str] | None, task: str | None, shift: Sequence[str] | None, encoding: str | None
) -> dict[str, Any]:
    """How a pool is to be read again, as plain values."""
    return {"columns": roles_of(columns), "task": task, "shift": list(shift or ()), "encoding": encoding}


def reading_words(columns: Sequence[str] | None, task: str | None, encoding: str | None) -> list[str]:
    """The options that say how a pool is read, as they stood on the command line."""
    words = [word for text in columns or () for word in ("--column", text)]
    return words + (["--task", task] if task else []) + (["--encoding", encoding] if encoding else [])


def task_of(task: str | None) -> Task | None:
    """``classification``, ``regression`` or nothing."""
    known: dict[str | None, Task | None] = {None: None, "classification": "classification", "regression": "regression"}
    if task in known:
        return known[task]
    raise PoolError(f"no task '{task}'", rule="classification or regression")


def roles_of(columns: Sequence[str] | None) -> dict[str, str]:
    """From ``ROLE=NAME`` to a mapping."""
    pairs = [text.partition("=") for text in columns or ()]
    for role, equals, name in pairs:
        if not (role and equals and name):
            raise PoolError(
                f"--column {role}{equals}{name}", rule="--column ROLE=NAME", hint="--column prediction=yhat"
            )
    return {role.strip().lower(): name for role, _, name in pairs}


def tell_notes(pool: Pool) -> None:
    """What to know about how a pool was read; loud where nothing in it tells risky items from safe ones."""
    for note in pool.notes:
        tell(f"note: {note}")
    if not derived.names(pool):
        same = "confidence" in derived.constant(pool)
        what = "the confidence is the same for all items" if same else "no confidence column"
        tell(f"warning: {what}: {description.NO_SIGNAL}")


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def load_activations(path: Path | None) -> npt.NDArray[Any] | None:
    """A memory-mapped array; nothing is unpickled."""
    if path is None:
        return None
    with decoding(path, PoolError, rule="a .npy file, one row per item, one column per neuron"):
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def check_loss(loss: str) -> Loss:
    """``squared`` or ``absolute``."""
    known: dict[str, Loss] = {"squared": "squared", "absolute": "absolute"}
    if loss in known:
        return known[loss]
    raise FieldcheckError(f"no loss '{loss}'", rule="squared or absolute", hint="--loss absolute")


EngineName = Annotated[
    str,
    typer.Option(
        "--engine", help="Where the work is done: local, processes, processes:workers=4, ray, ray:address=HOST:PORT."
    ),
]


def engine_named(spec: str) -> Engine | None:
    """The engine for the steps of a pool in shards; None: here, and in memory unless it is large."""
    return None if spec == "local" else engines.engine_of(spec)


def check_outputs(*files: Path | None) -> None:
    """Refuse files that could not be written, before any work is done for them."""
    for path in files:
        if path is None or str(path) == "-":
            continue
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            raise FieldcheckError(
                f"{path} cannot be written",
                rule="a file in a folder that exists and may be written to",
                hint=f"mkdir -p {shlex.quote(str(path.parent))}" if not path.parent.exists() else "another place",
            )


def make_folder(path: Path | None) -> None:
    """The folder for many files."""
    try:
        if path is not None:
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FieldcheckError(
            f"the folder {path} cannot be made: {error.strerror}", rule="a folder that may be written to"
        ) from None


NewClasses = Annotated[
    list[str] | None,
    typer.Option("--new-class", metavar="NAME", help="A class that labels may name though the model never says it."),
]


def split_list(text: str) -> list[str]:
    """``a,b`` as two words."""
    return [word.strip() for word in text.split(",") if word.strip()]


def split_numbers(text: str, name: str) -> list[int]:
    """``50,200`` as two numbers."""
    try:
        return [int(word) for word in split_list(text)]
    except ValueError:
        raise FieldcheckError(f"{name} '{text}'", rule="whole numbers between commas", hint=f"{name} 50,200") from None
