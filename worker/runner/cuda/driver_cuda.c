#include "worker/runner/cuda/driver_cuda.h"

#include <dlfcn.h>
#include <stdio.h>

int driver_cuda_open(struct driver_cuda *driver, struct device_err *err)
{
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
        { "cuModuleLoadData", &driver->module_load },
        { "cuModuleUnload", &driver->module_unload },
        { "cuModuleGetFunction", &driver->module_function },
        { "cuModuleGetGlobal_v2", &driver->module_variable },
        { "cuFuncGetAttribute", &driver->get_attribute },
        { "cuFuncSetAttribute", &driver->set_attribute },
        { "cuLaunchKernel", &driver->launch },
        { "cuGetErrorName", &driver->error_name },
        { "cuGetErrorString", &driver->error_string },
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        snprintf(err->text, sizeof(err->text),
                 "no NVIDIA driver on this machine (%s); --device cpu "
                 "emulates a GPU",
                 dlerror());
        return DEVICE_BROKEN;
    }
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        void *symbol = dlsym(library, symbols[i].name);

        if (!symbol) {
            snprintf(err->text, sizeof(err->text),
                     "the NVIDIA driver is too old: it lacks %s",
                     symbols[i].name);
            return DEVICE_BROKEN;
        }
        *(void **)symbols[i].slot = symbol;
    }
    return 0;
}

int driver_cuda_error(const struct driver_cuda *driver, int code,
                      const char *what, CUresult rc, struct device_err *err)
{
    const char *name = "unknown to this driver";
    const char *text = "an error";

    driver->error_name(rc, &name);
    driver->error_string(rc, &text);
    snprintf(err->text, sizeof(err->text), "%s: %s (%s, %d)", what, text, name,
             (int)rc);
    return code;
}
