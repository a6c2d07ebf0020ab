// Marks functions that host and device code share.
#pragma once

#if defined(__CUDACC__)
#define GNNTUNE_HOST_DEVICE __host__ __device__
#else
#define GNNTUNE_HOST_DEVICE
#endif
