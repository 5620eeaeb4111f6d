import pytest

from harness.cli import main


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Call the command line in an empty folder with a cache of its own."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return run
