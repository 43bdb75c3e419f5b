"""Links in README.md, CHANGELOG.md and docs/ as they are on a code host: each file and each anchor exists."""

import glob
import os
import re
import unittest

import doc_pages


def wrong(path, text):
    """What is wrong with the links of the page at 'path'; addresses of other hosts are not asked for."""
    for line, target in doc_pages.links(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if to.startswith("..") or not os.path.exists(os.path.join(doc_pages.SOURCE, to)):
            yield f"{path}:{line}: there is no {to}"
        elif anchor and to.endswith(".md"):
            if anchor not in doc_pages.anchors(text if to == path else doc_pages.read(to)):
                yield f"{path}:{line}: {to} has no heading #{anchor}"


class Links(unittest.TestCase):
    def test_each_link_leads_somewhere(self):
        found = []
        for path in [*doc_pages.paths(), "CHANGELOG.md", "kernels/flash_attention/README.md",
                     "kernels/vector_add/README.md"]:
            found += wrong(path, doc_pages.read(path))
        self.assertEqual(found, [])

    def test_each_page_can_be_reached_from_readme(self):
        reached, ahead = set(), ["README.md"]
        while ahead:
            path = ahead.pop()
            if path in reached:
                continue
            reached.add(path)
            for _, target in doc_pages.links(doc_pages.read(path)):
                to = os.path.normpath(os.path.join(os.path.dirname(path), target.partition("#")[0]))
                if to.startswith("docs") and to.endswith(".md"):
                    ahead.append(to)
                elif os.path.isdir(os.path.join(doc_pages.SOURCE, to)):
                    ahead += [page for page in doc_pages.paths() if os.path.dirname(page) == to]
        self.assertEqual([page for page in doc_pages.paths() if page not in reached], [])

    def test_each_page_is_in_the_nav_of_the_site(self):
        nav = set(re.findall(r": (\S+\.md)$", doc_pages.read("mkdocs.yml"), re.MULTILINE))
        pages = {os.path.relpath(path, "docs") for path in doc_pages.paths() if path != "README.md"}
        self.assertEqual(nav - {"index.md", "CHANGELOG.md"}, pages, "mkdocs.yml must name each page of docs/ once")

    def test_each_picture_is_in_one_folder_and_shown(self):
        files = {os.path.relpath(path, doc_pages.SOURCE) for kind in ("png", "svg", "jpg")
                 for path in glob.glob(os.path.join(doc_pages.SOURCE, "docs", "**", f"*.{kind}"), recursive=True)}
        self.assertEqual({os.path.dirname(path) for path in files}, {"docs/pictures"})
        shown = {os.path.normpath(os.path.join(os.path.dirname(page), target)) for page in doc_pages.paths()
                 for _, target in doc_pages.links(doc_pages.read(page))}
        self.assertEqual(files - shown, set(), "pictures that no page shows")

    def test_a_broken_link_is_found(self):
        page = "# A b, c\n\n[x](no.md) [y](#a-b-c) [z](#a-b) [a\nb](style.md#nothing) `[q](none.md)`\n\n" \
               "    [r](none.md)\n"
        self.assertEqual(list(wrong("docs/fuzz.md", page)),
                         ["docs/fuzz.md:3: there is no docs/no.md", "docs/fuzz.md:3: docs/fuzz.md has no heading #a-b",
                          "docs/fuzz.md:4: docs/style.md has no heading #nothing"])


if __name__ == "__main__":
    unittest.main()
