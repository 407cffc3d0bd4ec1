"""How sources sign: the published vector, and all that may be wrong with a signature (FAILURES D1 to D3, D12)."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from agents.sources.rates import Rates
from agents.sources.schemes import SCHEMES, BadDelivery, StandardWebhooks, StripesHeader, Verified
from collab.web.senders import network

SECRET = "whsec_" + base64.b64encode(b"restaurant-secret-of-32-bytes!!!").decode()
OLD = "whsec_" + base64.b64encode(b"restaurant-secret-before-that!!!").decode()
NOW = datetime(2026, 6, 12, 18, 30, tzinfo=UTC)
BODY = b'{"type": "reservation.gone", "subject": "R1"}'

standard, stripe = StandardWebhooks(), StripesHeader()


def sent(headers):
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def judged(headers, body=BODY, *, scheme=standard, secrets=(SECRET,), now=NOW, tolerance=300):
    listed = sent(headers) if isinstance(headers, dict) else headers
    return scheme.verify(listed, body, secrets=secrets, now=now, tolerance=tolerance)


def signed(body=BODY, *, at=NOW, secret=SECRET, event_id="msg_1", **changed):
    headers = dict(standard.sign(body, event_id=event_id, sent_at=at, secret=secret))
    return {**headers, **{name.replace("_", "-"): value for name, value in changed.items()}}


class TestStandardWebhooks:
    def test_the_published_vector_holds(self):
        headers = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        found = judged(
            headers, b'{"test": 2432232314}', secrets=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
            now=datetime.fromtimestamp(1614265330, UTC),
        )  # fmt: skip
        assert found == Verified("msg_p5jXN8AQM9LWM0D4loKWxJek", datetime.fromtimestamp(1614265330, UTC))

    @given(st.text(st.characters(codec="utf-8")), st.from_regex(r"[A-Za-z0-9_-]{1,40}", fullmatch=True))
    def test_it_signs_what_the_published_library_signs(self, text, event_id):
        theirs = Webhook(SECRET).sign(msg_id=event_id, timestamp=NOW, data=text)
        assert signed(text.encode(), event_id=event_id)["webhook-signature"] == theirs

    def test_the_bytes_are_signed_and_not_what_they_mean(self):
        again = json.dumps(json.loads(BODY), separators=(",", ":")).encode()
        assert judged(signed(), again).code == "bad_signature"
        assert judged(signed(b"\xff\xfe\x00"), b"\xff\xfe\x00") == Verified("msg_1", NOW)

    @pytest.mark.parametrize(
        ("off", "code"), [(-301, "too_old"), (-300, ""), (0, ""), (300, ""), (301, "too_new")], ids=str
    )
    def test_three_hundred_seconds_are_taken_and_one_more_is_not(self, off, code):
        found = judged(signed(at=NOW + timedelta(seconds=off)))
        assert (found.code if isinstance(found, BadDelivery) else "") == code

    def test_the_tolerance_is_the_sources_own(self):
        assert isinstance(judged(signed(at=NOW - timedelta(seconds=11)), tolerance=10), BadDelivery)
        assert isinstance(judged(signed(at=NOW - timedelta(seconds=900)), tolerance=900), Verified)

    @pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
    def test_each_header_is_sent_exactly_once(self, name):
        headers = sent(signed())
        one = next(header for header in headers if header[0] == name.encode())
        for wrong in (
            [header for header in headers if header != one],
            [*headers, one],
            [*headers, (one[0], b"other")],
        ):
            found = judged(wrong)
            assert (found.status, found.code) == (400, "malformed")
            assert name in found.because

    @pytest.mark.parametrize("event_id", ["", "a.b", "a b", "a\tb", "é", "x" * 201, "\x7f"], ids=ascii)
    def test_an_id_is_visible_ascii_without_the_dot(self, event_id):
        assert judged(signed(event_id=event_id)).status == 400

    @pytest.mark.parametrize(
        "moment",
        ["", "-1", "+1", "1.5", "1e9", " 1614265330", "0161426533", "nan", "inf", "1_000", "٣", "9" * 12, "0x1"],
        ids=ascii,
    )  # fmt: skip
    def test_a_timestamp_is_digits(self, moment):
        assert judged(signed(webhook_timestamp=moment)).status == 400

    @pytest.mark.parametrize(
        "signature",
        [
            *("", "v1", "v1,", ",", "v1,!!!", "v1,AAAA", "v1,é", "v1a,AAAA", "AAAA", "v1,AAAA v1"),
            *("v1,AAAA  v1,AAAA", "v1,a,b", " ".join(["v1," + "A" * 43 + "="] * 21)),
        ],
        ids=[f"number {number}" for number in range(13)],
    )
    def test_a_signature_list_that_cannot_be_read_is_malformed(self, signature):
        found = judged(signed(webhook_signature=signature))
        assert (found.status, found.code) == (400, "malformed")

    def test_any_listed_signature_may_match_and_other_versions_are_passed_over(self):
        right = signed()["webhook-signature"]
        wrong = "v1," + base64.b64encode(bytes(32)).decode()
        for listed in (f"{wrong} {right}", f"{right} {wrong}", f"v1a,whatever {right}"):
            assert isinstance(judged(signed(webhook_signature=listed)), Verified)
        assert judged(signed(webhook_signature=f"{wrong} {wrong}")).status == 401

    def test_both_secrets_hold_while_one_takes_over_and_none_other(self):
        for secret in (SECRET, OLD):
            assert isinstance(judged(signed(secret=secret), secrets=(SECRET, OLD)), Verified)
        assert judged(signed(secret=OLD), secrets=(SECRET,)).status == 401
        assert judged(signed(), secrets=()).status == 401

    def test_a_secret_may_lack_its_prefix_and_its_padding(self):
        for secret in (SECRET, SECRET.removeprefix("whsec_"), SECRET.rstrip("=")):
            assert isinstance(judged(signed(), secrets=(secret,)), Verified)

    def test_a_secret_that_cannot_be_read_is_nobodys(self):
        assert judged(signed(), secrets=("whsec_", "no base64!")).status == 401

    def test_every_part_that_is_signed_counts(self):
        for changed in ({"webhook_id": "msg_2"}, {"webhook_timestamp": str(int(NOW.timestamp()) + 1)}):
            assert judged(signed(**changed)).code == "bad_signature"
        assert judged(signed(), BODY + b" ").code == "bad_signature"

    @pytest.mark.parametrize(
        ("secret", "fits"), [(b"x" * 23, False), (b"x" * 24, True), (b"x" * 64, True), (b"x" * 65, False)], ids=str
    )
    def test_a_secret_holds_24_to_64_bytes(self, secret, fits):
        assert (standard.fault("whsec_" + base64.b64encode(secret).decode()) == "") is fits


def stripes(body=BODY, *, at=NOW, secret="whsec_of_a_shop_as_it_is_written"):
    return stripe.sign(body, event_id="", sent_at=at, secret=secret)


class TestStripesHeader:
    SECRETS = ("whsec_of_a_shop_as_it_is_written",)

    def judged(self, headers, body=BODY, **kwargs):
        return judged(headers, body, scheme=stripe, secrets=self.SECRETS, **kwargs)

    def test_the_id_is_the_one_in_the_body(self):
        body = b'{"id": "evt_1", "type": "refund.made"}'
        assert self.judged(stripes(body), body) == Verified("evt_1", NOW)

    @pytest.mark.parametrize(
        "body", [BODY, b"", b"\xff", b"[]", b'{"id": 7}', b'{"id": ""}', b'{"id": "a\\u0000"}', b"[" * 100_000],
        ids=[f"number {number}" for number in range(8)],
    )  # fmt: skip
    def test_a_signed_body_without_an_id_is_told_from_others_by_its_hash(self, body):
        found = self.judged(stripes(body), body)
        assert isinstance(found, Verified)
        assert found.event_id.startswith("sha256:")
        assert found == self.judged(stripes(body), body)

    @pytest.mark.parametrize(("off", "status"), [(-301, 401), (-300, 0), (300, 0), (301, 401)], ids=str)
    def test_three_hundred_seconds_are_taken_and_one_more_is_not(self, off, status):
        assert getattr(self.judged(stripes(at=NOW + timedelta(seconds=off))), "status", 0) == status

    @pytest.mark.parametrize(
        "header", ["", "t=1", "v1=" + "0" * 64, "t=x,v1=" + "0" * 64, "t=1,t=1,v1=" + "0" * 64, "t=1,v1=0", "t=1,v1=zz"]
    )
    def test_a_header_that_cannot_be_read_is_malformed(self, header):
        assert self.judged({"stripe-signature": header}).status == 400

    def test_the_header_is_sent_exactly_once(self):
        assert self.judged({}).status == 400
        assert self.judged(sent(stripes()) * 2).status == 400

    def test_any_v1_may_match_and_v0_never_does(self):
        moment, _, right = stripes()["stripe-signature"].partition(",v1=")
        assert isinstance(self.judged({"stripe-signature": f"{moment},v1={'0' * 64},v1={right}"}), Verified)
        assert self.judged({"stripe-signature": f"{moment},v0={right},v1={'0' * 64}"}).status == 401


ANYTHING = st.one_of(st.binary(max_size=60), st.sampled_from([value for _, value in sent(signed())]))
NAMES = [b"webhook-id", b"webhook-timestamp", b"webhook-signature", b"stripe-signature", b"x-other"]


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
@given(headers=st.lists(st.tuples(st.sampled_from(NAMES), ANYTHING), max_size=6), body=st.binary(max_size=100))
def test_whatever_arrives_is_refused_with_4xx_and_a_sentence(scheme, headers, body):
    found = judged(headers, body, scheme=SCHEMES[scheme], secrets=(SECRET, OLD))
    assert isinstance(found, BadDelivery)
    assert found.status in {400, 401}
    assert found.because.endswith(".")


class TestRates:
    def test_so_many_at_once_and_as_many_again_in_a_minute(self):
        rates = Rates()
        taken = [rates.wait("a", per_minute=3, now=0.0) for _ in range(4)]
        assert taken == [0, 0, 0, 20]
        assert rates.wait("a", per_minute=3, now=20.0) == 0
        assert rates.wait("a", per_minute=3, now=20.0) > 0

    def test_one_key_takes_nothing_of_another(self):
        rates = Rates()
        assert rates.wait("a", per_minute=1, now=0.0) == 0
        assert rates.wait("b", per_minute=1, now=0.0) == 0

    def test_no_more_keys_are_kept_than_fit_and_the_oldest_is_forgotten(self):
        rates = Rates(most=2)
        for key in ("a", "b", "c"):
            rates.wait(key, per_minute=1, now=0.0)
        assert rates.wait("c", per_minute=1, now=0.0) > 0
        assert rates.wait("a", per_minute=1, now=0.0) == 0

    def test_a_rate_of_none_takes_none(self):
        assert Rates().wait("a", per_minute=0, now=0.0) > 0

    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            ("192.0.2.1", "192.0.2.2", False),
            ("2001:db8::1", "2001:db8::ffff:1", True),
            ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
            ("::ffff:192.0.2.1", "192.0.2.1", True),
            ("no address", "no address", True),
        ],
    )
    def test_addresses_of_one_ipv6_network_count_together(self, one, other, same):
        assert (network(one) == network(other)) is same
