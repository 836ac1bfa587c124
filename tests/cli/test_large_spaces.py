"""Spaces that are too large for something: said before anything is spent."""

from __future__ import annotations

from pathlib import Path

from fieldcheck.tomography import perturbations

from .sheets import Run


def space(network: Path, count: int, more: str = "") -> str:
    names = [name for name, kind in perturbations.registry.items() if kind().kind == "image"][:count]
    tables = "".join(f'[[perturbation]]\nname = "{name}"\nlevels = 5\n' for name in names)
    model = f'[model]\nfile = "{network / "digits.onnx"}"\n[data]\nfile = "{network / "digits.npz"}"\nlimit = 50\n'
    return f'surrogate = "independence"\n{model}{more}{tables}'


def test_quality_is_refused_before_anything_is_spent(run: Run, network: Path) -> None:
    Path("space.toml").write_text(space(network, 10, "[quality]\ntests = 20\n"))
    done = run("tomography", "run", "space.toml", "--out", "r", "--inferences", 300)
    assert done.code == 2
    assert "the quality of 60,466,176 tests" in done.err
    assert not Path("r").exists()
