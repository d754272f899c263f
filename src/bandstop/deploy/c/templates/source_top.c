/* ${about} */
#include "${name}.h"

#if defined(__cplusplus)
#define restrict __restrict
#endif
#if defined(__GNUC__)
#define HELPER __attribute__((unused)) static inline
#else
#define HELPER static
#endif
