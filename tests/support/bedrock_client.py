"""The real ``BedrockModel`` and boto3, in front of a server of the tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from strands.models import BedrockModel

from .bedrock_server import BedrockServer, Step, WireRequest

CLAUDE = "us.anthropic.claude-sonnet-4-6"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6"

_ONE_ATTEMPT = Config(retries={"total_max_attempts": 1}, proxies={}, read_timeout=20)


@cache
def _session() -> boto3.Session:
    return boto3.Session(aws_access_key_id="x", aws_secret_access_key="y", region_name="us-east-1")


class ServedModel(BedrockModel):
    """A Bedrock model whose service follows a test's script; nothing of its behaviour is changed."""

    def __init__(self, server: BedrockServer, **config: Any) -> None:
        super().__init__(
            boto_session=_session(),
            boto_client_config=_ONE_ATTEMPT,
            endpoint_url=server.url,
            **{"model_id": CLAUDE, **config},
        )
        self.server = server

    def say(self, *steps: Step) -> None:
        """Replace what is left of the script."""
        self.server.say(*steps)

    @property
    def requests(self) -> list[WireRequest]:
        """Every request for an answer."""
        return self.server.requests

    @property
    def refused(self) -> list[str]:
        """What the service found wrong with the requests."""
        return [violation for request in self.requests for violation in request.violations]


class Bedrock(BedrockServer):
    """The service with the models that talk to it; their connections are closed at the end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._models: list[ServedModel] = []

    def model(self, **config: Any) -> ServedModel:
        """Make a model in front of the service."""
        self._models.append(ServedModel(self, **config))
        return self._models[-1]

    def __exit__(self, *error: object) -> None:
        for model in self._models:
            model.client.close()
        super().__exit__(*error)
        if self.crashes:
            raise AssertionError(f"the service itself failed: {self.crashes[0]}")

    @property
    def billed(self) -> list[int]:
        """Tokens of each answered prompt, by the service's own count."""
        return [request.bill.prompt_tokens for request in self.requests if request.outcome == "answered"]
