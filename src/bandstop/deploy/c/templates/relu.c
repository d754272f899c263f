HELPER float act_relu(float v) { return v > 0.0f ? v : 0.0f; }
HELPER float act_leaky(float v) { return v > 0.0f ? v : 0.01f * v; }
