/* reference.cu - what vector_add is compared with: one thread an element */
extern "C" __global__ void vector_add_reference(const float *a, const float *b, double *out, int n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = double(a[i]) + double(b[i]);
}
