"""Which directories TensorBoard was started on."""

import argparse
import os

from tensorboard.plugins.base_plugin import TBContext

from zentracer_store import Place
from zentracer_tb.where import Where, store_at, where_to_look


def context(logdir="", **flags):
    known = {"logdir": logdir, "logdir_spec": "", "grpc_data_provider": ""} | flags
    return TBContext(logdir=logdir, flags=argparse.Namespace(**known))


def test_logdir_is_looked_into(tmp_path):
    assert where_to_look(context(str(tmp_path))) == Where(str(tmp_path), (Place(str(tmp_path)),))


def test_a_path_below_home_is_shown_as_people_write_it(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    where = where_to_look(context("~/runs"))
    assert (where.shown, where.places) == (os.path.join("~", "runs"), (Place(str(tmp_path / "runs")),))
    assert where_to_look(context(str(tmp_path / "x"))).shown == "~/x"
    assert where_to_look(context("/elsewhere")).shown == "/elsewhere"


def test_logdir_spec_names_several_places():
    where = where_to_look(context(logdir_spec="one:/a,/b"))
    assert where == Where("one:/a,/b", (Place("/a", "one"), Place("/b")))


def test_logdir_wins_over_logdir_spec_as_in_tensorboard():
    assert where_to_look(context("/a", logdir_spec="one:/b")).places == (Place("/a"),)


def test_a_data_provider_elsewhere_is_told_to_be_out_of_reach():
    where = where_to_look(context(grpc_data_provider="grpc://host:6006"))
    assert where.places == ()
    assert where.problem == (
        "TensorBoard gets its data from --grpc_data_provider=grpc://host:6006, but this tab reads event files itself. "
        "Start TensorBoard with --logdir on a machine that can reach them."
    )


def test_no_log_directory_at_all_is_told():
    assert where_to_look(context()).problem == "TensorBoard was started without a log directory. Give it --logdir."


def test_a_context_without_flags_has_its_logdir():
    assert where_to_look(TBContext(logdir="/a")).places == (Place("/a"),)


def test_all_tabs_of_a_process_share_one_store(tmp_path):
    places = (Place(str(tmp_path)),)
    assert store_at(places) is store_at(places)
    assert store_at(places) is not store_at((Place(str(tmp_path / "a")),))
