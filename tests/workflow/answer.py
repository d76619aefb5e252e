"""Answers questions to the audit of a run that stays as it is, one line each, from one plan.

For the fixture ``asked`` of tests that change nothing: reads arguments as JSON lists, writes exit status and output.
"""

import contextlib
import io
import json
import sys

from scripts import audit


def main() -> None:
    """Answer until the input ends."""
    states, plan = {}, audit.State

    def planned(configfiles, targets):
        key = (*map(str, configfiles), *targets)
        if key not in states:
            states[key] = plan(configfiles, targets)
        return states[key]

    audit.State = planned
    for line in sys.stdin:
        printed, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            status = audit.main(json.loads(line))
        print(json.dumps([status, printed.getvalue() + errors.getvalue()]), flush=True)


if __name__ == "__main__":
    main()
