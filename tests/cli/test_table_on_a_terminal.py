"""Tables on terminals of several widths: every cell can be read, whatever the width."""

import fcntl
import io
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import harness
from harness.console import screen
from harness.console import tables as run_tables
from harness.console.commands import main
from harness.plugins import registry as plugins
from harness.results.cells import CellName, FailedCell

WIDTHS = (40, 80, 100, 120)
ERROR = "33 of 33 estimates are not numbers; lower the learning rate or raise the regularisation"
COMMANDS = {
    "run": ("run", "one.json", "-q", "--columns", "all"),
    "check": ("check", "one.json"),
    "table": ("table", "one", "--columns", "all"),
    "compare": ("compare", "one", "two", "--columns", "all"),
    "conventions": ("conventions", "one"),
    "evaluate": ("evaluate", "p.csv", "--metrics", "ndcg@5,10,precision@5,recall@5,rmse,mae"),
    "reproduce": ("reproduce", "--no-runs", "-q"),
    "list algorithms": ("list", "algorithms"),
    "list datasets": ("list", "datasets"),
    "list metrics": ("list", "metrics"),
    "list configs": ("list", "configs"),
    "list runs": ("list", "runs"),
    "cache list": ("cache", "list"),
}


class Terminal(io.StringIO):
    """Standard output that is a terminal, and what is read on it."""

    def __init__(self, columns):
        super().__init__()
        self.columns = columns

    def isatty(self):
        return True

    def interpreted(self):
        text = self.getvalue()
        shown = pyte.Screen(self.columns, text.count("\n") + 200)
        shown.set_mode(pyte.modes.LNM)
        pyte.Stream(shown).feed(text)
        return shown

    @property
    def lines(self):
        shown = self.interpreted()
        found = [line.rstrip() for line in shown.display[: shown.cursor.y]]
        assert len(found) == self.getvalue().count("\n")  # the terminal broke no line by itself
        return found

    @property
    def bright(self):
        """What is green, by line."""
        rows = (row for _, row in sorted(self.interpreted().buffer.items()))
        green = [
            [cell.data for _, cell in sorted(row.items()) if cell.fg == "green"] for row in rows
        ]
        return ["".join(cells) for cells in green if cells]


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)

    def opened(columns):
        stream = Terminal(columns)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys, "stdout", stream)
        return stream

    return opened


