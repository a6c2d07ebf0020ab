"""Whole models, labelled graphs and full-graph training: what the papers measure, in a few lines each.

    data = gnntune.models.load("cora.npz")
    model = gnntune.models.build("GCN", data.features, data.classes)
    result = gnntune.models.fit(model, data.graph("cuda"), data.x("cuda"), data.y("cuda"), data.split(0, "cuda"))
    print(result.test, result.validation)

`build(..., convs=torch_geometric.nn)` makes the same model of PyTorch Geometric's layers, with the same state_dict.
Needs torch and PyTorch Geometric.
"""

from gnntune.models._data import Labelled, Split, load
from gnntune.models._fit import Epochs, Fitted, fit, hits
from gnntune.models._networks import MODELS, Network, build

__all__ = ["MODELS", "Epochs", "Fitted", "Labelled", "Network", "Split", "build", "fit", "hits", "load"]
