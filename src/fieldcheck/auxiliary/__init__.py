"""Auxiliary variables, one a file: how suspicious an item looks. A new one is a file here and a line in the registry.

See ``core.trace.Auxiliary`` for what each of them is.
"""

from __future__ import annotations

from fieldcheck.auxiliary.combined import Combined, expand
from fieldcheck.auxiliary.confidence import Confidence
from fieldcheck.auxiliary.dsa import Dsa
from fieldcheck.auxiliary.entropy import Entropy
from fieldcheck.auxiliary.gini import Gini
from fieldcheck.auxiliary.knn import Knn
from fieldcheck.auxiliary.knn_disagreement import KnnDisagreement
from fieldcheck.auxiliary.lsa import Lsa
from fieldcheck.auxiliary.margin import Margin
from fieldcheck.auxiliary.mdsa import Mdsa
from fieldcheck.auxiliary.member import Member
from fieldcheck.auxiliary.member_training import AUGMENTATIONS, TrainedMember, train_member
from fieldcheck.auxiliary.sae import Sae
from fieldcheck.auxiliary.symmetry import Symmetry
from fieldcheck.auxiliary.vae import Vae
from fieldcheck.core.registry import Registry
from fieldcheck.core.trace import Auxiliary

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

registry: Registry[Auxiliary] = Registry(
    "auxiliary variable",
    "fieldcheck.auxiliary",
    Confidence,
    Margin,
    Entropy,
    Gini,
    Dsa,
    Lsa,
    Mdsa,
    Knn,
    Member,
    Symmetry,
    KnnDisagreement,
    Sae,
    Vae,
    hint="",
)
