"""An engine."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Threads:
    """Shards in threads of this process."""

    name: ClassVar[str] = "threads"
    title: ClassVar[str] = "threads of this process"
    workers: int = 2

    def map(self, step, shards, constants):
        with ThreadPoolExecutor(self.workers) as pool:
            yield from pool.map(lambda shard: step(shard, constants), shards)
