"""Signing in and out, and the account page."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from collab import doorbell
from collab.web import tries
from collab.web.answers import page, reader
from collab.web.forms import PasswordForm, SignInForm
from collab.web.senders import sender_of_request

TOO_MANY = "Too many tries. Wait ten minutes, then try again."


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password; ten failed tries per name and address in ten minutes, then wait."""
    if request.method == "POST":
        return _tried(request, SignInForm(request.POST))
    if request.user.is_authenticated:
        return _onward(request, request.GET.get("next", ""))
    return _door(request, next_url=request.GET.get("next", ""))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session; its open sockets close (``collab.web.wiring`` listens)."""
    logout(request)
    return redirect("sign-in")


@sensitive_post_parameters()
@page
def account(request: HttpRequest) -> HttpResponse:
    """Let a person change their password; their other sessions end."""
    user = reader(request)
    form = PasswordForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        update_session_auth_hash(request, form.save())
        doorbell.person_signed_out(user.pk)
        messages.success(request, "Your password is changed. You are signed out everywhere else.")
        return redirect("account")
    return render(request, "account.html", {"form": form})


def _tried(request: HttpRequest, form: SignInForm) -> HttpResponse:
    username, next_url = str(form.data.get("username", "")).strip(), str(form.data.get("next", ""))
    address = sender_of_request(request)
    if not tries.left(username, address):
        return _door(request, username=username, next_url=next_url, refusal=TOO_MANY, status=429)
    user = authenticate(request, **_credentials(form)) if form.is_valid() else None
    if user is None:
        left = tries.failed(username, address)
        more = f"You have {left} more {'try' if left == 1 else 'tries'}." if left else TOO_MANY
        refusal = f"That name and password don’t match. {more}"
        return _door(request, username=username, next_url=next_url, refusal=refusal)
    tries.succeeded(username, address)
    login(request, user)
    return _onward(request, next_url)


def _credentials(form: SignInForm) -> dict[str, str]:
    return {"username": form.cleaned_data["username"], "password": form.cleaned_data["password"]}


def _onward(request: HttpRequest, next_url: str) -> HttpResponse:
    safe = url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure())
    return HttpResponseRedirect(next_url if next_url and safe else reverse("home"))


def _door(
    request: HttpRequest, *, username: str = "", next_url: str = "", refusal: str = "", status: int = 200
) -> HttpResponse:
    shown = {"username": username, "next": next_url, "refusal": refusal}
    return render(request, "sign_in.html", shown, status=status)
