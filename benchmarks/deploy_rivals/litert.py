"""LiteRT (TensorFlow Lite) on one thread, converted from PyTorch."""

import numpy as np
import torch
from ai_edge_litert.interpreter import Interpreter
from shared import FOLDER, INPUTS, finish, torch_net

try:
    import litert_torch as converter
except ImportError:
    import ai_edge_torch as converter

converted = converter.convert(torch_net(), (torch.from_numpy(INPUTS[:1].copy()),))
converted.export(str(FOLDER / "model.tflite"))
interpreter = Interpreter(str(FOLDER / "model.tflite"), num_threads=1)
interpreter.allocate_tensors()
entry, out = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]


def run(x: np.ndarray) -> np.ndarray:
    interpreter.set_tensor(entry, x)
    interpreter.invoke()
    return interpreter.get_tensor(out)


finish(run)
