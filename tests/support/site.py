"""A served Accord with people signed in to it, and workspaces made there as people would make them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx

from tests.support.server import Server
from tests.support.visitor import Visitor, visiting

PLAN = "# Launch plan\n\nDinner on Friday for 12.\n\nBudget: 900.\n"
COMMENTS = """
from collab.services.messages import message_post
from permissions.actors import Person
from permissions.models import User
actor = Person(User.objects.get(username="{who}").pk)
for number in range(1, {count} + 1):
    message_post(
        actor=actor, thread="{thread}", content=f"comment {{number}}", client_id=f"bulk{{number}}", kind="comment"
    )
"""
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Studio:
    """A workspace of Ana's with Ben (editor), Vera (viewer) and Robin in it, a thread, and the document it shows."""

    workspace: str
    thread: str
    document: str

    @property
    def path(self) -> str:
        return f"/w/{self.workspace}/"

    @property
    def people_path(self) -> str:
        return f"/w/{self.workspace}/people/"

    @property
    def thread_path(self) -> str:
        return f"/t/{self.thread}/"

    @property
    def timeline_path(self) -> str:
        return f"/t/{self.thread}/timeline/"

    @property
    def document_path(self) -> str:
        return f"/documents/{self.document}/"


@dataclass(slots=True)
class Site:
    """A server with the demo's people; each is signed in when first needed."""

    server: Server
    _stack: ExitStack
    _visitors: dict[str, Visitor] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.server.url

    def visitor(self, who: str) -> Visitor:
        """Return a person, by user name, signed in."""
        if who not in self._visitors:
            self._visitors[who] = self._stack.enter_context(visiting(self.server, who))
        return self._visitors[who]

    def post(self, who: str, path: str, **form: str) -> httpx.Response:
        """Send a form as a person and return the page it leads to."""
        http = self.visitor(who).http
        data = {"csrfmiddlewaretoken": http.cookies["csrftoken"], **form}
        return http.post(path, data=data, headers={"Origin": self.url}).raise_for_status()

    def page(self, who: str, path: str) -> str:
        """Return the HTML of a page as a person gets it."""
        return self.visitor(who).http.get(path).raise_for_status().text

    def workspace(self, name: str = "Studio launch") -> str:
        """Make a workspace of Ana's, with nobody and nothing in it, and return its id."""
        return _id_in(self.post("ana", "/w/new/", name=name).url.path)

    def thread(self, workspace: str, title: str = "Launch dinner") -> str:
        """Make a thread and return its id."""
        return _id_in(self.post("ana", f"/w/{workspace}/threads/", title=title).url.path)

    def document(self, workspace: str, thread: str, title: str = "Launch plan", text: str = PLAN) -> str:
        """Make a document in a thread that shows none yet, write its text, and return its id."""
        page = self.post("ana", f"/w/{workspace}/documents/", title=title, kind="markdown", thread=thread).text
        found = re.search(rf'data-document="({ID.pattern})"', page)
        assert found, "the thread shows no document"
        self.post("ana", f"/documents/{found[1]}/save/", text=text, base_version="1")
        return found[1]

    def set_role(self, studio: Studio, name: str, role: str) -> None:
        """Give a member another role, as Ana would."""
        page = self.page("ana", studio.people_path)
        found = re.search(rf'for="r-({ID.pattern})">Role of {name}<', page)
        assert found, f"{name} is no member"
        self.post("ana", studio.people_path, act="role", user=found[1], role=role)

    def events(self, studio: Studio, type: str) -> int:
        """Return how many events of a type the studio's thread has, of its newest hundred."""
        return self.page("ana", studio.timeline_path).count(f">{type}<")

    def comments(self, studio: Studio, who: str, count: int) -> None:
        """Have someone comment many times, in a process of its own."""
        self.server.manage("shell", "-c", COMMENTS.format(who=who, count=count, thread=studio.thread))

    def studio(self) -> Studio:
        """Make what Ana, Ben and Vera share."""
        workspace = self.workspace()
        people = f"/w/{workspace}/people/"
        self.post("ana", people, act="add", username="ben", role="editor")
        page = self.post("ana", people, act="add", username="vera", role="viewer").text
        robin = re.search(rf'name="agent" value="({ID.pattern})"', page)
        assert robin, "there is no agent to enable"
        self.post("ana", people, act="agent", agent=robin[1], role="editor")
        thread = self.thread(workspace)
        return Studio(workspace, thread, self.document(workspace, thread))


@contextmanager
def opened(server: Server) -> Iterator[Site]:
    """Have people sign in at a server until this closes."""
    with ExitStack() as stack:
        yield Site(server, stack)


def _id_in(path: str) -> str:
    found = ID.search(path)
    assert found, f"{path} names nothing"
    return found[0]
