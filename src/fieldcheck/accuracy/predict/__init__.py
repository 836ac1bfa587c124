"""From a model and inputs to a pool: predictions, auxiliary variables, and the activations of a layer."""

from __future__ import annotations

from fieldcheck.accuracy.predict.activations import ActivationsFile
from fieldcheck.accuracy.predict.detection import detected
from fieldcheck.accuracy.predict.needs import has_labels
from fieldcheck.accuracy.predict.predict import Prediction, predict
from fieldcheck.accuracy.predict.predictions_only import from_predictions
from fieldcheck.accuracy.predict.shards import predict_shards

__all__ = ["ActivationsFile", "Prediction", "detected", "from_predictions", "has_labels", "predict", "predict_shards"]
