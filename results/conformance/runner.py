"""What an implementation of NDCG computes for the cases of cases.json; Python 3.8 or later.

`python runner.py mine:ndcg` names the conventions that give all of its values, or exits with 1.
`--json FILE` also writes the values. README.md says what `ndcg(relevance, scores, k)` takes.
"""

import importlib
import inspect
import json
import math
import sys
from pathlib import Path

sys.path.insert(0, "")


def ask(adapter, case):
    """Return a number, "nan", "inf", "-inf", None, {"error": reason}, or {"skip": reason}."""
    try:
        if "users" in case:
            if not hasattr(adapter, "mean"):
                return {"skip": "no mean over users"}
            columns = ([user[name] for user in case["users"]] for name in ("relevance", "scores"))
            got = adapter.mean(*columns, case["k"])
        elif "items" in case and "items" not in inspect.signature(adapter).parameters:
            return {"skip": "no parameter `items`"}
        else:
            more = {"items": case["items"]} if "items" in case else {}
            got = adapter(case["relevance"], case["scores"], case["k"], **more)
        return got if got is None else float(got) if math.isfinite(got) else str(float(got))
    except NotImplementedError as reason:
        return {"skip": str(reason)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def agrees(got, stated):
    """Return whether a value is that of a convention; either may state nothing."""
    if isinstance(got, dict) or stated is None:
        return True
    got, stated = float("nan" if got is None else got), float(stated)
    return abs(got - stated) <= 6e-6 or (got != got and stated != stated)


if __name__ == "__main__":
    target, *options = sys.argv[1:] or sys.exit(__doc__)
    module, _, name = target.replace(".py:", ":").partition(":")
    adapter = getattr(importlib.import_module(module), name)
    adapter = adapter() if inspect.isclass(adapter) else adapter
    suite = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
    found = {case["name"]: ask(adapter, case) for case in suite["cases"]}
    if options[:1] == ["--json"]:
        Path(options[1]).write_text(json.dumps(found), encoding="utf-8")
    odd = {}
    for convention in suite["conventions"]:
        stated = {case["name"]: case["values"][convention] for case in suite["cases"]}
        odd[convention] = [name for name in found if not agrees(found[name], stated[name])]
        first = [f", first {n}: {found[n]}, not {stated[n][:8]}" for n in odd[convention]]
        print(f"{convention}:", f"differs in {len(first)}{first[0]}" if first else "all values")
    sys.exit(all(odd.values()))
