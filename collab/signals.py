"""The one signal between the apps (DESIGN 3)."""

from django.dispatch import Signal

thread_asked = Signal()
"""Sent inside the transaction in which a thread was asked for a turn, with ``thread_id``. The app above listens, and
arranges the wake-up in that same transaction."""
