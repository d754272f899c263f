"""emx-onnx-cgen: dense C from the ONNX file, timed inside C; by gcc with fast mathematics,
which suits its loops best.
"""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from shared import FOLDER, INPUTS, WANTED, answer

COMPILER = shutil.which("gcc") or sys.argv[2]
FLAGS = [*sys.argv[3:], "-ffast-math"]
source = FOLDER / "emx_model.c"
tool = Path(sys.executable).parent / "emx-onnx-cgen"
# Temporaries on the stack rather than from malloc: faster.
options = ["--large-temp-threshold", "0", "--fp32-accumulation-strategy", "simple"]
subprocess.run([tool, "compile", FOLDER / "model.onnx", source, *options], check=True, capture_output=True)
name, returns = "model", "void"
timer = f"""
#include <time.h>
#include <stdbool.h>
{returns} {name}(const float *restrict, float *restrict);
void measure(const float *inputs, int count, int size, int rounds, int repeats, double *ns, float *scores) {{
    struct timespec a, b; int r, k, i = 0;
    for (r = 0; r < rounds; ++r) {{
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (k = 0; k < repeats; ++k) {{
            {name}(inputs + (long)i * size, scores);
            i = i + 1 < count ? i + 1 : 0;
        }}
        clock_gettime(CLOCK_MONOTONIC, &b);
        ns[r] = ((b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / repeats;
    }}
}}
"""
(FOLDER / "emx_timer.c").write_text("#define _POSIX_C_SOURCE 199309L\n" + timer)
library = FOLDER / "emx.so"
files = [source, FOLDER / "emx_timer.c"]
subprocess.run([COMPILER, *FLAGS, "-fPIC", "-shared", *files, "-o", library, "-lm"], check=True)
loaded = ctypes.CDLL(str(library))
weights = sorted(FOLDER.glob("model*.bin"))
if weights and not loaded.model_load(str(weights[0]).encode()):
    sys.exit(f"emx-onnx-cgen's weights {weights[0].name} could not be loaded")
inputs = np.ascontiguousarray(INPUTS, np.float32)
scores, spent = np.zeros(WANTED.shape[1], np.float32), np.zeros(21)
pointers = [ctypes.c_void_p(a.ctypes.data) for a in (inputs, spent, scores)]
loaded.measure(pointers[0], 1, inputs[0].size, 1, 1, pointers[1], pointers[2])
difference = float(np.abs(scores - WANTED[0]).max())


def measure(seconds: float) -> float:
    loaded.measure(pointers[0], len(inputs), inputs[0].size, 21, 2, pointers[1], pointers[2])
    repeats = max(1, int(seconds * 1e9 / 21 / max(float(np.median(spent)), 1.0)))
    loaded.measure(pointers[0], len(inputs), inputs[0].size, 21, repeats, pointers[1], pointers[2])
    return float(np.median(spent)) / 1000


answer(measure, difference)
