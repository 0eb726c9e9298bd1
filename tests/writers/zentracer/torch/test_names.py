"""Names, ties, shapes and classes of a model's parameters."""

import torch
from torch import nn

from zentracer.torch.names import class_name, named_modules, named_parameters


class Conv1D(nn.Module):
    """As in Transformers: linear, with its weight stored [in, out]."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 9))
        self.bias = nn.Parameter(torch.zeros(9))


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(2, 3))


def facts(model):
    return {p.name: (p.class_name, p.module, p.shape, p.layout) for p in named_parameters(model)}


def test_shapes_are_turned_so_that_outputs_come_first():
    model = nn.ModuleDict(
        {
            "linear": nn.Linear(4, 5),
            "conv": nn.Conv2d(2, 6, 3),
            "back": nn.ConvTranspose2d(2, 6, 3),
            "gpt": Conv1D(),
            "words": nn.Embedding(7, 4),
            "lstm": nn.LSTM(4, 5),
            "odd": Odd(),
        }
    )
    found = facts(model)
    assert found["linear.weight"] == ("Linear", "linear", (5, 4), "[out, in]")
    assert found["linear.bias"] == ("Linear", "linear", (5,), "")
    assert found["conv.weight"] == ("Conv2d", "conv", (6, 2, 3, 3), "[out, in, kernel, kernel]")
    assert found["back.weight"] == ("ConvTranspose2d", "back", (6, 2, 3, 3), "[out, in, kernel, kernel]")
    assert found["gpt.weight"] == ("Conv1D", "gpt", (9, 3), "[out, in]")
    assert found["words.weight"] == ("Embedding", "words", (7, 4), "[entries, width]")
    assert found["lstm.weight_ih_l0"] == ("LSTM", "lstm", (20, 4), "[out, in]")
    assert found["odd.table"] == ("Odd", "odd", (2, 3), "as stored")


def test_names_are_those_of_the_author_inside_any_wrapper():
    inner = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
    inner.module = nn.Linear(2, 2)  # a name like any other
    names = [p.name for p in named_parameters(inner)]
    assert names == ["0.weight", "0.bias", "1.0.weight", "1.0.bias", "module.weight", "module.bias"]
    wrapped = nn.DataParallel(torch.compile(inner, backend="eager"))
    assert [p.name for p in named_parameters(wrapped)] == names
    assert class_name(wrapped) == "Sequential"
    assert named_modules(wrapped) == {"0": "Linear", "1": "Sequential", "1.0": "Linear", "module": "Linear"}
    inner[1] = torch.compile(inner[1], backend="eager")
    assert [p.name for p in named_parameters(wrapped)] == names


def test_a_tied_parameter_has_its_other_names_as_aliases():
    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3), "c": nn.Linear(3, 3)})
    model["b"].weight = model["c"].weight = model["a"].weight
    model["d"] = model["a"]
    by_name = {p.name: p.aliases for p in named_parameters(model)}
    assert by_name == {
        "a.weight": ("b.weight", "c.weight", "d.weight"),
        "a.bias": ("d.bias",),
        "b.bias": (),
        "c.bias": (),
    }


def test_what_has_no_values_yet_is_left_out():
    model = nn.ModuleDict(
        {
            "lazy": nn.LazyLinear(3),
            "meta": nn.Linear(2, 2, device="meta"),
            "real": nn.Linear(2, 2),
        }
    )
    model.empty = nn.Parameter(torch.zeros(0, 4))
    assert [p.name for p in named_parameters(model)] == ["real.weight", "real.bias"]
    model["lazy"](torch.zeros(1, 5))
    assert [p.name for p in named_parameters(model)][:2] == ["lazy.weight", "lazy.bias"]


def test_a_module_that_holds_its_parent_ends():
    child, parent = nn.Linear(2, 2), nn.Module()
    parent.child = child
    child._modules["up"] = parent
    assert [p.name for p in named_parameters(parent)] == ["child.weight", "child.bias"]
