"""A place that takes so many writes in a window: all arrive, each once, and nobody asks while it is closed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.destinations.gitlab import GITLAB as DESTINATION
from keybearer.destinations.gitlab import AccessTokenCredentials
from keybearer.destinations.remote import RemoteThrottledError
from support.remotes.gitlab import GitLabCopy
from support.remotes.limits import GITLAB, GITLAB_EVERYWHERE, Form, Limit
from support.remotes.opened import opened
from support.remotes.pushing import Target
from support.remotes.serving import served
from support.remotes.way_out import way_out

WINDOW = timedelta(minutes=30)
CONFIG = {"scope": "project", "projectId": "acme/shop", "projectName": "Shop"}
TOKEN = "glpat-cnry-admin"


@pytest.mark.parametrize("form", [GITLAB, GITLAB_EVERYWHERE], ids=["told when refused", "told always"])
async def test_300_keys_take_three_windows_of_100_writes(form: Form) -> None:
    copy = GitLabCopy()
    copy.tokens = {TOKEN: "api"}
    project = copy.project("acme/shop")
    credentials = AccessTokenCredentials.model_validate({"accessToken": TOKEN, "accessTokenType": "personal"})
    source = {f"KEY_{number:03}": f"cnry-{number}" for number in range(300)}
    async with served(copy), way_out(gitlab=copy.url) as way:
        copy.visits.limit = limit = Limit(100, WINDOW, way.clock, form)
        target = Target(lambda: opened(DESTINATION, CONFIG, credentials, way.context))
        for held in (100, 200):
            with pytest.raises(RemoteThrottledError) as caught:
                await target.push(source)
            assert len(project.values()) == held
            assert caught.value.wait is not None
            # An instant is told in whole seconds.
            assert timedelta(0) < caught.value.wait <= WINDOW + timedelta(seconds=1)
            # What the engine does: the job is due again then, and nobody waits for it.
            way.waits.append(caught.value.wait + timedelta(seconds=1))
        await target.push(source)
    assert project.values() == source
    assert len(limit.refused) == (0 if form.told_always(limit._standing()) else 2)
    writes = [one for one in copy.visits.asked if one.method != "GET" and one.status == 201]
    assert len(writes) == 300
