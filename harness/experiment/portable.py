"""What of a plan another process needs: all ratings, and splits and code that it cannot make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.experiment.code import Code
from harness.experiment.depended_files import files_of

if TYPE_CHECKING:
    from harness.experiment.plan import Plan


def parts_of(plan: Plan) -> dict[str, Any]:
    """Return the fields of a plan for another process, beside the experiment."""
    outer = plan.experiment.split
    inner = [plan.experiment.tuning.validation_of(section) for section in outer]
    used = [i for i in range(len(plan.experiment.dataset)) if plan.divided(i)]
    return {
        "read": {i: (plan.ratings(i)[0].bare(), []) for i in used},
        "absent": plan.absent,
        "_splits": {k: made for k, made in plan._splits.items() if outer[k[1]].from_files},
        "_inner": {k: made for k, made in plan._inner.items() if inner[k[0]].from_files},
        "_code": _code(plan.code),
        "_chosen": plan._chosen,
    }


def _code(code: Code) -> Code:
    """Return the same code for another process."""
    files = {n: files_of(code, n) for n in range(len(code.experiment.algorithms))}
    return Code(code.experiment, str(Path(code.folder or "").resolve()), files)
