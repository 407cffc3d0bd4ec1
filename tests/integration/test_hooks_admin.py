"""Sources and deliveries in the admin: who sees a secret and a body, who changes what, what is acted on again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.models.sources import Delivery, Source
from agents.sources import acting
from agents.sources.retention import deliveries_forget
from agents.sources.services import delivery_replay, delivery_route, source_change, source_create, source_secret_rotate
from collab.errors import Conflict, Gone, Invalid
from collab.models.threads import Thread
from collab.services.threads import thread_create
from collab.services.workspaces import workspace_create
from permissions.errors import NotFound, Refused
from tests.support.admin import listing, page, staffed, supered
from tests.support.deliveries import OTHER, SECRET, delivered, source

DAY = 86_400


@pytest.fixture
def told(monkeypatch):
    """What acting was told of."""
    found = []
    monkeypatch.setattr(acting, "delivered", found.extend)
    return found


@pytest.fixture
def restaurant(studio):
    return source(studio)


class TestServices:
    def test_who_does_not_manage_the_workspace_registers_and_changes_nothing(self, studio, restaurant, ben, zoe):
        for someone, refusal in ((ben, Refused), (zoe, NotFound)):
            with pytest.raises(refusal):
                source_create(actor=someone.actor, workspace=studio.workspace.id, name="x", label="X", handler="json")
            with pytest.raises(refusal):
                source_change(actor=someone.actor, source=restaurant.id, enabled=False)
            with pytest.raises(refusal):
                source_secret_rotate(actor=someone.actor, source=restaurant.id)
            with pytest.raises(refusal):
                delivery_replay(actor=someone.actor, delivery=delivered(restaurant, someone.name).id)
        restaurant.refresh_from_db()
        assert (restaurant.enabled, restaurant.secret, restaurant.old_secret) == (True, SECRET, "")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"name": ""},
            {"name": "Über"},
            {"name": "a/b"},
            {"name": "x" * 51},
            {"label": ""},
            {"handler": "nobody"},
            {"scheme": "none"},
            {"secret": "short"},
            {"keep_days": 6},
            {"tolerance_seconds": 0},
            {"tolerance_seconds": 3_601},
            {"per_minute": 0},
            {"secret_of": "another"},
        ],
        ids=str,
    )
    def test_what_cannot_be_is_refused_with_a_sentence(self, studio, wrong):
        with pytest.raises(Invalid) as refused:
            source(studio, **{"name": "cinema", **wrong})
        assert refused.value.because.endswith(".")
        assert not Source.objects.exists()

    def test_two_sources_have_two_names(self, studio, restaurant):
        with pytest.raises(Conflict):
            source(studio)

    def test_a_source_that_is_given_no_secret_gets_one_of_its_own(self, studio):
        made = [source(studio, name, secret="").secret for name in ("a", "b")]
        assert made[0] != made[1]
        assert all(secret.startswith("whsec_") for secret in made)

    def test_the_secret_before_holds_for_a_day(self, studio, restaurant):
        changed = source_secret_rotate(actor=studio.ana.actor, source=restaurant.id, secret=OTHER)
        assert (changed.secret, changed.old_secret) == (OTHER, SECRET)
        assert timedelta(hours=23) < changed.old_secret_until - timezone.now() <= timedelta(hours=24)

    def test_a_default_thread_is_one_of_the_workspace(self, studio, restaurant, ana, robin):
        elsewhere = workspace_create(actor=ana.actor, name="Elsewhere")
        other = Thread.objects.create(workspace=elsewhere, title="Other", agent_id=robin.id)
        with pytest.raises(Invalid):
            source_change(actor=ana.actor, source=restaurant.id, default_thread_id=other.id)
        changed = source_change(actor=ana.actor, source=restaurant.id, default_thread_id=studio.thread.id)
        assert changed.default_thread == studio.thread


class TestActingAgain:
    def test_what_found_no_place_is_acted_on_again(self, studio, restaurant, told, django_capture_on_commit_callbacks):
        found = delivered(restaurant, reason="It names nothing we know.", attempts=3)
        with django_capture_on_commit_callbacks(execute=True):
            delivery_replay(actor=studio.ana.actor, delivery=found.id)
        found.refresh_from_db()
        assert (found.state, found.reason, found.attempts) == ("stored", "", 0)
        assert told == [found.id]

    @pytest.mark.parametrize("state", ["acted", "superseded"])
    def test_what_was_acted_on_is_never_acted_on_again(self, studio, restaurant, told, state):
        found = delivered(restaurant, state=state, acted_at=timezone.now())
        for again in (
            lambda: delivery_replay(actor=studio.ana.actor, delivery=found.id),
            lambda: delivery_route(actor=studio.ana.actor, delivery=found.id, thread=studio.thread.id),
        ):
            with pytest.raises(Gone):
                again()
        found.refresh_from_db()
        assert (found.state, told) == (state, [])

    def test_a_delivery_is_routed_by_hand_and_who_did_it_is_kept(
        self, studio, restaurant, told, django_capture_on_commit_callbacks
    ):
        found = delivered(restaurant)
        with django_capture_on_commit_callbacks(execute=True):
            delivery_route(actor=studio.ana.actor, delivery=found.id, thread=studio.thread.id)
        found.refresh_from_db()
        assert (found.state, found.thread_id, found.routed_by) == ("stored", studio.thread.id, studio.ana.actor)
        assert told == [found.id]

    def test_it_goes_to_no_thread_of_another_workspace_and_to_none_that_is_archived(
        self, studio, restaurant, ana, robin
    ):
        found = delivered(restaurant)
        elsewhere = workspace_create(actor=ana.actor, name="Elsewhere")
        other = Thread.objects.create(workspace=elsewhere, title="Other", agent_id=robin.id)
        closed = thread_create(actor=ana.actor, workspace=studio.workspace.id, title="Closed", agent_id=studio.robin.id)
        Thread.objects.filter(pk=closed.pk).update(archived_at=timezone.now())
        for thread in (other, closed):
            with pytest.raises(Invalid):
                delivery_route(actor=ana.actor, delivery=found.id, thread=thread.id)
        found.refresh_from_db()
        assert (found.state, found.thread_id) == ("unroutable", None)


class TestForgetting:
    def test_only_what_was_settled_long_ago_is_forgotten(self, restaurant, clock):
        for state in Delivery.State.values:
            delivered(restaurant, state, state, acted_at=timezone.now() if state in {"acted", "superseded"} else None)
        clock(7 * DAY - 60)
        assert deliveries_forget() == 0
        clock(7 * DAY + 60)
        delivered(restaurant, "new", "acted", acted_at=timezone.now() + timedelta(days=7))
        assert deliveries_forget(at_once=1) == 1
        assert deliveries_forget() == 1
        assert set(Delivery.objects.values_list("state", "event_id")) == {
            ("stored", "stored"),
            ("unroutable", "unroutable"),
            ("acted", "new"),
        }

    def test_what_was_routed_late_is_kept_as_long_after_it(self, restaurant, clock):
        delivered(restaurant, state="acted", acted_at=timezone.now() + timedelta(days=3))
        clock(8 * DAY)
        assert deliveries_forget() == 0

    def test_a_source_that_keeps_longer_keeps_longer(self, studio, clock):
        delivered(source(studio, "bank", keep_days=30), state="acted", acted_at=timezone.now())
        clock(29 * DAY)
        assert deliveries_forget() == 0


class TestPages:
    def test_a_body_is_for_those_who_may_view_the_workspace(self, studio, restaurant, vera, zoe):
        found = delivered(restaurant, reason="It names nothing we know.")
        for someone, sees in ((vera, True), (zoe, False)):
            shown = staffed(someone).get(page(found)).content.decode()
            assert ("The kitchen is closed." in shown) is sees
            assert ("It names nothing we know." in shown) is sees
            assert "The kitchen is closed." not in staffed(someone).get(listing(Delivery)).content.decode()

    def test_a_routed_ones_body_is_for_those_who_may_view_its_thread_too(self, studio, restaurant, zoe, ana):
        found = delivered(restaurant, state="acted", thread=studio.thread, acted_at=timezone.now())
        assert "The kitchen is closed." in staffed(ana).get(page(found)).content.decode()
        assert "The kitchen is closed." not in staffed(zoe).get(page(found)).content.decode()

    def test_a_secret_is_shown_when_it_is_asked_for_to_those_who_manage(self, studio, restaurant, ana, ben, caplog):
        browser = staffed(ana)
        for address in (page(restaurant), listing(Source), secret_page(restaurant)):
            assert SECRET not in browser.get(address).content.decode()
        shown = browser.post(secret_page(restaurant), {"act": "show"})
        assert SECRET in shown.content.decode()
        assert "no-store" in shown["Cache-Control"]
        assert SECRET not in caplog.text
        assert staffed(ben).post(secret_page(restaurant), {"act": "show"}).status_code == 404

    def test_a_new_secret_is_given_and_shown_on_the_page(self, restaurant, ana, ben):
        assert staffed(ben).post(secret_page(restaurant), {"act": "rotate"}).status_code == 404
        shown = staffed(ana).post(secret_page(restaurant), {"act": "rotate"}).content.decode()
        restaurant.refresh_from_db()
        assert restaurant.secret != SECRET
        assert restaurant.secret in shown.replace("&#x27;", "'").replace("&#x3D;", "=")
        assert restaurant.old_secret == SECRET

    def test_a_source_is_registered_on_its_form(self, studio, ana):
        form = {
            "workspace": str(studio.workspace.id), "name": "cinema", "label": "Cinema", "handler": "json",
            "scheme": "standard", "tolerance_seconds": 300, "keep_days": 7, "per_minute": 600, "own_secret": "",
        }  # fmt: skip
        browser = staffed(ana)
        assert browser.post(adding(), {**form, "keep_days": 3}).status_code == 200
        assert browser.post(adding(), {**form, "own_secret": "short"}).status_code == 200
        assert not Source.objects.exists()
        assert browser.post(adding(), form).status_code == 302
        made = Source.objects.get()
        assert (made.name, made.enabled, made.secret[:6]) == ("cinema", True, "whsec_")

    def test_who_does_not_manage_the_workspace_is_told_so_on_the_form(self, studio, ben):
        form = {
            "workspace": str(studio.workspace.id), "name": "cinema", "label": "Cinema", "handler": "json",
            "scheme": "standard", "tolerance_seconds": 300, "keep_days": 7, "per_minute": 600, "own_secret": "",
        }  # fmt: skip
        shown = staffed(ben).post(adding(), form)
        assert "Ben" in shown.content.decode()
        assert not Source.objects.exists()

    def test_a_source_is_changed_by_those_who_manage_and_read_by_other_staff(self, studio, restaurant, ana, ben):
        form = {
            "label": "Trattoria", "handler": "json", "tolerance_seconds": 60, "keep_days": 14, "per_minute": 10,
            "default_thread": str(studio.thread.id),
        }  # fmt: skip
        assert staffed(ben).get(page(restaurant)).status_code == 200
        assert staffed(ben).post(page(restaurant), form).status_code == 403
        assert staffed(ana).post(page(restaurant), form).status_code == 302
        restaurant.refresh_from_db()
        assert (restaurant.label, restaurant.keep_days, restaurant.enabled) == ("Trattoria", 14, False)
        assert (restaurant.name, restaurant.secret) == ("restaurant", SECRET)

    def test_deliveries_are_routed_and_acted_on_again_from_their_page(self, studio, restaurant, told, ana, ben):
        found = delivered(restaurant)
        act = page(found, "act_page")
        route = {"act": "route", "thread": str(studio.thread.id)}
        assert staffed(ben).post(act, route).status_code == 404
        browser = staffed(ana)
        assert browser.get(act).status_code == 200
        assert browser.post(act, {"act": "route", "thread": ""}).status_code == 400
        assert browser.post(act, route).status_code == 302
        found.refresh_from_db()
        assert (found.state, found.thread_id) == ("stored", studio.thread.id)
        Delivery.objects.filter(pk=found.pk).update(state="acted")
        refused = browser.post(act, {"act": "replay"})
        assert refused.status_code == 400
        assert "nothing is acted on twice" in refused.content.decode()

    def test_what_waits_is_a_metric(self, restaurant, client, settings):
        settings.ACCORD_METRICS_TOKEN = "for the test"
        for number in range(2):
            delivered(restaurant, f"m{number}")
        shown = client.get("/metrics", headers={"Authorization": "Bearer for the test"}).content.decode()
        assert 'accord_deliveries_waiting{state="unroutable"} 2.0' in shown
        assert 'accord_deliveries_waiting{state="stored"} 0.0' in shown

    def test_lists_open_for_superusers_who_manage_nothing(self, restaurant, zoe):
        delivered(restaurant)
        browser = supered(zoe)
        for model in (Source, Delivery):
            assert browser.get(listing(model)).status_code == 200


def adding():
    return listing(Source) + "add/"


def secret_page(of):
    return page(of, "secret_page")
