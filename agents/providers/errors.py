"""What can go wrong between Accord and a model (DESIGN 12)."""

from __future__ import annotations

from typing import ClassVar

from pydantic_ai.messages import ModelResponse


class ProviderError(Exception):
    """The model could not be used."""

    code: ClassVar[str] = "provider_error"


class ModelConfigError(ProviderError):
    """The configured model cannot be set up; the message says what to change."""

    code = "model_config"


class ScriptError(ModelConfigError):
    """A script file is wrong; the message names the file, the line, the rule and what to do.

    Attributes:
        file: the script's path or name.
        rule: the rule's number in the file, counting from 1; None when the fault is in no single rule.
        line: the line in the file, counting from 1; None when unknown.
    """

    code = "script_invalid"

    def __init__(self, sentence: str, *, file: str, rule: int | None = None, line: int | None = None) -> None:
        self.file, self.rule, self.line = file, rule, line
        places = [file]
        if line is not None:
            places.append(f"line {line}")
        if rule is not None:
            places.append(f"rule {rule}")
        super().__init__(f"{', '.join(places)}: {sentence}")


class ProviderFailed(ProviderError):
    """The model service did not answer a request.

    Attributes:
        reason: one sentence for people; it names no key, address or body.
        retryable: whether asking again later may succeed.
        attempts: how often the request was made.
        status: the HTTP status of the last failure, when there was one.
    """

    code = "provider_failed"

    def __init__(self, reason: str, *, retryable: bool, attempts: int, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.retryable, self.attempts, self.status = reason, retryable, attempts, status


class ResponseTooLarge(ProviderError):
    """The model's answer passed a limit and was cut off there.

    Attributes:
        reason: one sentence for people.
        partial: what arrived within the limits: the text as it was streamed, and no tool call.
    """

    code = "response_too_large"

    def __init__(self, reason: str, *, partial: ModelResponse) -> None:
        super().__init__(reason)
        self.reason, self.partial = reason, partial
