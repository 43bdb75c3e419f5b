"""cmake/join.py: which files can be compiled as one."""

import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "cmake"))
import join  # noqa: E402


def groups(*texts):
    with tempfile.TemporaryDirectory(prefix="fa-join-") as folder:
        paths = [os.path.join(folder, f"{k}.c") for k in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return join.groups(paths)


class Join(unittest.TestCase):
    def test_files_without_a_common_name_are_one_group(self):
        self.assertEqual(groups("static int a(void)\n{\n}\n", "static int b;\nint c(void);\n", "int d = 1;\n"), [0, 0, 0])

    def test_a_function_a_variable_and_a_table_clash_by_name(self):
        for text in ("static int same(int x)\n{\n}\n", "static const char *const same[] = { NULL };\n", "static int same = 1;\n",
                     "static const struct {\n    int x;\n} same[] = { { 1 } };\n", "enum {\n    other,\n    same\n};\n"):
            self.assertEqual(groups("static void same(void)\n{\n}\n", text, "static int unlike;\n"), [0, 1, 0], text)

    def test_tags_clash(self):
        self.assertEqual(groups("struct same {\n    int x;\n};\n", "static struct same {\n    int y;\n} one;\n"), [0, 1])
        self.assertEqual(groups("struct same;\n", "struct same *of(void);\n"), [0, 0])

    def test_a_macro_of_one_is_no_word_of_another(self):
        self.assertEqual(groups("#define LIMIT 1\n", "int x = LIMIT;\n"), [0, 1])
        self.assertEqual(groups("int x = LIMIT;\n", "# define LIMIT 1\n", "int LIMITED;\n"), [0, 1, 0])

    def test_comments_and_texts_say_nothing(self):
        self.assertEqual(groups("#define LIMIT 1\n", "/* LIMIT */\n// LIMIT\nconst char *x = \"LIMIT\";\n"), [0, 0])
        self.assertEqual(groups('const char *x = "/*";\nenum {\n    KEY\n};\n', "enum {\n    KEY\n};\n"), [0, 1])
        self.assertEqual(groups("int x = '\"';\nenum {\n    KEY\n};\nint y = '\"';\n", "enum {\n    KEY\n};\n"), [0, 1])

    def test_a_file_goes_to_the_first_group_that_has_room(self):
        self.assertEqual(groups("static int a;\n", "static int a;\nstatic int b;\n", "static int b;\n", "static int a;\nstatic int b;\n"), [0, 1, 0, 2])


if __name__ == "__main__":
    unittest.main()
