"""Call a function of a module beside this file; print what it returns, and the peak, as JSON.

    call.py MODULE FUNCTION ARGUMENTS        the arguments are a list in JSON

It runs in environments of other libraries too.
"""

import importlib
import json
import resource
import sys

if __name__ == "__main__":
    module, function, arguments = sys.argv[1:]
    found = getattr(importlib.import_module(module), function)(*json.loads(arguments))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps(found | {"peak GB": peak}))
