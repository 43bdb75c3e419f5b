"""The CUDA driver by ctypes: device facts, and kernels from a cubin.

The caller has a current context (PyTorch's), and everything here works in it.
"""
import ctypes
import os
import subprocess

from . import configuration
from .fault import Fault

# Numbers of cuda.h, and what makes them the units of the facts.
ATTRIBUTES = {
    "sm_count": (16, 1), "smem_per_block": (97, 1), "smem_per_sm": (81, 1), "regs_per_block": (12, 1),
    "regs_per_sm": (82, 1), "threads_per_sm": (39, 1), "blocks_per_sm": (106, 1),
    "max_threads_per_block": (1, 1), "l2_bytes": (38, 1), "sm_clock_hz": (13, 1000),
}
CAPABILITY_MAJOR, CAPABILITY_MINOR, MEMORY_KHZ, MEMORY_BUS_BITS = 75, 76, 36, 37
FUNCTION_LOCAL_BYTES, FUNCTION_REGISTERS, FUNCTION_MAX_DYNAMIC_SMEM = 3, 4, 8

SCALARS = {"int32": ctypes.c_int32, "int64": ctypes.c_int64, "fp32": ctypes.c_float, "fp64": ctypes.c_double}

BUILD_TIMEOUT_S = 600
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")  # of <fa/fa.h>


class Driver:
    def __init__(self, ordinal):
        try:
            self.libcuda = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Fault(f"no GPU: {error}") from error
        self.libcuda.cuLaunchKernel.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p,
                                                ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), ordinal)

    def call(self, function, *arguments):
        code = getattr(self.libcuda, function)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.libcuda.cuGetErrorName(code, ctypes.byref(text))
            raise Fault(f"{function}: {(text.value or b'error').decode()} ({code})")

    def attribute(self, number):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def facts(self):
        """The facts of docs/sweep-file.md; None for NULL, where the driver does not report one."""
        facts = {name: self.attribute(number) * unit or None for name, (number, unit) in ATTRIBUTES.items()}
        memory = ctypes.c_size_t()
        self.call("cuDeviceTotalMem_v2", ctypes.byref(memory), self.device)
        facts["arch"] = 10 * self.attribute(CAPABILITY_MAJOR) + self.attribute(CAPABILITY_MINOR)
        facts["mem_bytes"] = memory.value
        # two words a clock on every bus in use
        facts["dram_bytes_per_s"] = self.attribute(MEMORY_KHZ) * 1000 * 2 * self.attribute(MEMORY_BUS_BITS) // 8 or None
        facts["mma_flops_per_clock_sm"] = None
        return facts

    def bus_id(self):
        """The PCI bus id, by which nvidia-smi finds the device despite CUDA_VISIBLE_DEVICES."""
        text = ctypes.create_string_buffer(32)
        self.call("cuDeviceGetPCIBusId", text, len(text), self.device)
        return text.value.decode()


def first_error(text):
    """The most useful line of nvcc's output."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return (errors or lines or ["no message"])[0]


def build(nvcc, sweep_path, spec, values, facts, stem):
    """Compile the kernel of the sweep file for the device; returns the path of the cubin."""
    folder = os.path.dirname(os.path.abspath(sweep_path))
    with open(f"{stem}.h", "w", encoding="utf-8") as header:
        header.write(configuration.defines(values))
    command = [nvcc, "-cubin", f"-arch=sm_{facts['arch']}", f"-std={spec['kernel'].get('standard', 'c++17')}",
               *spec["kernel"].get("flags", []), "-include", f"{stem}.h",
               "-I", INCLUDE, "-o", f"{stem}.cubin",
               os.path.join(folder, spec["kernel"]["source"])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S)
    except OSError as error:
        raise Fault(f"{nvcc}: {error.strerror}; name another nvcc with --nvcc") from error
    except subprocess.TimeoutExpired as error:
        raise Fault(f"{nvcc} took longer than {BUILD_TIMEOUT_S} s") from error
    if done.returncode != 0:
        raise Fault(f"{nvcc}: {first_error(done.stderr + done.stdout)}")
    return f"{stem}.cubin"


class Kernel:
    """One configuration on the device."""

    def __init__(self, driver, spec, values, facts, cubin):
        self.driver, self.spec, self.values, self.facts = driver, spec, values, facts
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuModuleLoad", ctypes.byref(self.module), os.fsencode(cubin))
        driver.call("cuModuleGetFunction", ctypes.byref(self.function), self.module,
                    spec["kernel"]["entry"].encode())

    def attribute(self, number):
        value = ctypes.c_int()
        self.driver.call("cuFuncGetAttribute", ctypes.byref(value), number, self.function)
        return value.value

    def resources(self, variables):
        """What the compiler and the launch take, and how many blocks an SM holds because of it."""
        grid, block, smem = configuration.launch(self.spec, self.values, self.facts, variables)
        blocks = ctypes.c_int()
        self.driver.call("cuFuncSetAttribute", self.function, FUNCTION_MAX_DYNAMIC_SMEM, smem)
        self.driver.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(blocks), self.function,
                         block[0] * block[1] * block[2], ctypes.c_size_t(smem))
        return {"grid": grid, "block": block, "smem_bytes": smem, "blocks_per_sm": blocks.value,
                "registers": self.attribute(FUNCTION_REGISTERS), "local_bytes": self.attribute(FUNCTION_LOCAL_BYTES)}

    def argument(self, wanted, buffers, variables):
        if "shape" in wanted:
            return ctypes.c_uint64(buffers[wanted["name"]])
        known = {**self.facts, **self.values, **variables}
        return SCALARS[wanted["type"]](configuration.evaluate(wanted["value"], known))

    def prepare(self, buffers, variables, stream):
        """A function that launches it: buffers are addresses by the argument's name."""
        grid, block, smem = configuration.launch(self.spec, self.values, self.facts, variables)
        arguments = [self.argument(wanted, buffers, variables) for wanted in self.spec["arguments"]]
        addresses = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(value) for value in arguments])
        self.driver.call("cuFuncSetAttribute", self.function, FUNCTION_MAX_DYNAMIC_SMEM, smem)

        def run(_alive=arguments):  # 'addresses' points into them
            self.driver.call("cuLaunchKernel", self.function, *grid, *block, smem, stream, addresses, None)

        return run
