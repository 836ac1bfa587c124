"""The intervals, by the kind of sample: each takes arrays and gives bounds for the mean loss."""

from __future__ import annotations

from fieldcheck.numerics.intervals.exact import clopper_pearson, hypergeometric
from fieldcheck.numerics.intervals.stratified import srs_mean, stratified_binary, stratified_mean
from fieldcheck.numerics.intervals.weighted import WeightedInterval, out_of_reach, weighted_mean

__all__ = [
    "WeightedInterval",
    "clopper_pearson",
    "hypergeometric",
    "out_of_reach",
    "srs_mean",
    "stratified_binary",
    "stratified_mean",
    "weighted_mean",
]
