"""Who holds which grant on which object: guardian's direct foreign-key models, one pair an object (DESIGN 4).

Direct, so that deleting an object deletes its grants; ours, so that a grant can expire.
"""

from __future__ import annotations

from django.db import models

from collab.models.documents import Document
from collab.models.threads import Thread
from collab.models.workspaces import Workspace
from permissions.models import GroupObjectPermission, UserObjectPermission


class WorkspaceUserGrant(UserObjectPermission):
    content_object = models.ForeignKey(Workspace, on_delete=models.CASCADE)


class WorkspaceGroupGrant(GroupObjectPermission):
    content_object = models.ForeignKey(Workspace, on_delete=models.CASCADE)


class ThreadUserGrant(UserObjectPermission):
    content_object = models.ForeignKey(Thread, on_delete=models.CASCADE)


class ThreadGroupGrant(GroupObjectPermission):
    content_object = models.ForeignKey(Thread, on_delete=models.CASCADE)


class DocumentUserGrant(UserObjectPermission):
    content_object = models.ForeignKey(Document, on_delete=models.CASCADE)


class DocumentGroupGrant(GroupObjectPermission):
    content_object = models.ForeignKey(Document, on_delete=models.CASCADE)
