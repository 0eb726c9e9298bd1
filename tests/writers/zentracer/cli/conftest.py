"""What the tests of the command line share."""

import pytest

from zentracer.cli import main


@pytest.fixture
def command(capsys):
    """Runs the command with arguments; gives its exit status, standard output and standard error."""

    def call(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:  # argparse
            status = end.code
        return status, *capsys.readouterr()

    return call
