"""Auxiliary variables, one a file: how suspicious an item looks. A new one is a file here and a line in ``derived``.

See ``auxiliary.base.Auxiliary`` for what each of them is.
"""

from __future__ import annotations

from fieldcheck.accuracy.auxiliary.combined import Combined, expand
from fieldcheck.accuracy.auxiliary.confidence import Confidence
from fieldcheck.accuracy.auxiliary.derived import registry
from fieldcheck.accuracy.auxiliary.dsa import Dsa
from fieldcheck.accuracy.auxiliary.entropy import Entropy
from fieldcheck.accuracy.auxiliary.gini import Gini
from fieldcheck.accuracy.auxiliary.knn import Knn
from fieldcheck.accuracy.auxiliary.knn_disagreement import KnnDisagreement
from fieldcheck.accuracy.auxiliary.lsa import Lsa
from fieldcheck.accuracy.auxiliary.margin import Margin
from fieldcheck.accuracy.auxiliary.mdsa import Mdsa
from fieldcheck.accuracy.auxiliary.member import Member
from fieldcheck.accuracy.auxiliary.sae import Sae
from fieldcheck.accuracy.auxiliary.symmetry import Symmetry
from fieldcheck.accuracy.auxiliary.training.second_model import AUGMENTATIONS, TrainedMember, train_member
from fieldcheck.accuracy.auxiliary.vae import Vae

__all__ = [
    "AUGMENTATIONS",
    "Combined",
    "Confidence",
    "Dsa",
    "Entropy",
    "Gini",
    "Knn",
    "KnnDisagreement",
    "Lsa",
    "Margin",
    "Mdsa",
    "Member",
    "Sae",
    "Symmetry",
    "TrainedMember",
    "Vae",
    "expand",
    "registry",
    "train_member",
]
