"""The cost model beside the clock: every step of every network's program is timed,
`python benchmarks/deploy_costs.py RUN…`.

A step's time is the difference between the program up to it and the program before it, best of many rounds.
The constants of ``bandstop.deploy.plan.cost.Machine`` were set by hand so that the two columns agree; do so
again for another kind of machine.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import torch

from bandstop.cli.deploy_run import model_of_run, samples_of_run
from bandstop.deploy.c.files import assemble
from bandstop.deploy.c.speed import emit_speed
from bandstop.deploy.plan.choose import lower_for_speed
from bandstop.deploy.run.timing import TimedC
from bandstop.deploy.verify import signals_of


def main() -> None:
    """Print one line a step: what the model says and what was measured, in nanoseconds."""
    torch.set_num_threads(1)
    for run in map(Path, sys.argv[1:]):
        model = model_of_run(run)
        inputs = signals_of(model, samples_of_run(run, most=16).sequences)
        plan = lower_for_speed(model.net, model.example)
        before = 0.0
        print(run.name)
        for count, step in enumerate(plan.steps, start=1):
            definitions, body, work = emit_speed(replace(plan, steps=plan.steps[:count]))
            files = assemble(
                model,
                plan.program,
                name="part",
                definitions=definitions,
                body=f"{body}\n    (void)scores;",
                work=work,
                plan="",
                open_ended=False,
            )
            timed = TimedC(files, inputs)
            spent = min(timed.latency().fastest for _ in range(3))
            name = f"  {step.operation.dst:9s} {step.kind:12s}"
            print(f"{name} model {step.cost:6.0f}  measured {spent - before:6.0f}", flush=True)
            before = spent


if __name__ == "__main__":
    main()
