"""From a model and inputs to a pool: predictions, auxiliary variables, and the activations of a layer."""

from fieldcheck.models import Opening, Preparation, opened
from fieldcheck.predict.files import ActivationsFile, whole_file
from fieldcheck.predict.only import from_predictions
from fieldcheck.predict.run import predict

__all__ = ["ActivationsFile", "Opening", "Preparation", "from_predictions", "opened", "predict", "whole_file"]
