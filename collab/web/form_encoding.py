"""Forms are UTF-8 (WHATWG URL, 5): one that says it is not is taken for none, before anything reads it."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

FORM = "application/x-www-form-urlencoded"


class OnlyUtf8Forms(MiddlewareMixin):
    """Takes a form in another encoding for a body that is no form. Django refuses it whenever it is read, and its pages
    for what is refused read it too, so none of them would answer."""

    def process_request(self, request: HttpRequest) -> None:
        """Look at what a body says of itself."""
        if request.content_type == FORM and (request.encoding or "utf-8").lower() != "utf-8":
            request.content_type = ""
