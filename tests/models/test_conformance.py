"""Every adapter, with every kind of head that it can have: the contract, and the numbers of the framework itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fieldcheck.models import registry
from fieldcheck.testing import check_model

from .cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_it_keeps_the_contract_and_says_what_its_framework_says(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    check_model(case.model, case.batch)
    assert case.model.name in registry
    np.testing.assert_allclose(case.model.respond(case.batch).outputs, case.outputs, rtol=0, atol=1e-5)
    if case.hidden is None:
        assert case.model.layer == ""
    else:
        shown = case.model.respond(case.batch, layers=[case.model.layer]).activations[case.model.layer]
        np.testing.assert_allclose(shown, case.hidden, rtol=0, atol=1e-5)


def test_every_adapter_has_a_case() -> None:
    assert {name.split("_")[0] for name in CASES} == set(registry)