@pytest.fixture(scope="module")
def tables(made, tmp_path_factory):
    """By command the tables that it shows."""
    found = {}
    commands = [plugins.find("commands", name) for name in plugins.builtin_names("commands")]
    modules = [sys.modules[plugin.load().callback.__module__] for plugin in commands]
    modules = [screen, run_tables, *(module for module in modules if hasattr(module, "show_table"))]
    folder = shutil.copytree(made, tmp_path_factory.mktemp("copy"), dirs_exist_ok=True)
    (folder / "p.csv").write_text("user,item,estimate,rating\n1,1,3,4\n1,2,4,5\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        for name, arguments in COMMANDS.items():
            shown = found[name] = []
            for module in modules:
                patch.setattr(module, "show_table", lambda *args, shown=shown: shown.append(args))
            with pytest.raises(SystemExit) as left:
                main(list(arguments))
            assert left.value.code == 0
    return found


def letters(texts):
    return Counter(c for text in texts for c in str(text) if c not in " ─")


def least_and_most(lines, columns, rows):
    """What a table shows once, and with the first column repeated in each part."""
    least = letters([*columns, *itertools.chain(*rows)])
    return least, least + letters([row[0] for row in (columns, *rows)] * lines.count(""))


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_cell_of_every_command_can_be_read(terminal, tables, command, width):
    assert tables[command]
    for columns, rows, words, *rest in tables[command]:
        shown = terminal(width)
        screen.show_table(columns, rows, words, *rest)
        rows = [[str(value) for value in row] for row in rows]
        lines = shown.lines
        least, most = least_and_most(lines, columns, rows)
        assert least <= letters(lines) <= most  # a row without a cell in a part is not in it
        seen = [f" {' '.join(line.split())} " for line in lines]
        for row in (columns, *rows):
            for name, cell in zip(columns, row, strict=True):
                whole = name not in words and len(cell) <= width - screen.LEAST - screen.GAP
                for text in [f" {' '.join(cell.split())} "] if whole and cell else cell.split():
                    if len(text) <= width // 2:
                        assert any(text in line for line in seen), text


@given(st.randoms(use_true_random=False), st.integers(20, 130))
def test_no_table_is_wider_than_its_terminal_and_nothing_is_lost(draw, width):
    def text():
        return " ".join("x" * draw.randint(1, 30) for _ in range(draw.randint(1, 5)))

    n_columns, n_rows = draw.randint(1, 12), draw.randint(0, 3)
    rows = [[text() for _ in range(n_columns)] for _ in range(n_rows)]
    columns = [f"c{j}" * draw.randint(1, 4) for j in range(n_columns)]
    words = [column for column in columns if draw.random() < 0.4]
    shown = Terminal(width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setenv("NO_COLOR", "1")
        patch.setattr(sys, "stdout", shown)
        screen.show_table(columns, rows, words)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert letters(lines) == least_and_most(lines, columns, rows)[1]


@pytest.mark.parametrize(("columns", "width"), [("30", 30), ("", 64), ("wide", 64), ("0", 64)])
def test_a_pipe_has_the_width_that_columns_names(capsys, monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    screen.show_table(["name", "what it is"], [["SVD", "word " * 11 + "end"]], ["what it is"])
    screen.say("word " * 11 + "the end")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    assert (len(lines) == 3) == (width == 64)


def test_wide_characters_take_two_columns(terminal):
    shown = terminal(30)
    screen.show_table(["name", "value"], [["映画の評価", "0.5"], ["SVD", "0.25"]], ["name"])
    assert [line.split()[-1] for line in shown.lines] == ["value", "0.5", "0.25"]
    assert [cell_len(line) for line in shown.getvalue().splitlines()[1:]] == [17, 17]


def test_the_best_cells_stand_out_where_there_are_colours(terminal, monkeypatch):
    rows = [["SVD", "0.9", "1.5"], ["KNNBasic", "0.8", "1.2"]]
    for best, green in (([(0, 1), (1, 2)], ["0.9", "1.2"]), ([], [])):
        shown = terminal(80)
        screen.show_table(["algorithm", "ndcg@10", "rmse"], rows, ["algorithm"], best)
        assert shown.bright == green
    monkeypatch.setenv("NO_COLOR", "1")
    shown = terminal(80)
    screen.show_table(["a", "b"], [["x", "1"]], ["a"], [(0, 1)])
    assert "\x1b" not in shown.getvalue()


def test_of_a_run_the_best_algorithm_stands_out_and_never_a_bound(made, terminal):
    run = harness.read_run(made / "runs" / "one")
    shown = terminal(300)
    run_tables.show_run(run)
    low = {"rmse", "mae"}
    expected = [
        (run.table[label].min if label in low else run.table[label].max)()
        for label in run.info["metrics"]
    ]
    found = [float(text) for text in re.findall(r"\d\.\d+(?= ±)", " ".join(shown.bright))]
    assert sorted(found) == pytest.approx(sorted(expected), abs=0.006)
    lines = shown.lines
    (line,) = [y for y, text in enumerate(lines) if text.startswith("──")]
    assert [text.split("  ")[0] for text in lines[line + 1 : line + 3]] == [
        "best possible order",
        "random order, expected",
    ]


@pytest.mark.parametrize("width", [300, 80, 50])
def test_tables_of_other_data_are_apart_under_their_names_at_any_width(made, terminal, width):
    run = harness.read_run(made / "runs" / "data")
    shown = terminal(width)
    run_tables.show_run(harness.Run(run.info))  # without its folder, whose name may be longer
    text = "\n".join(shown.lines)
    names = run.table["dataset"].drop_duplicates().tolist()
    titles = re.findall(r"^dataset: (.*)\n\nalgorithm ", text, flags=re.MULTILINE)
    assert titles == names
    assert text.count("best possible order") == text.count("──\nbest possible") == len(names)
    found = [float(each) for each in re.findall(r"\d\.\d+(?= ±)", " ".join(shown.bright))]
    best = run.table.groupby("dataset", sort=False)["ndcg@10"].max()
    assert found == pytest.approx(best.tolist(), abs=0.006)


@pytest.mark.parametrize("width", [320, 80])
def test_the_reason_of_a_failure_stands_in_the_row_or_below_the_table(made, terminal, width):
    info = harness.read_run(made / "runs" / "one").info
    for number, cell in enumerate(info.cells):
        if cell.algorithm == "BaselineOnly":
            names = {key: cell[key] for key in CellName.model_fields}
            info.cells[number] = FailedCell(**names, error=ERROR)
    shown = terminal(width)
    run_tables.show_run(harness.Run(info))
    row = next(line for line in shown.lines if line.startswith("BaselineOnly"))
    below = f"✗ BaselineOnly: folds 1, 2: {ERROR}" in " ".join(" ".join(shown.lines).split())
    assert (ERROR in row, below) == (width == 320, width == 80)


def test_a_real_terminal_shows_what_the_screen_promises(made):
    pty = pytest.importorskip("pty", reason="no terminals to open here")
    import termios

    driver, device = pty.openpty()
    fcntl.ioctl(device, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "table", str(made / "runs" / "one")],
        stdin=device,
        stdout=device,
        env=environment | {"TERM": "xterm"},
    )
    os.close(device)
    read = bytearray()
    while part := _read(driver):
        read += part
    os.close(driver)
    assert process.wait(60) == 0
    shown = Terminal(80)
    shown.write(read.decode().replace("\r\n", "\n"))
    text = "\n".join(shown.lines)
    assert all(word in text for word in ("KNNWithMeans of users,", "rmse", "mae", "peak MB"))


def _read(driver):
    try:
        return os.read(driver, 65536)
    except OSError:  # its last holder has closed the other end
        return b""
