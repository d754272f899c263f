HELPER float act_by(int kind, float v)
{
    return kind == 1 ? act_relu(v) : kind == 2 ? act_leaky(v) : kind == 3 ? act_tanh(v) : kind == 4 ? act_sigmoid(v) : v;
}
