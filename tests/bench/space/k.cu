/* stands for a kernel: these spaces are only enumerated */
extern "C" __global__ void k(float *out);
