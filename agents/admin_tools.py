"""Tools, and where each is enabled, as staff see them; grants on an enabled one are given and taken as on the rest."""

from __future__ import annotations

from permissions.admin.base import StaffAdmin, actor_column
from permissions.admin.objects import GuardedAdmin


class ToolAdmin(StaffAdmin):
    """The tools that this server's packs have, and those that calls and grants still name."""

    heading = "Tools"
    list_display = ("label", "name", "pack", "effect", "registered")
    list_filter = ("registered", "effect", "pack")
    search_fields = ("name", "label")
    ordering = ("label", "pk")
    shown = ("label", "name", "pack", "effect", "registered")


class WorkspaceToolAdmin(GuardedAdmin):
    """Tools enabled in workspaces; they are enabled and disabled on a workspace's page of tools."""

    heading = "Enabled tools"
    list_display = ("tool", "workspace", "who", "enabled_at")
    list_filter = ("tool",)
    list_select_related = ("workspace", "tool")
    linked_by = ("workspace",)
    id_fields = ("pk", "workspace")
    search_fields = ("tool__name", "tool__label", "workspace__name")
    ordering = ("tool", "workspace", "pk")
    shown = ("tool", "id", "workspace", "who", "enabled_at")

    who = actor_column("enabled_by", "Enabled by")
