    /* ${dst_name}: long short-term memory, ${steps} steps */
    for (i = 0; i < ${units}; ++i) ${hidden}[i] = ${cell}[i] = 0.0f;
    for (t = 0; t < ${steps}; ++t) {
        const float *x = ${source} + t * ${advance};
${gates_code}
        for (i = 0; i < ${live}; ++i) {
            const int u = ${unit}[i];
            const float *g = ${gates} + u;
            const float c = act_sigmoid(g[${forget}]) * ${cell}[u] + act_sigmoid(g[0]) * act_tanh(g[${update}]);
            ${cell}[u] = c;
            ${hidden}[u] = ${out} = act_sigmoid(g[${output}]) * act_tanh(c);
        }
    }
