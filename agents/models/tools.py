"""Tools as rows, and a tool enabled in a workspace: what the grants to use it are held on (DESIGN 4 and 5)."""

from __future__ import annotations

from uuid import UUID

from django.db import models

from collab.models.workspaces import Workspace
from permissions.clock import AccordNow
from permissions.fields import ActorField
from permissions.ids import new_id
from permissions.models import GroupObjectPermission, Guarded, UserObjectPermission
from permissions.roles import TOOL_PERMISSIONS


class Tool(models.Model):
    """A registered tool: a row for each tool of the packs, kept when its pack goes, since grants and calls name it."""

    name = models.CharField(max_length=100, primary_key=True)
    label = models.CharField(max_length=100)
    pack = models.CharField(max_length=100)
    effect = models.CharField(max_length=10)
    registered = models.BooleanField(default=True, help_text="A pack of this server has it.")

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.label


class WorkspaceTool(Guarded):
    """A tool enabled in a workspace. Whoever is to use it, agents too, holds ``use_tool`` on it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tools")
    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, related_name="+")
    enabled_by = ActorField()
    enabled_at = models.DateTimeField(db_default=AccordNow(), editable=False)

    class Meta:
        default_permissions = ()
        permissions = TOOL_PERMISSIONS
        constraints = [models.UniqueConstraint(fields=["workspace", "tool"], name="a_tool_is_enabled_once")]

    def __str__(self) -> str:
        return self.guarded_name

    @property
    def guarded_name(self) -> str:
        return self.tool_id.replace("_", " ")

    @property
    def scope_id(self) -> UUID:
        return self.workspace_id

    def grant_objects(self) -> tuple[tuple[type[models.Model], UUID], ...]:
        return ((WorkspaceTool, self.id), (Workspace, self.workspace_id))


class WorkspaceToolUserGrant(UserObjectPermission):
    content_object = models.ForeignKey(WorkspaceTool, on_delete=models.CASCADE)


class WorkspaceToolGroupGrant(GroupObjectPermission):
    content_object = models.ForeignKey(WorkspaceTool, on_delete=models.CASCADE)
