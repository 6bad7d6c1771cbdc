"""Connections and syncs to the code host and to GitLab through a running service, with copies of both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from keybearer.base.clock import SystemClock
from support.canary import Canary
from support.push_house import SYNCS, House
from support.remotes.beside import served_beside
from support.remotes.codehost import CodehostCopy
from support.remotes.gitlab import GitLabCopy
from support.service_fixtures import Client, Project, ProjectSecrets, Service, ServiceProcess, start_service
from tools.local.waiting import eventually

PAT = "ghp_cnry-admin"
GITLAB_TOKEN = "glpat-cnry-admin"
CODE = "cnry-code-of-a-login"


@dataclass
class Remotes:
    """Both copies; tests keep apart by names of their own."""

    codehost: CodehostCopy
    gitlab: GitLabCopy


@pytest.fixture(scope="session")
def remotes() -> Iterator[Remotes]:
    codehost, gitlab = CodehostCopy(SystemClock()), GitLabCopy()
    codehost.tokens = {PAT: True}
    codehost.client = ("client", "cnry-client-secret")
    gitlab.tokens = {GITLAB_TOKEN: "api"}
    with served_beside(codehost), served_beside(gitlab):
        yield Remotes(codehost, gitlab)


@pytest.fixture(scope="session")
def pushing_process(remotes: Remotes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    home = tmp_path_factory.mktemp("pushing")
    own = home / "own.json"
    own.write_text(json.dumps({"clientId": "client", "clientSecret": "cnry-client-secret"}))
    running = start_service(
        home / "data",
        *("--app-endpoint", f"codehost={remotes.codehost.url}", "--app-credentials", f"codehost={own}"),
        *("--allow-outbound", "127.0.0.0/8"),
    )
    yield running
    running.stop()


@pytest.fixture
def service(pushing_process: ServiceProcess, canary: Canary) -> ServiceProcess:
    """Return a service that calls the copies; its log is searched for marked values after the test."""
    canary.watch("log of keybearer serve", pushing_process.log.read_text)
    return pushing_process


@pytest.fixture
def house(admin: Client, project: Project, canary: Canary) -> House:
    return House(admin, project, canary)


@pytest.fixture
def codehost(remotes: Remotes) -> Iterator[CodehostCopy]:
    yield remotes.codehost
    remotes.codehost.visits.get_well()


@pytest.fixture
def gitlab(remotes: Remotes) -> Iterator[GitLabCopy]:
    yield remotes.gitlab
    remotes.gitlab.visits.get_well()


def repository(owner: str, repo: str = "shop") -> dict[str, str]:
    return {"scope": "repository", "owner": owner, "repo": repo}


def test_connections_to_the_code_host_are_proved_and_show_no_credentials(
    house: House, codehost: CodehostCopy
) -> None:
    wrong = house.connect("codehost", "pat", {"personalAccessToken": "ghp_cnry-wrong"}, status=400)
    assert "verify credentials" in wrong["message"]
    assert house.connect("codehost", "pat", {"personalAccessToken": PAT})["credentials"] == {}
    published = house.connect("github", "pat", {"personalAccessToken": PAT})
    assert (published["app"], published["credentials"]) == ("github", {})
    server = {"instanceType": "server", "host": codehost.url}
    shown = house.connect("codehost", "pat", {"personalAccessToken": PAT, **server})
    assert shown["credentials"] == server


def test_a_login_and_an_installation_become_connections(house: House, codehost: CodehostCopy) -> None:
    codehost.codes[CODE] = {"access_token": PAT}
    assert house.connect("codehost", "oauth", {"code": CODE})["credentials"] == {}
    again = house.connect("codehost", "oauth", {"code": CODE}, status=400)
    assert "bad_verification_code" in again["message"]
    key = codehost.app("12", "71")
    installed = {"installationId": "71", "gitHubAppId": "12", "privateKey": key}
    assert house.connect("codehost", "github-app", {"code": CODE, **installed})["credentials"] == {}
    without = house.connect("codehost", "github-app", {"installationId": "71", "code": CODE}, status=400)
    assert "give gitHubAppId and privateKey" in without["message"]


def test_secrets_follow_their_source_to_the_code_host(
    house: House, secrets: ProjectSecrets, codehost: CodehostCopy
) -> None:
    place = codehost.repository("follows", "shop")
    codehost.put(place, "FOREIGN", "cnry-foreign")
    secrets.create("one", "cnry-1")
    secrets.create("TWO", "cnry-2")
    connection = house.connect("codehost", "pat", {"personalAccessToken": PAT})
    sync = house.sync("github", connection, repository("follows"))
    done = house.ended(sync, "succeeded")
    assert done["destination"] == "github"
    assert done["lastSyncMessage"].startswith("1 secret at the destination came from elsewhere and stayed")
    foreign = {"FOREIGN": "cnry-foreign"}
    assert place.values() == {"ONE": "cnry-1", "TWO": "cnry-2", **foreign}
    before = len(codehost.visits.lines("PUT"))
    secrets.update("TWO", secretValue="cnry-new")
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert place.values() == {"ONE": "cnry-1", "TWO": "cnry-new", **foreign}
    assert len(codehost.visits.lines("PUT")) == before + 1
    path = f"{SYNCS}/codehost/{sync['id']}"
    importing = house.admin.json(
        "POST", f"{path}/import-secrets?importBehavior=prioritize-source", status=400
    )
    assert importing["message"] == "GitHub does not support importing secrets."
    house.admin.json("DELETE", f"{path}?removeSecrets=true")
    eventually(lambda: house.admin.get(path).status_code == 404, awaited="the end of the sync")
    assert place.values() == foreign


def test_each_secret_of_a_sync_is_told_with_its_state_and_without_its_value(
    house: House, secrets: ProjectSecrets, codehost: CodehostCopy
) -> None:
    place = codehost.repository("states", "shop")
    codehost.put(place, "FOREIGN", "cnry-foreign")
    secrets.create("one", "cnry-1")
    secrets.create("1ST", "cnry-2")
    connection = house.connect("codehost", "pat", {"personalAccessToken": PAT})
    sync = house.sync("github", connection, repository("states"))
    house.ended(sync, "failed")
    path = f"{SYNCS}/github/{sync['id']}"
    told = house.admin.json("GET", f"{path}/secrets")
    house.canary.watch("the states of secrets", lambda: json.dumps(told))
    reason = (
        "a name there takes letters, digits and underscores, and no digit first; rename the secret, or change the "
        "key schema"
    )
    assert told == {
        "secrets": [
            {"name": "1ST", "secretKey": "1ST", "state": "failed", "message": reason},
            {"name": "FOREIGN", "secretKey": None, "state": "foreign", "message": None},
            {"name": "ONE", "secretKey": "one", "state": "synced", "message": None},
        ]
    }
    house.admin.json("PATCH", path, json={"isAutoSyncEnabled": False})
    secrets.update("one", secretValue="cnry-3")
    states = {one["name"]: one["state"] for one in house.admin.json("GET", f"{path}/secrets")["secrets"]}
    assert states["ONE"] == "pending"
    secrets.delete("one")
    states = {one["name"]: one["state"] for one in house.admin.json("GET", f"{path}/secrets")["secrets"]}
    assert states["ONE"] == "removing"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"scope": "organization", "org": "a", "visibility": "selected"}, "selectedRepositoryIds"),
        ({"scope": "organization", "org": "", "visibility": "all"}, "org"),
        ({**repository("a"), "env": "b"}, "env"),
        (
            {"scope": "organization", "org": "a", "visibility": "selected", "selectedRepositoryIds": ["1"]},
            "selectedRepositoryIds",
        ),
    ],
)
def test_what_is_wrong_with_a_configuration_is_told_by_its_field(
    house: House, config: dict[str, Any], field: str
) -> None:
    connection = house.connect("codehost", "pat", {"personalAccessToken": PAT})
    answer = house.sync("codehost", connection, config, status=422)
    assert [issue["path"][:2] for issue in answer["message"]] == [["destinationConfig", field]]


def test_a_scope_that_there_is_not_is_told(house: House) -> None:
    connection = house.connect("codehost", "pat", {"personalAccessToken": PAT})
    (issue,) = house.sync("codehost", connection, {"scope": "nowhere"}, status=422)["message"]
    assert (issue["path"], issue["code"]) == (["destinationConfig"], "union_tag_invalid")


def test_secrets_follow_their_source_to_gitlab(
    house: House, secrets: ProjectSecrets, gitlab: GitLabCopy, service: Service
) -> None:
    assert service.url
    place = gitlab.project("acme/shop")
    place.put("ONE", "cnry-other", environment_scope="prod")
    secrets.create("ONE", "cnry-12345")
    wrong = {"accessToken": "glpat-cnry-wrong", "accessTokenType": "project", "instanceUrl": gitlab.url}
    assert "verify credentials" in house.connect("gitlab", "access-token", wrong, status=400)["message"]
    right = {**wrong, "accessToken": GITLAB_TOKEN}
    connection = house.connect("gitlab", "access-token", right)
    assert connection["credentials"] == {"accessTokenType": "project", "instanceUrl": gitlab.url}
    config = {"scope": "project", "projectId": "acme/shop", "shouldMaskSecrets": True}
    sync = house.sync("gitlab", connection, config)
    assert sync["destinationConfig"] == {
        **config,
        "targetEnvironment": "*",
        "shouldProtectSecrets": False,
        "shouldHideSecrets": False,
    }
    done = house.ended(sync, "succeeded")
    assert place.values() == {"ONE": "cnry-12345"}
    secrets.create("TWO", "cnry-23456")
    done = house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    secrets.create("SHORT", "cnry-")
    failed = house.ended(sync, "failed", after=done["lastSyncJobId"])
    assert "'SHORT': a value must be one line of 8 characters or more" in failed["lastSyncMessage"]
    # At once: a run between the two would be the one that is waited for.
    gone = [{"secretKey": key} for key in ("SHORT", "ONE")]
    secrets.client.json("DELETE", "/api/v4/secrets/batch", json={**secrets.at(), "secrets": gone})
    house.ended(sync, "succeeded", after=failed["lastSyncJobId"])
    assert (place.values(), place.values("prod")) == ({"TWO": "cnry-23456"}, {"ONE": "cnry-other"})
    browser = house.connect("gitlab", "oauth", {"code": "cnry-code"}, status=422)
    assert browser["message"]
