"""What the admin's pickers offer."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.views.autocomplete import AutocompleteJsonView

from permissions.admin.standing import named_apart
from permissions.models import User


class PickerView(AutocompleteJsonView):
    """Offers accounts with what tells them apart: a grant to the wrong Ana is given in good faith."""

    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, str]:
        found = super().serialize_result(obj, to_field_name)
        return {**found, "text": named_apart(obj)} if isinstance(obj, User) else found
