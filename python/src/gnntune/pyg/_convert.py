"""Turning a model's layers into ours, and back."""

from __future__ import annotations

import warnings
from typing import TypeVar

from torch import nn
from torch_geometric.nn import MessagePassing

from gnntune.pyg._convs import LAYERS
from gnntune.pyg._layer import Layer

Model = TypeVar("Model", bound=nn.Module)
_ORIGINALS = {ours: theirs for theirs, ours in LAYERS.items()}


def convert(model: Model) -> Model:
    """Makes every layer of PyTorch Geometric that gnntune has into gnntune's, in place, and returns the model.

    Parameters, buffers, state_dict and hooks stay as they are; a layer of a subclass of somebody's own stays untouched.
    The model may then be called with a gnntune.torch.Graph in the place of its edge_index, which torch.compile and
    CUDA graphs want. A warning names layers of message passing that it leaves, if any: they take an edge_index.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a torch.nn.Module, not {type(model).__name__}")
    left = set()
    for module in model.modules():
        ours = LAYERS.get(type(module))
        if ours is not None:
            module.__class__ = ours
        elif isinstance(module, MessagePassing) and not isinstance(module, Layer):
            left.add(type(module).__name__)
    if left:
        warnings.warn(
            f"gnntune: convert() leaves {', '.join(sorted(left))} to PyTorch Geometric: call the model with an "
            "edge_index, which ours take too, since these take no Graph",
            stacklevel=2,
        )
    return model


def revert(model: Model) -> Model:
    """Undoes convert(), in place; layers that were made as gnntune's become PyTorch Geometric's too."""
    for module in model.modules():
        theirs = _ORIGINALS.get(type(module))
        if theirs is not None:
            module.__class__ = theirs
            module.__dict__.pop("_gnntune_cached", None)
    return model
