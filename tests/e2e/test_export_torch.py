"""The winner as an extension of PyTorch, built and launched: where PyTorch, nvcc and a GPU are."""

import importlib.util
import os
import unittest

import rig
import sweepfile

try:
    import torch
except ImportError:
    torch = None


@unittest.skipUnless(torch and torch.cuda.is_available() and rig.NVCC, "PyTorch, nvcc or a GPU is not here")
class ExportTorch(rig.Rig):
    def test_the_extension_computes_what_the_kernel_computes(self):
        folder = self.kernel("vector_add")
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64, 128], "ITEMS": [1], "VECTOR": [False]}
        sweep["baseline"] = {"BLOCK_SIZE": 64, "ITEMS": 1, "VECTOR": False}
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.run_coord(folder, "export", "--format", "torch", "--out", "vector_add_torch.py")
        found = importlib.util.spec_from_file_location("vector_add_torch", os.path.join(folder, "vector_add_torch.py"))
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        built = module.load(include=[os.path.join(rig.KERNELS, "include")], build=self.path("torch"))
        n = 5001
        a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
        out = torch.full((n,), float("nan"), device="cuda")
        built.launch(a, b, out, n, n)
        self.assertTrue(torch.equal(out, a + b))
        with self.assertRaisesRegex(RuntimeError, "a must be a contiguous CUDA tensor of the type fp32"):
            built.launch(a.double(), b, out, n, n)


if __name__ == "__main__":
    unittest.main()
