"""``predict`` beside a bare inference loop of the same network: MNIST's test images, a LeNet-5 in torch and in ONNX.

The network is trained for a moment first (its speed does not depend on that). Bare loop and ``predict`` take turns and
the best of five counts, so that a busy machine slows both; each model has one thread. The bare loop does the least
that a user would write: batches of 256, divided by 255, softmax, kept. Both do it in one process; memory is measured
in a process for each size (Linux: from /proc), on MNIST's images over and over.

    FIELDCHECK_DATA=.../data OMP_NUM_THREADS=1 python benchmarks/predict_speed.py
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

BATCH, ROUNDS = 256, 5
SIZES = (20_000, 100_000, 500_000)
BAR, SAME = 1.3, 1e-5


def mnist() -> dict[str, Array]:
    folder = Path(os.environ.get("FIELDCHECK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    with np.load(folder / "images" / "mnist.npz") as data:
        return {name: data[name] for name in data}


def lenet(images: Array, labels: Array) -> Any:
    """LeNet-5 with rectifiers, trained on one pass over some images."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    network = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    for at in range(0, len(images), BATCH):
        batch = torch.from_numpy(images[at : at + BATCH]).float()[:, None] / 255
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(batch), torch.from_numpy(labels[at : at + BATCH]).long()).backward()
        optimiser.step()
    return network.eval()


def write_onnx(network: Any, path: Path) -> None:
    """The same weights as an ONNX graph."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = [numpy_helper.from_array(w.detach().numpy(), f"w{at}") for at, w in enumerate(network.parameters())]
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Conv", ["x", "w0", "w1"], ["a"], pads=[2, 2, 2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], **pool),
        helper.make_node("Conv", ["c", "w2", "w3"], ["d"]),
        helper.make_node("Relu", ["d"], ["e"]),
        helper.make_node("MaxPool", ["e"], ["f"], **pool),
        helper.make_node("Flatten", ["f"], ["g"]),
        helper.make_node("Gemm", ["g", "w4", "w5"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["i"]),
        helper.make_node("Gemm", ["i", "w6", "w7"], ["j"], transB=1),
        helper.make_node("Relu", ["j"], ["k"]),
        helper.make_node("Gemm", ["k", "w8", "w9"], ["y"], transB=1),
    ]
    ends = [("x", ["n", 1, 28, 28]), ("y", ["n", 10])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends]
    graph = helper.make_graph(nodes, "lenet", infos[:1], infos[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def bare_torch(network: Any, images: Array) -> Array:
    import torch

    kept = []
    with torch.inference_mode():
        for at in range(0, len(images), BATCH):
            batch = torch.from_numpy(images[at : at + BATCH]).float().div_(255)[:, None]
            kept.append(torch.softmax(network(batch), dim=1).numpy())
    return np.concatenate(kept)


def bare_onnx(path: Path) -> Callable[[Array], Array]:
    import onnxruntime
    from scipy.special import softmax

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(images: Array) -> Array:
        kept = []
        for at in range(0, len(images), BATCH):
            batch = images[at : at + BATCH].astype(np.float32)[:, None] / 255
            kept.append(softmax(session.run(["y"], {"x": batch})[0], axis=1))
        return np.concatenate(kept)

    return run


def ours(model: Any, images: Array) -> Callable[[], Any]:
    """``predict`` on an opened model, as the bare loop has its model open too."""
    from fieldcheck.accuracy.predict import predict
    from fieldcheck.models import Opening, Preparation, opened
    from fieldcheck.sources import open_inputs

    inputs = open_inputs(images)
    ready = opened(model, inputs, opening=Opening(threads=1), preparation=Preparation()).model
    return lambda: predict(ready, inputs, batch=BATCH)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def compare(name: str, bare: Callable[[], Array], pool: Callable[[], Any]) -> tuple[str, Array, bool]:
    turns = [(seconds(bare), seconds(pool)) for _ in range(ROUNDS)]
    low, own = (min(turn[side][0] for turn in turns) for side in (0, 1))
    (_, want), (_, found) = turns[0]
    apart = float(np.abs(found.probabilities - want).max())
    good = own <= BAR * low and apart <= SAME
    return f"| {name} | {low:.2f} | {own:.2f} | {own / low:.2f} | {apart:.1e} |", found.probabilities, good


@dataclass(frozen=True)
class Repeated:
    """Images over and over: a large pool that takes no room itself."""

    images: Array
    size: int
    name: str = "repeated"
    kind: Any = "image"
    labels: None = None

    @property
    def ids(self) -> Array:
        return np.arange(self.size)

    def __len__(self) -> int:
        return self.size

    def batch(self, start: int, stop: int) -> Array:
        return self.images[np.arange(start, stop) % len(self.images)]


def memory(field: str) -> float:
    """Megabytes of this process: resident now (VmRSS) or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(field))) / 1024


def peak(model: str, size: int) -> float:
    """In this process: megabytes above what a small pool needs."""
    from fieldcheck.accuracy.predict import predict

    images = mnist()["x_test"]
    predict(model, images[:2_000])
    before = memory("VmHWM")
    predict(model, Repeated(images, size))
    return memory("VmHWM") - before


def main() -> None:
    import onnxruntime
    import torch

    print(f"Python {platform.python_version()}, torch {torch.__version__}, onnxruntime {onnxruntime.__version__}\n")
    data = mnist()
    network = lenet(data["x_train"][:20_000], data["y_train"][:20_000])
    images = data["x_test"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lenet.onnx"
        write_onnx(network, path)
        loop = bare_onnx(path)
        print("| model | bare loop, s | predict, s | ratio | largest difference |\n|---|---|---|---|---|")
        first, torches, good = compare("torch", lambda: bare_torch(network, images), ours(network, images))
        second, onnxes, fine = compare("onnx", lambda: loop(images), ours(path, images))
        print(f"{first}\n{second}\n")
        apart = float(np.abs(torches - onnxes).max())
        print(f"torch and ONNX differ by at most {apart:.1e} (bar {SAME:g}); ratios under {BAR}: {good and fine}\n")
        print("| items | memory, MB | bytes an item |\n|---|---|---|")
        for size in SIZES:
            command = [sys.executable, __file__, str(path), str(size)]
            used = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(f"| {size:,} | {used:.0f} | {used * 2**20 / size:.0f} |", flush=True)
    if not (good and fine and apart <= SAME):
        sys.exit("a bar is missed")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(peak(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
