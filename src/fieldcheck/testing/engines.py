"""What every engine must do, whoever wrote it."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool.engine import Engine
from fieldcheck.testing.require import check_described, made_of, require


def check_engine(engine: Engine | type[Engine], *, deaths: bool = True) -> None:
    """Raise AssertionError unless the engine keeps its contract.

    Results in the order of the shards, whoever is first; what a step raises is raised, as it is; constants are one
    object per worker; no shard, no result; and a worker that is killed is replaced, nothing being lost.

    deaths
        Whether a worker is killed (with signal 9); not for an engine that works in this very process.
    """
    made: Engine = made_of(engine)
    check_described(made, Engine, "title")
    shards = list(range(9))
    found = list(made.map(_late, shards, _Constants(10)))
    require(found == [10 * one for one in shards], f"{made.name}: results out of order: {found}")
    require(list(made.map(_late, [], _Constants(10))) == [], f"{made.name}: results without a shard")
    _check_raised(made)
    _check_constants(made)
    if deaths:
        _check_deaths(made, shards)


@dataclass
class _Constants:
    factor: int
    folder: str = ""
    seen: list[int] = field(default_factory=list)


def _late(shard: int, constants: _Constants) -> int:
    """The first shard takes longest."""
    time.sleep(0.2 if shard == 0 else 0)
    return shard * constants.factor


def _refusing(shard: int, constants: _Constants) -> int:
    if shard == 1:
        raise FieldcheckError("this shard is bad", rule="shards are good", hint="another one")
    return shard


def _remembering(shard: int, constants: _Constants) -> tuple[int, tuple[int, ...]]:
    constants.seen.append(shard)
    return os.getpid(), tuple(constants.seen)


def _dying(shard: int, constants: _Constants) -> int:
    """The worker is killed with shard 2, the first time."""
    mark = Path(constants.folder, "died")
    if shard == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return shard * constants.factor


def _check_raised(made: Engine) -> None:
    try:
        list(made.map(_refusing, [0, 1, 2], _Constants(1)))
    except FieldcheckError as error:
        words = (error.problem, error.rule, error.hint, str(error).count("\n"))
        require(words == ("this shard is bad", "shards are good", "another one", 2), f"{made.name}: raises {error!s}")
        return
    raise AssertionError(f"{made.name}: what a step raises is lost")


def _check_constants(made: Engine) -> None:
    """What a worker puts into the constants is there when its next shard comes."""
    by_worker: dict[int, int] = {}
    for worker, seen in made.map(_remembering, list(range(12)), _Constants(1)):
        by_worker[worker] = max(by_worker.get(worker, 0), len(seen))
    require(sum(by_worker.values()) >= 12, f"{made.name}: constants are sent anew: {by_worker}")


def _check_deaths(made: Engine, shards: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = list(made.map(_dying, shards, _Constants(3, folder)))
        require(Path(folder, "died").exists(), f"{made.name}: no worker died")
    require(found == [3 * one for one in shards], f"{made.name}: a worker that died took results with it: {found}")
