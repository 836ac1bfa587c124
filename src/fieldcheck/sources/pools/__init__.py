"""Files and objects to pools, one format a file. A new one is a file here and a line in the registry below."""

from __future__ import annotations

from fieldcheck.core.errors import PoolError
from fieldcheck.core.registry import Registry
from fieldcheck.sources.pools.base import PoolFormat
from fieldcheck.sources.pools.csv import CsvPools
from fieldcheck.sources.pools.json import JsonPools
from fieldcheck.sources.pools.npz import NpzPools
from fieldcheck.sources.pools.parquet import ParquetPools
from fieldcheck.sources.pools.shards.files import ShardedPools
from fieldcheck.sources.pools.xlsx import ExcelPools

__all__ = ["registry"]

registry: Registry[PoolFormat] = Registry(
    "format of pools",
    "fieldcheck.pools",
    CsvPools,
    ParquetPools,
    NpzPools,
    ExcelPools,
    JsonPools,
    ShardedPools,
    error=PoolError,
    hint="",
)
