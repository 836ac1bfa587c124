"""The intervals, by the kind of sample: each takes arrays and gives bounds for the mean loss."""

from __future__ import annotations

from fieldcheck.numerics.exact_intervals import clopper_pearson, hypergeometric
from fieldcheck.numerics.stratified_intervals import srs_mean, stratified_binary, stratified_mean
from fieldcheck.numerics.weighted_interval import WeightedInterval, out_of_reach, weighted_mean

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
