"""What the Tab key completes in a shell that `harness completion` has set up."""

import os
import subprocess
import sys

import pytest

from harness.console.commands import _harness


@pytest.fixture
def completed(tmp_path, monkeypatch):
    """Return a function from a line to the words that the shell is told."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "runs" / "old").mkdir(parents=True)
    (tmp_path / "runs" / "old" / "run.json").write_text("{}")

    def complete(line):
        *words, incomplete = line.split(" ")
        monkeypatch.setenv("_HARNESS_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(["harness", *words, incomplete]))
        monkeypatch.setenv("COMP_CWORD", str(len(words) + 1))
        with pytest.raises(SystemExit):
            _harness.main(prog_name="harness", standalone_mode=False)
        monkeypatch.delenv("_HARNESS_COMPLETE")

    return complete


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("com", ["plain,compare", "plain,completion"]),
        ("run mine", ["plain,mine.yaml"]),
        ("run quick", ["plain,quickstart"]),
        ("check elsewhere/", ["file,elsewhere/"]),
        ("table ol", ["plain,old"]),
        ("recommend ol", ["plain,old"]),
        ("best old --algorithm SVD", ["plain,SVD", "plain,SVDpp"]),
        ("new a.yaml --algorithms SVD,knnb", ["plain,SVD,KNNBaseline", "plain,SVD,KNNBasic"]),
        ("evaluate p.csv --metrics ndcg@5,rm", ["plain,ndcg@5,rmse"]),
        ("list met", ["plain,metrics"]),
        ("cache pr", ["plain,prune"]),
    ],
)
def test_words_are_completed(completed, capsys, line, expected):
    completed(line)
    assert capsys.readouterr().out.split() == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_to_add_sets_completion_up(cli, shell):
    comment, line = cli.done("completion", shell).splitlines()
    assert comment.startswith("# Add this line to ~/.")
    assert f"_HARNESS_COMPLETE={shell}_source harness" in line


@pytest.mark.skipif(os.name == "nt", reason="click writes no script for shells of Windows")
def test_the_program_writes_the_script_of_a_shell():
    done = subprocess.run(
        [sys.executable, "-m", "harness"],
        env=os.environ | {"_HARNESS_COMPLETE": "zsh_source"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "#compdef harness" in done.stdout
