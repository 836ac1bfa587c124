"""Models of any framework behind one interface, one adapter a file; see ``models.base.Model``."""

from __future__ import annotations

from fieldcheck.models.callable import CallableModel
from fieldcheck.models.decoders import registry as known_decoders
from fieldcheck.models.detector import ClassGroups, Detector
from fieldcheck.models.keras import KerasModel
from fieldcheck.models.onnx import OnnxModel, onnx_session
from fieldcheck.models.open import is_model_file, open_model, registry
from fieldcheck.models.opened import Opened, Opening, opened
from fieldcheck.models.predictions import Predictions
from fieldcheck.models.prepare import Preparation, Steps, steps_without_layout
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.loading import named_object, reading
from fieldcheck.models.shared.outputs import Outputs
from fieldcheck.models.sklearn import SklearnModel
from fieldcheck.models.torch.modules import TorchModel
from fieldcheck.models.transformers import TransformersModel, safe_config

__all__ = [
    "Adapter",
    "CallableModel",
    "ClassGroups",
    "Detector",
    "KerasModel",
    "ModelRequest",
    "OnnxModel",
    "Opened",
    "Opening",
    "Outputs",
    "Predictions",
    "Preparation",
    "SklearnModel",
    "Steps",
    "TorchModel",
    "TransformersModel",
    "is_model_file",
    "known_decoders",
    "named_object",
    "onnx_session",
    "open_model",
    "opened",
    "reading",
    "registry",
    "safe_config",
    "steps_without_layout",
]
