            /* Exporting has checked that no input can make the sum reach 2^${top}. */
            sum = (sum + (int${bits}_t)(((uint${bits}_t)1 << shift) >> 1)) >> shift;
            if (sum > 32767) sum = 32767;
            if (sum < (l->relu ? 0 : -32767)) sum = l->relu ? 0 : -32767;
            *out = (int16_t)sum;
