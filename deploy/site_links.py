#!/usr/bin/env python3
"""site_links.py FOLDER - check the pages of a built site.

Each link inside the site leads to a file, and to an anchor of it; no page and
no style sheet loads anything from another host.  Prints a line for each flaw,
and exits with 1 if there is one.
"""

import html.parser
import os
import re
import sys
import urllib.parse

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
         "embed": "src", "object": "data", "link": "href"}


class Page(html.parser.HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = {""}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {value for name, value in attrs.items() if name == "id" or (tag, name) == ("a", "name")}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if attrs.get(LOADS.get(tag)) and attrs.get("rel") not in ("prev", "next", "canonical"):
            self.loads.append(attrs[LOADS[tag]])
        if attrs.get("style"):
            self.loads += addresses(attrs["style"])


def addresses(css):
    """What a style sheet loads; what is in the sheet itself (data:) is no address."""
    found = re.findall(r"url\(\s*['\"]?([^'\")]+)", css) + re.findall(r"@import\s+['\"]([^'\"]+)", css)
    return [address for address in found if not address.startswith("data:")]


def is_elsewhere(address):
    return bool(re.match(r"([a-z]+:)?//", address))


def target(root, path, address):
    """The file in the site that an address on the page at 'path' means."""
    name = urllib.parse.unquote(urllib.parse.urlsplit(address).path)
    to = os.path.join(root, name.lstrip("/")) if name.startswith("/") else os.path.join(os.path.dirname(path), name)
    to = os.path.normpath(to if name else path)
    return os.path.join(to, "index.html") if os.path.isdir(to) else to


def files(root, ending):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
                  if name.endswith(ending))


def flaws(root):
    pages = {}
    for path in files(root, ".html"):
        with open(path, encoding="utf-8") as f:
            pages[path] = Page(f.read())
    for path, page in pages.items():
        name = os.path.relpath(path, root)
        for address in page.loads:
            if is_elsewhere(address):
                yield f"{name}: loads {address} from another host"
            elif not address.startswith("data:") and not os.path.exists(target(root, path, address)):
                yield f"{name}: there is no {address}"
        for address in page.links:
            if re.match(r"[a-z]+:", address) or is_elsewhere(address):
                continue
            to = target(root, path, address)
            anchor = urllib.parse.unquote(urllib.parse.urlsplit(address).fragment)
            if not os.path.exists(to):
                yield f"{name}: there is no {address}"
            elif to in pages and anchor not in pages[to].anchors:
                yield f"{name}: {os.path.relpath(to, root)} has no anchor #{anchor}"
    for path in files(root, ".css"):
        with open(path, encoding="utf-8") as f:
            yield from (f"{os.path.relpath(path, root)}: loads {address} from another host"
                        for address in addresses(f.read()) if is_elsewhere(address))


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: site_links.py FOLDER")
    found = list(dict.fromkeys(flaws(os.path.abspath(sys.argv[1]))))
    for flaw in found:
        print(f"site_links.py: {flaw}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
