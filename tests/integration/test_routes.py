"""Every address and every command, held against everyone: what is not in these tables fails (FAILURES H5, promise 10).

``manage.py`` commands aside, these are all the ways in. An outcome is what someone observes, and whether anything
changed:

====================  ==================================================================
``sign in``           sent to the page that asks who they are
``shown``             answered, and nothing changed
``sent on``           sent to another page, and nothing changed: a form that was refused says so there
``refused``           answered that it may not be or cannot be, and nothing changed
``nothing``           answered as if there were nothing there
``wrong method``      answered that the address takes no such request
``done``              something changed
====================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.cache import cache
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from agents.models.turns import Call, Question, Turn
from agents.turns import boundary, ending, history
from agents.turns.boundary import Work
from agents.turns.start import Started, start_next
from collab import commands
from collab.errors import CollabError
from collab.log import thread_locked
from collab.models.documents import Document
from collab.models.proposals import Proposal
from collab.models.threads import Message, Thread
from collab.protocol import Close
from collab.services.documents import document_archive, document_create, document_edit
from collab.services.threads import thread_create
from collab.services.workspaces import invite_create, member_role_set, workspace_create
from permissions.errors import NotFound, PermissionsError
from permissions.ids import new_id
from permissions.models import User
from permissions.roles import Role
from tests.support import cast
from tests.support.sockets import Sockets
from tests.support.turns import posts
from tests.support.world import changed, world

GET, POST = "GET", "POST"
Form = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything an address or a command can name: in the studio, and in a thread of each kind of turn.

    ``ids`` holds one of each thing, by the name that commands call it.
    """

    studio: cast.Studio
    zoe: cast.Someone
    invite: str
    ids: Mapping[str, UUID]


# --- addresses ------------------------------------------------------------------------------------------------------

WORKSPACE: Callable[[Scene], list[Any]] = lambda scene: [scene.studio.workspace.id]  # noqa-free: a table reads better
