"""Folding the module tree."""

from tests.logs import row
from zentracer_store.runs.tree import Tree

ROWS = [
    row("conv1.weight"),
    row("layer1.0.conv1.weight"),
    row("layer1.0.bn.weight"),
    row("layer1.0.bn.bias"),
    row("layer1.1.conv1.weight"),
    row("fc.weight"),
    row("fc.bias"),
    row("scale", module=""),
]


def paths(**more):
    return [node.path for node in Tree(ROWS).nodes(**more)]


def test_without_folds_every_row_is_a_node():
    assert paths() == [one.name for one in ROWS]
    assert all(node.leaf for node in Tree(ROWS).nodes())


def test_a_folded_module_is_one_node_at_the_place_of_its_first_row():
    nodes = Tree(ROWS).nodes(folded=["layer1.0"])
    assert [node.path for node in nodes] == [
        "conv1.weight",
        "layer1.0",
        "layer1.1.conv1.weight",
        "fc.weight",
        "fc.bias",
        "scale",
    ]
    assert (nodes[1].rows, nodes[1].leaf, nodes[1].folded_to_fit) == ((1, 2, 3), False, False)


def test_an_outer_fold_wins_over_those_inside_it():
    assert paths(folded=["layer1.0", "layer1", "layer1.0.bn"]) == paths(folded=["layer1"])


def test_a_module_of_one_row_folds_when_asked():
    node = Tree(ROWS).nodes(folded=["conv1"])[0]
    assert (node.path, node.leaf) == ("conv1", False)


def test_unknown_modules_in_a_link_are_passed_over():
    assert paths(folded=["gone"]) == paths()


def test_the_deepest_level_folds_first():
    assert paths(height=7) == [
        "conv1.weight",
        "layer1.0.conv1.weight",
        "layer1.0.bn",
        "layer1.1.conv1.weight",
        "fc.weight",
        "fc.bias",
        "scale",
    ]
    assert paths(height=6) == ["conv1.weight", "layer1.0", "layer1.1.conv1.weight", "fc.weight", "fc.bias", "scale"]


def test_past_the_top_level_the_picture_scrolls():
    assert paths(height=1) == ["conv1.weight", "layer1", "fc", "scale"]
    assert [node.folded_to_fit for node in Tree(ROWS).nodes(height=1)] == [False, True, True, False]


def test_a_fold_of_the_users_is_not_called_folded_to_fit():
    nodes = Tree(ROWS).nodes(folded=["layer1"], height=1)
    assert {node.path: node.folded_to_fit for node in nodes} == {
        "conv1.weight": False,
        "layer1": False,
        "fc": True,
        "scale": False,
    }


def test_paths_with_slashes_nest_too():
    rows = [row("params/dense/kernel", module="params/dense"), row("params/dense/bias", module="params/dense")]
    assert [node.path for node in Tree(rows).nodes(folded=["params"])] == ["params"]


def test_rows_of_a_module_that_are_apart_fold_into_one_node():
    rows = [row("a.x"), row("b.x"), row("a.y")]
    nodes = Tree(rows).nodes(folded=["a"])
    assert [(node.path, node.rows) for node in nodes] == [("a", (0, 2)), ("b.x", (1,))]
