"""The cost model beside the clock: `python benchmarks/deploy_costs.py RUN…` times every operation.

A step's time is the difference between the program up to it and the program before it, best of many rounds.
The constants of ``bandstop.deploy.plan.cost.Machine`` were set by hand so that the two columns agree; do so
again for another kind of machine.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import torch

from bandstop.cli.deploy_run import run_to_deploy
from bandstop.deploy import signals_of
from bandstop.deploy.c.files import assemble
from bandstop.deploy.c.speed import emit_speed
from bandstop.deploy.lower import lower_variants
from bandstop.deploy.plan import LANES
from bandstop.deploy.plan.choose import cheapest_plan
from bandstop.deploy.run.measure import TimedC


def main() -> None:
    """Print one line per operation: what the model says and what was measured, in nanoseconds."""
    torch.set_num_threads(1)
    for run in map(Path, sys.argv[1:]):
        model, samples = run_to_deploy(run, most=16)
        inputs = signals_of(model, samples.sequences)
        plan = cheapest_plan(lower_variants(model.net, model.example, lanes=LANES))
        before = 0.0
        print(run.name)
        for count, planned in enumerate(plan.operations, start=1):
            code = emit_speed(replace(plan, operations=plan.operations[:count]))
            files = assemble(model, replace(code, body=f"{code.body}\n    (void)scores;"), name="part")
            timed = TimedC(files, inputs)
            spent = min(timed.latency().fastest for _ in range(3))
            name = f"  {planned.operation.dst:9s} {planned.form:16s}"
            print(f"{name} model {planned.cost:6.0f}  measured {spent - before:6.0f}", flush=True)
            before = spent


if __name__ == "__main__":
    main()
