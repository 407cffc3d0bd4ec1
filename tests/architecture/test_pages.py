"""What the pages draw with is there: an icon that the stylesheet lacks would be a blank square."""

from __future__ import annotations

import re

from tests.support.tree import ROOT, files

STYLES = ROOT / "collab" / "web" / "static" / "accord" / "accord.css"
NAMED = re.compile(r"\bi-([a-z]+)\b|\bicon\(\"([a-z]+)\"")


def test_every_icon_that_a_page_names_is_in_the_stylesheet():
    drawn = set(re.findall(r"^\.i-([a-z]+) \{", STYLES.read_text(), re.MULTILINE))
    pages = [path for path in files(".html", ".js") if path.is_relative_to(ROOT)]
    named = {name for path in pages for match in NAMED.findall(path.read_text()) for name in match if name}
    assert {"inbox", "check"} <= named
    assert not named - drawn
