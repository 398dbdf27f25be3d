/* copied.h - where a thing of the engine stands in the newest copy that a forecast made of it
 * (engine/estimate/forecast.h). Memory only, and nothing but the forecast looks at it. */
#pragma once

#include <stdint.h>

struct copied {
    uint32_t serial; /* of the forecast; another one: it is not in the newest */
    uint32_t index;
};
