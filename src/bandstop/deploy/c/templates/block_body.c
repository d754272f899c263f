            ${load}
            for (e = 0; e < columns; ++e, w += ${values}) {
                const float *in = src + column[e];
                const float ${reads};
                ${add}
            }
            if (kind == 1) { ${relu} }
            if (whole) { ${store} }
            else {
                ${store_part}
            }${finish}
