"""``harness completion``: what the shell completes."""

from __future__ import annotations

import click

from harness.console.command import command
from harness.console.screen import say

START_FILES = {
    "bash": ("~/.bashrc", 'eval "$(_HARNESS_COMPLETE=bash_source harness)"'),
    "zsh": ("~/.zshrc", 'eval "$(_HARNESS_COMPLETE=zsh_source harness)"'),
    "fish": (
        "~/.config/fish/completions/harness.fish",
        "_HARNESS_COMPLETE=fish_source harness | source",
    ),
}
"""For each shell, the file that it reads at its start, and the line to add there."""


@command("completion bash", "completion zsh >> ~/.zshrc", group="Tools")
@click.argument("shell", type=click.Choice([*START_FILES]))
def completion(shell: str) -> int:
    """Print how to enable completion in a shell.

    The Tab key then completes commands, options, and the names of configs, runs, algorithms,
    metrics and data sets.
    """
    file, line = START_FILES[shell]
    say(f"# Add this line to {file} and open a new terminal:\n{line}", is_data=True)
    return 0
