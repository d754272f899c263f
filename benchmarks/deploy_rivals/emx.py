"""emx-onnx-cgen: dense C from the ONNX file, compiled with the same flags as ours and timed inside C."""

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from shared import FOLDER, INPUTS, SECONDS, WANTED

FLAGS = sys.argv[4:]
COMPILER = sys.argv[3]
source = FOLDER / "emx_model.c"
tool = Path(sys.executable).parent / "emx-onnx-cgen"
subprocess.run([tool, "compile", FOLDER / "model.onnx", source], check=True, capture_output=True)
text = source.read_text()
name = re.findall(r"^(?:_Bool|bool|void|int)\s+(\w+)\s*\(\s*const float", text, re.M)[-1]
returns = re.findall(rf"^(\w+)\s+{name}\s*\(", text, re.M)[-1]
timer = f"""
#include <time.h>
#include <stdbool.h>
{returns} {name}(const float *restrict, float *restrict);
void measure(const float *inputs, int count, int size, int rounds, int repeats, double *ns, float *scores) {{
    struct timespec a, b; int r, k, i = 0;
    for (r = 0; r < rounds; ++r) {{
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (k = 0; k < repeats; ++k) {{ {name}(inputs + (long)i * size, scores); i = i + 1 < count ? i + 1 : 0; }}
        clock_gettime(CLOCK_MONOTONIC, &b);
        ns[r] = ((b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / repeats;
    }}
}}
"""
(FOLDER / "emx_timer.c").write_text("#define _POSIX_C_SOURCE 199309L\n" + timer)
library = FOLDER / "emx.so"
files = [source, FOLDER / "emx_timer.c"]
subprocess.run([COMPILER, *FLAGS, "-fPIC", "-shared", *files, "-o", library, "-lm"], check=True)
measure = ctypes.CDLL(str(library)).measure
inputs = np.ascontiguousarray(INPUTS, np.float32)
scores, spent = np.zeros(WANTED.shape[1], np.float32), np.zeros(41)
pointers = [ctypes.c_void_p(a.ctypes.data) for a in (inputs, spent, scores)]
measure(pointers[0], 1, inputs[0].size, 1, 1, pointers[1], pointers[2])
difference = float(np.abs(scores - WANTED[0]).max())
repeats = max(1, int(SECONDS * 1e9 / 41 / max(spent[0], 1)))
measure(pointers[0], len(inputs), inputs[0].size, 41, repeats, pointers[1], pointers[2])
print(json.dumps({"microseconds": float(np.median(spent)) / 1000, "largest_difference": difference}))
