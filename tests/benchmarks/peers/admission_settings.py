"""The settings of a server that answers, beside its own addresses, those that admission is measured beside."""

from __future__ import annotations

from collab import settings

globals().update({name: value for name, value in vars(settings).items() if name.isupper()})

ROOT_URLCONF = "tests.benchmarks.peers.admission_urls"
ACCORD_MOUNTS = {**settings.ACCORD_MOUNTS, "/hello/": "tests.benchmarks.peers.hello.hello"}
