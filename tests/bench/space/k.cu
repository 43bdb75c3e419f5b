/* stands for a kernel: the spaces here are only enumerated */
extern "C" __global__ void k(float *out);
