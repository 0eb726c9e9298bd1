"""Files that strangers' programs wrote, where a copy of them lies beside the repository."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from zentracer_store import Store, parse_places

LOGS = Path(__file__).resolve().parents[4] / "shared/real_logs"
FOLDERS = sorted(path.name for path in LOGS.iterdir() if path.is_dir()) if LOGS.is_dir() else []

pytestmark = pytest.mark.skipif(not FOLDERS, reason=f"{LOGS} is not there")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_lists_runs_and_nothing_fails(folder):
    store = Store(parse_places(str(LOGS / folder)))
    store.look()
    catalogue = store.catalogue()
    assert catalogue.progress.done
    assert catalogue.runs
    assert catalogue.counts.unreadable == 0
    assert not any(run.tables for run in catalogue.runs)
    assert all(store.scopes(run.name)[1] == () for run in catalogue.runs)


def one_in_ten(path):
    return int(hashlib.sha256(path.encode()).hexdigest(), 16) % 10 == 0


@pytest.mark.parametrize("folder", FOLDERS)
def test_scalar_points_are_those_of_tensorboards_event_accumulator(folder):
    store = Store(parse_places(str(LOGS / folder)))
    store.look()
    compared = 0
    for run in store.catalogue().runs:
        for path, contents in store.contents(run.name).items():
            if not one_in_ten(path) and compared:
                continue
            theirs = EventAccumulator(str(LOGS / folder / path), size_guidance={event_accumulator.SCALARS: 0})
            theirs.Reload()
            for tag in theirs.Tags()[event_accumulator.SCALARS]:
                points = theirs.Scalars(tag)
                steps, walls, values = contents.points_of(tag)
                # Where steps go back TensorBoard purges the points before; we keep them.
                if (np.diff(steps) > 0).all():
                    assert [point.step for point in points] == steps.tolist()
                    assert [point.wall_time for point in points] == walls.tolist()
                    assert np.array_equal([point.value for point in points], values, equal_nan=True)
                    compared += len(points)
    assert compared
