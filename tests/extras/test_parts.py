"""Each part of `harness.extras` can be taken away: all else works, and what needs it says so.

A part is hidden in a process of its own, as if its folder had been deleted.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.plugins import registry as plugins

EXTRAS = Path(harness.__file__).parent / "extras"
PARTS = sorted(path.parent.name for path in EXTRAS.glob("*/__init__.py"))
PUBLIC = {
    "accelerate": ["patch_surprise", "unpatch_surprise", "patched_surprise", "patch_report"],
    "audit": ["audit"],
    "explain": ["explain", "similar", "update"],
    "gate": ["gate"],
    "power": ["power"],
}
"""Public names of a part."""
HIDDEN = """
import contextlib, importlib, io, json, pathlib, sys

part, named = sys.argv[1], json.loads(sys.argv[2])
hidden = "harness.extras." + part


class Hides:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == hidden or name.startswith(hidden + "."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hides)
import harness
from harness.console.commands import main
from harness.errors import HarnessError

top = pathlib.Path(harness.__file__).parents[1]
for path in sorted((top / "harness").rglob("*.py")):
    relative = path.relative_to(top)
    if relative.parts[1] != "extras" and path.stem not in ("__main__", "accelerate"):
        importlib.import_module(".".join(relative.with_suffix("").parts).removesuffix(".__init__"))


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(arguments))
        except SystemExit as stop:
            return int(stop.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


pathlib.Path("small.yaml").write_text(
    "dataset: {synthetic: {n_users: 30, n_items: 20, n_ratings: 300}}\\n"
    "algorithms: [ItemMean]\\nmetrics: [ndcg@5, rmse]\\n"
)
works = {
    "--help": call("--help"),
    "list": call("list", "algorithms"),
    "describe": call("describe", "small.yaml"),
    "schema": call("schema"),
    "check": call("check", "small.yaml"),
    "run": call("run", "-q", "small.yaml"),
    "table": call("table", "small"),
    "report": call("report", "small"),
}
refused = {}
for kind, name in named["plugins"]:
    from harness.plugins import registry

    try:
        registry.find(kind, name).load()
    except HarnessError as error:
        refused[f"{kind} {name}"] = str(error)
for name in named["public"]:
    try:
        getattr(harness, name)
    except HarnessError as error:
        refused[name] = str(error)
for name in named["commands"]:
    code, out, err = call(name, "--help")
    refused[f"harness {name}"] = err if code == 2 else ""
print(json.dumps([works, refused]))
"""


def of_part(part):
    """Return the plug-ins, public names and commands of a part."""
    declared = [
        (kind, plugin.name)
        for kind in (*plugins.KINDS, "hooks", "trials")
        for plugin, _ in plugins.declared(kind)
        if plugin.is_builtin and plugin.target.startswith(f"harness.extras.{part}.")
    ]
    commands = [name for kind, name in declared if kind == "commands"]
    return {"plugins": declared, "public": PUBLIC.get(part, []), "commands": commands}


def test_there_are_parts_and_each_is_declared():
    assert len(PARTS) >= 14
    for part in PARTS:
        named = of_part(part)
        assert named["plugins"] or named["public"], part


@pytest.mark.sample(8)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_can_be_taken_away(part, tmp_path):
    named = of_part(part)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDDEN, part, json.dumps(named)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    works, refused = json.loads(done.stdout.splitlines()[-1])
    for call, (code, out, err) in works.items():
        assert code == 0, (call, out, err)
        assert "Traceback" not in err, (call, err)
    expected = len(named["plugins"]) + len(named["public"]) + len(named["commands"])
    assert len(refused) == expected
    for what, message in refused.items():
        assert f"needs the part {part!r}" in " ".join(message.split()), (what, message)
