"""ONNX Runtime on one thread."""

import onnxruntime
from shared import FOLDER, finish

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(
    str(FOLDER / "model.onnx"), options, providers=["CPUExecutionProvider"]
)
finish(lambda x: session.run(None, {"input": x})[0])
