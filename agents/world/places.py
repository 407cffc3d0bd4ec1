"""What the fake restaurant and the fake shop do with what they are asked: the rules of the world. Pure.

Each answer is one to a *deed*: its name and its arguments, as the ledger keeps them. State is nothing but the deeds so
far, so a world that starts anew from its ledger answers as it did before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

SEATS = 40
"""Guests that the restaurant seats at one time of one day."""

LARGEST_PARTY = 20
LONGEST_TEXT = 1_000
MOST_MONEY = 10_000
ORDERS: Mapping[str, Mapping[str, str]] = {
    "4412": {"item": "Tea set", "paid": "12.50", "status": "lost on the way"},
    "4413": {"item": "Table cloth", "paid": "38.00", "status": "delivered"},
    "4414": {"item": "Twelve glasses", "paid": "64.90", "status": "on the way"},
}
CURRENCY = "GBP"

Answer = dict[str, Any]


class No(ValueError):
    """The world says no, and nothing was done: its status and a sentence."""

    def __init__(self, status: int, because: str) -> None:
        super().__init__(because)
        self.status, self.because = status, because


@dataclass(slots=True)
class Places:
    """What the deeds so far made: reservations and refunds by their numbers, and how many texts were sent."""

    reservations: dict[str, Answer] = field(default_factory=dict)
    refunds: dict[str, Answer] = field(default_factory=dict)
    texts: int = 0

    def answer(self, deed: str, args: Mapping[str, Any]) -> Answer:
        """Return what a deed would come to, and change nothing.

        Raises:
            No: it cannot be done, or its arguments are not those of this deed.
        """
        match deed:
            case "reserve":
                return self._reserve(args)
            case "cancel":
                return self._cancel(args)
            case "text":
                return self._text(args)
            case "refund":
                return self._refund(args)
        raise No(404, "There is no such thing to ask for.")

    def happened(self, deed: str, answer: Answer) -> None:
        """Take in what a deed came to."""
        match deed:
            case "reserve" | "cancel":
                self.reservations[answer["reservation"]] = answer
            case "refund":
                self.refunds[answer["refund"]] = answer
            case "text":
                self.texts += 1

    def order(self, number: str) -> Answer:
        """Return an order.

        Raises:
            No: there is none of this number.
        """
        if number not in ORDERS:
            raise No(404, f"There is no order {number[:40]}.")
        given_back = [Decimal(one["amount"]) for one in list(self.refunds.values()) if one["order"] == number]
        left = Decimal(ORDERS[number]["paid"]) - sum(given_back)
        return {"order": number, **ORDERS[number], "currency": CURRENCY, "remaining": f"{left:.2f}"}

    def _reserve(self, args: Mapping[str, Any]) -> Answer:
        day, time, party = _day(args), _clock(args), args.get("party")
        if type(party) is not int or not 1 <= party <= LARGEST_PARTY:
            raise No(422, f"A party is 1 to {LARGEST_PARTY}.")
        standing = (one for one in self.reservations.values() if one["state"] == "booked")
        taken = sum(one["party"] for one in standing if (one["day"], one["time"]) == (day, time))
        if taken + party > SEATS:
            raise No(422, f"There is no table for {party} on {day} at {time}.")
        number = f"R{len(self.reservations) + 1}"
        name = _words(args, "name", 80, least=0)
        return {"reservation": number, "day": day, "time": time, "party": party, "name": name, "state": "booked"}

    def _cancel(self, args: Mapping[str, Any]) -> Answer:
        number = str(args.get("reservation"))
        found = self.reservations.get(number)
        if found is None:
            raise No(404, f"There is no reservation {number[:40]}.")
        if found["state"] != "booked":
            raise No(422, f"Reservation {number} is cancelled already.")
        return {**found, "state": "cancelled"}

    def _text(self, args: Mapping[str, Any]) -> Answer:
        if args.get("to") != "group":
            raise No(422, "Texts go to the group.")
        return {"sent": f"M{self.texts + 1}", "to": "group", "text": _words(args, "text", LONGEST_TEXT)}

    def _refund(self, args: Mapping[str, Any]) -> Answer:
        order = self.order(_words(args, "order", 40))
        amount = _amount(args)
        if amount > Decimal(order["remaining"]):
            raise No(422, f"Only {order['remaining']} of order {order['order']} can be refunded.")
        number = f"F{len(self.refunds) + 1}"
        return {"refund": number, "order": order["order"], "amount": f"{amount:.2f}", "currency": CURRENCY}


def _day(args: Mapping[str, Any]) -> str:
    try:
        return date.fromisoformat(_words(args, "day", 10)).isoformat()
    except ValueError:
        raise No(422, "There is no such day.") from None


def _clock(args: Mapping[str, Any]) -> str:
    hours, colon, minutes = _words(args, "time", 5).partition(":")
    if not (colon and len(hours) == len(minutes) == 2 and (hours + minutes).isdecimal()):
        raise No(422, "There is no such time.")
    if int(hours) > 23 or int(minutes) > 59:
        raise No(422, "There is no such time.")
    return f"{hours}:{minutes}"


def _amount(args: Mapping[str, Any]) -> Decimal:
    try:
        amount = Decimal(str(args.get("amount")))
    except InvalidOperation:
        raise No(422, "The amount is no number.") from None
    if not (amount.is_finite() and 0 < amount <= MOST_MONEY) or amount != amount.quantize(Decimal("0.01")):
        raise No(422, f"The amount is more than 0, at most {MOST_MONEY:,}, and has at most two decimals.")
    return amount


def _words(args: Mapping[str, Any], name: str, most: int, *, least: int = 1) -> str:
    value = args.get(name, "")
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise No(422, f"The {name} is missing or too long.")
    return value
