"""OpenVINO on one thread, tuned for latency."""

import openvino
from shared import FOLDER, finish

core = openvino.Core()
settings = {
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_NUM_THREADS": 1,
    "NUM_STREAMS": 1,
    "INFERENCE_PRECISION_HINT": "f32",
}
compiled = core.compile_model(str(FOLDER / "model.onnx"), "CPU", settings)
request = compiled.create_infer_request()


def run(x):
    request.infer({0: x}, share_inputs=True)
    return request.get_output_tensor(0).data


finish(run)
