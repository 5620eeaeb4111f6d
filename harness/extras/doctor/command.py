"""``harness doctor``: whether an installation is complete, and how fast it is."""

from __future__ import annotations

from harness.console.command import command
from harness.console.screen import documents, give_result, plain, say, show_table
from harness.extras.doctor.examination import examine


@command("doctor", "doctor --json", group="Tools")
def doctor() -> int:
    """Examine the installation and this machine.

    Shows which package owns `surprise`, versions, threads, the cache, compiled loops, memory and
    disk, and fits SVD to made-up ratings, plain and accelerated, in ten seconds at most. Nothing is
    changed, except that compiled loops are kept. The exit code is 1 if there is a problem, which is
    shown with what to do.
    """
    found = examine()
    if documents:
        give_result(found.to_dict())
    show_table(["what", "found"], found.rows(), ["what", "found"])
    for note in found.notes:
        say(f"note: {plain(note)}")
    for problem in found.problems:
        say(f"problem: {plain(problem)}", colour="red")
    if not found.problems:
        say("no problem found")
    return 1 if found.problems else 0
