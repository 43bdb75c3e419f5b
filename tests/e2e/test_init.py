"""A new sweep, from a template or for a kernel that exists."""
import os

from rig import Rig

KERNEL = """
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef TWICE
#define TWICE false
#endif
extern "C" __global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] = (TWICE ? 2.0f : 2.0f) * x[i];
}
"""


class Init(Rig):
    def test_each_template_is_a_sweep_that_is_right(self):
        names = [line.split()[0] for line in self.run_coord(self.folder, "init", "--list").stdout.splitlines()]
        self.assertEqual(sorted(names), sorted(os.listdir(os.path.join(os.environ["FA_SOURCE_DIR"], "kernels/templates"))))
        for name in names:
            with self.subTest(name):
                folder = self.path(name)
                self.assertIn(f"cd {folder}", self.run_coord(self.folder, "init", "--template", name, folder).stdout)
                self.run_coord(folder, "check", "--device", "cpu", "--no-build")
                self.run_coord(folder, "sweep", "--device", "cpu", "--evaluations", "1")
                self.assertEqual(self.report(folder)["counts"]["correct"], len(self.report(folder)["results"]))

    def test_a_kernel_gets_a_sweep_file_with_its_parameters_and_macros(self):
        with open(self.path("mine.cu"), "w") as f:
            f.write(KERNEL)
        said = self.run_coord(self.folder, "init", "--from", "mine.cu").stdout
        self.assertIn("3 parameters, 2 tunables", said)
        self.assertIn("and run\n    fa-coord check\n", said)
        why = self.run_coord(self.folder, "check", "--device", "cpu", code=2)
        self.assertIn("write here what element i of each output is", why.stdout + why.stderr)
        with open(self.path("reference.cu")) as f:
            frame = f.read()
        with open(self.path("reference.cu"), "w") as f:
            f.write(frame.replace("#error write here what element i of each output is",
                                  "    if (i < n) y[i] = 2.0 * x[i];"))
        self.run_coord(self.folder, "sweep", "--device", "cpu", "--evaluations", "2")
        self.assertEqual(self.report(self.folder)["counts"]["correct"], 2)
        again = self.run_coord(self.folder, "init", "--from", "mine.cu", code=2).stderr
        self.assertIn("'./sweep.json' exists already; nothing is overwritten", again)

    def test_macros_that_are_not_in_an_ifndef_are_named(self):
        with open(self.path("fixed.cu"), "w") as f:
            f.write("#define BLOCK 128\n" + KERNEL[KERNEL.index("#ifndef TWICE"):])
        os.mkdir(self.path("my kernels"))
        os.rename(self.path("fixed.cu"), self.path("my kernels/fixed.cu"))
        said = self.run_coord(self.folder, "init", "--from", "my kernels/fixed.cu").stdout
        self.assertIn("and run\n    cd 'my kernels/'\n    fa-coord check\n", said)
        self.assertIn("3 parameters, 1 tunable.", said)
        self.assertIn("Not tunables: BLOCK. To tune one, write\n    #ifndef BLOCK\n    #define BLOCK 128\n", said)

    def test_words_of_sql_that_kernels_need_are_names(self):
        """ROWS and OFFSET are keywords of SQL, and names in a rule, in --where and on the cpu device."""
        with open(self.path("mine.cu"), "w") as f:
            f.write(KERNEL.replace("TWICE", "OFFSET"))
        self.run_coord(self.folder, "init", "--from", "mine.cu")
        with open(self.path("sweep.json")) as f:
            text = f.read().replace('"N"', '"ROWS"').replace("(N +", "(ROWS +")
        with open(self.path("sweep.json"), "w") as f:
            f.write(text.replace('"launch"', '"gates": [ { "name": "g", "reject": "OFFSET AND ROWS * BLOCK > 1e5 AND rows > 0"'
                                 ' } ],\n  "launch"', 1))
        with open(self.path("reference.cu")) as f:
            frame = f.read()
        with open(self.path("reference.cu"), "w") as f:
            f.write(frame.replace("#error write here what element i of each output is",
                                  "    if (i < n) y[i] = 2.0 * x[i];"))
        self.run_coord(self.folder, "sweep", "--device", "cpu", "--evaluations", "2")
        where = self.report(self.folder, "--where", "NOT OFFSET OR BLOCK > 0")
        self.assertEqual(where["counts"]["correct"], 2)
        with open(self.path("one.json"), "w") as f:
            f.write(text.replace('"launch"', '"confirm": false,\n  "launch"', 1))
        self.run_coord(self.folder, "sweep", "one.json", "--device", "cpu", "--evaluations", "1", "--db", "one.db")
        self.assertIn("Only the baseline has a time.", self.run_coord(self.folder, "report", "one.db").stdout)
        with open(self.path("sweep.json"), "w") as f:
            f.write(text.replace("OFFSET", "GROUP"))
        self.assertIn("it is a keyword of SQL", self.run_coord(self.folder, "check", code=2).stderr)

    def test_a_scalar_that_is_no_size_gets_a_factor(self):
        with open(self.path("axpy.cu"), "w") as f:
            f.write("""extern "C" __global__ void axpy(const float *x, float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i];
}
""")
        self.run_coord(self.folder, "init", "--from", "axpy.cu")
        with open(self.path("sweep.json")) as f:
            text = f.read()
        self.assertIn('{ "name": "a", "type": "fp32", "value": "1.5" }', text)
        self.assertIn('{ "name": "n", "type": "int32", "value": "N" }', text)
        self.run_coord(self.folder, "space")

    def test_what_cannot_be_made_is_said(self):
        self.assertIn("did you mean 'stencil'?", self.run_coord(self.folder, "init", "--template", "stencl", code=2).stderr)
        self.assertIn("--list names them", self.run_coord(self.folder, "init", code=2).stderr)
        with open(self.path("none.cu"), "w") as f:
            f.write("int main() {}\n")
        self.assertIn("none.cu: there is no __global__ function",
                      self.run_coord(self.folder, "init", "--from", "none.cu", code=2).stderr)
        with open(self.path("empty.cu"), "w"):
            pass
        self.assertIn("empty.cu is empty; --from names a CUDA source",
                      self.run_coord(self.folder, "init", "--from", "empty.cu", code=2).stderr)
        self.assertIn(f"{self.folder} is a folder; --from names a CUDA source in it",
                      self.run_coord(self.folder, "init", "--from", self.folder, code=2).stderr)
