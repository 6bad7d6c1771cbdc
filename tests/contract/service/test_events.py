"""The event stream (wire.md section 7), over real HTTP."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keybearer.wire.limits import EVENT_REGISTRATIONS_MAX, EVENT_STREAMS_MAX
from support.event_listener import ALL_EVENTS, STREAM, EventListener, Frame, registrations
from support.service_fixtures import (
    Client,
    Credentials,
    Project,
    ProjectSecrets,
    Service,
    start_service,
)
from tools.local.waiting import PROBE_SECONDS, eventually

pytestmark = pytest.mark.every_database

Listen = Callable[..., EventListener]


@pytest.fixture
def listen(service: Service, project: Project) -> Listen:
    """Return a function that makes a listener of the admin's, or of another identity's."""

    def make(
        *asked: dict[str, object], who: Credentials | None = None, of: Project | None = None
    ) -> EventListener:
        token = service.login(who or service.admin)
        return EventListener(service.url, token, (of or project).id, list(asked) or registrations())

    return make


def subscription(project_id: str, *asked: dict[str, object]) -> dict[str, object]:
    return {"projectId": project_id, "register": list(asked)}


class TestFrames:
    def test_a_stream_has_the_headers_that_readers_and_proxies_need(self, listen: Listen) -> None:
        with listen() as stream:
            headers = stream.headers
        assert headers["content-type"] == "text/event-stream"
        assert headers["cache-control"] == "no-cache"
        assert headers["connection"] == "keep-alive"
        assert headers["x-accel-buffering"] == "no"
        assert stream.frames[0] == Frame("ping")

    def test_each_change_of_a_secret_is_told_by_its_place_and_never_by_its_value(
        self, listen: Listen, secrets: ProjectSecrets
    ) -> None:
        secrets.folder("/web")
        with listen() as stream:
            secrets.create("KEY", "cnry-one", path="/web")
            secrets.update("KEY", path="/web", secretValue="cnry-two")
            secrets.delete("KEY", path="/web")
            stream.until(lambda: len(stream.events) == 3, "three events")

        told = [
            {
                "type": "secret-manager",
                "data": {
                    "eventType": event,
                    "payload": [{"environment": "dev", "secretPath": "/web", "secretKeys": "KEY"}],
                },
            }
            for event in ("secret:create", "secret:update", "secret:delete")
        ]
        assert [frame.data for frame in stream.events] == told
        assert [frame.event for frame in stream.events] == [one["data"]["eventType"] for one in told]  # type: ignore[index]
        assert all(re.fullmatch(r"\d{13}", frame.id) for frame in stream.events)
        assert "cnry-" not in "\n".join(stream.lines)

    def test_every_frame_has_an_event_line(self, listen: Listen, secrets: ProjectSecrets) -> None:
        with listen() as stream:
            secrets.create("KEY", "cnry-v")
            stream.until_names("dev", "/", "KEY")
        frames = "\n".join(stream.lines).strip().split("\n\n")
        assert all(re.search("^event: ", frame, re.MULTILINE) for frame in frames)

    def test_a_batch_is_told_in_lines_that_published_readers_take(
        self, listen: Listen, secrets: ProjectSecrets
    ) -> None:
        keys = [f"{'KEY' * 60}_{number}" for number in range(1000)]
        body = {**secrets.at(), "secrets": [{"secretKey": key, "secretValue": "cnry-v"} for key in keys]}
        with listen() as stream:
            secrets.client.json("POST", "/api/v4/secrets/batch", json=body)
            stream.until_names("dev", "/", keys[-1])
        assert stream.places == {("dev", "/", key) for key in keys}
        assert len(stream.events) > 1
        assert max(len(line) for line in stream.lines) < 64 * 1024


class TestWhatIsTold:
    def test_a_renamed_secret_is_gone_under_its_old_name(
        self, listen: Listen, secrets: ProjectSecrets
    ) -> None:
        secrets.create("OLD", "cnry-v")
        with listen() as stream:
            secrets.update("OLD", newSecretName="NEW")
            stream.until_names("dev", "/", "NEW")
        told = {frame.event: frame.places for frame in stream.events}
        assert told == {"secret:delete": {("dev", "/", "OLD")}, "secret:update": {("dev", "/", "NEW")}}

    def test_a_renamed_folder_is_told_with_all_under_it_at_both_places(
        self, listen: Listen, secrets: ProjectSecrets
    ) -> None:
        folder = secrets.folder("/old")
        secrets.folder("/old/deep")
        secrets.create("A", "cnry-v", path="/old")
        secrets.create("B", "cnry-v", path="/old/deep")
        change = {"projectId": secrets.project.id, "environment": "dev", "name": "new", "path": "/"}
        with listen() as stream:
            secrets.client.json("PATCH", f"/api/v2/folders/{folder['id']}", json=change)
            stream.until_names("dev", "/new/deep", "B")
            stream.until_names("dev", "/new", "A")
        gone = {place for frame in stream.events if frame.event == "secret:delete" for place in frame.places}
        assert gone == {("dev", "/old", "A"), ("dev", "/old/deep", "B")}

    def test_a_deleted_folder_is_told_with_all_under_it(
        self, listen: Listen, secrets: ProjectSecrets
    ) -> None:
        folder = secrets.folder("/gone")
        secrets.folder("/gone/deep")
        secrets.create("B", "cnry-v", path="/gone/deep")
        body = {"projectId": secrets.project.id, "environment": "dev", "path": "/", "forceDelete": True}
        with listen() as stream:
            secrets.client.json("DELETE", f"/api/v2/folders/{folder['id']}", json=body)
            stream.until_names("dev", "/gone/deep", "B")
        assert [frame.event for frame in stream.events] == ["secret:delete"]

    @pytest.mark.parametrize("watched", ["/**", "/app/**", "/app/**/", "/app/"])
    def test_published_operators_hear_all_beneath_the_folder_of_a_recursive_source(
        self, listen: Listen, secrets: ProjectSecrets, watched: str
    ) -> None:
        secrets.folder("/app/web")
        with listen(*registrations(environmentSlug="dev", secretPath=watched)) as stream:
            secrets.create("IN_THE_FOLDER", "cnry-v", path="/app")
            secrets.create("BENEATH", "cnry-v", path="/app/web")
            stream.until_names("dev", "/app/web", "BENEATH")
        assert ("dev", "/app", "IN_THE_FOLDER") in stream.places

    @pytest.mark.parametrize("watched", ["/*", "/app/*", "/**/web", "/app/*/web", "/app**"])
    def test_a_stream_that_could_never_tell_of_anything_is_refused(
        self, admin: Client, project: Project, watched: str
    ) -> None:
        asked = registrations(environmentSlug="dev", secretPath=watched)
        refusal = admin.json("POST", STREAM, status=400, json=subscription(project.id, *asked))
        assert refusal["message"] == (
            f"secretPath '{watched}' can't be watched: give a folder, which stands for itself and all folders "
            "beneath it. `/**` may follow it, and no other wildcard"
        )

    def test_what_is_undone_is_never_told(self, listen: Listen, secrets: ProjectSecrets) -> None:
        secrets.create("TAKEN", "cnry-v")
        items = [{"secretKey": key, "secretValue": "cnry-v"} for key in ("UNDONE", "TAKEN")]
        with listen() as stream:
            secrets.client.json(
                "POST", "/api/v4/secrets/batch", status=400, json={**secrets.at(), "secrets": items}
            )
            secrets.create("DONE", "cnry-v")
            stream.until_names("dev", "/", "DONE")
        assert stream.places == {("dev", "/", "DONE")}

    def test_what_changes_more_than_single_lists_ends_the_stream_so_that_all_is_read_anew(
        self, listen: Listen, admin: Client, project: Project
    ) -> None:
        body = {"name": "Short", "slug": "short"}
        path = f"/api/v1/projects/{project.id}/environments"
        made = admin.json("POST", path, json=body)["environment"]
        with listen() as stream:
            admin.json("DELETE", f"{path}/{made['id']}")
            assert "subscribe again" in stream.until_ended().data["message"]


class TestConsequences:
    """Every folder whose list changed is told of, though nobody wrote to it (design.md section 3)."""

    @pytest.fixture
    def importing(self, secrets: ProjectSecrets) -> dict[str, Any]:
        """Return the import by which `/web` shows `/common`."""
        secrets.folder("/common")
        secrets.folder("/web")
        place = {"projectId": secrets.project.id, "environment": "dev", "path": "/web"}
        body = {**place, "import": {"environment": "dev", "path": "/common"}}
        made: dict[str, Any] = secrets.client.json("POST", "/api/v2/secret-imports", json=body)
        return {**place, "id": made["secretImport"]["id"]}

    def test_a_folder_that_imports_a_changed_one_is_told(
        self, listen: Listen, secrets: ProjectSecrets, importing: dict[str, Any]
    ) -> None:
        with listen(*registrations(environmentSlug="dev", secretPath=importing["path"])) as stream:
            secrets.create("KEY", "cnry-v", path="/common")
            stream.until_names("dev", "/web")
        assert [frame.event for frame in stream.events] == ["secret:import-mutation"]
        assert stream.events[0].data["data"]["payload"] == {"environment": "dev", "secretPath": "/web"}

    def test_an_import_that_comes_or_goes_is_told(
        self, listen: Listen, secrets: ProjectSecrets, importing: dict[str, Any]
    ) -> None:
        with listen() as stream:
            path = f"/api/v2/secret-imports/{importing.pop('id')}"
            secrets.client.json("DELETE", path, json=importing)
            stream.until_names("dev", "/web")
        assert [frame.event for frame in stream.events] == ["secret:import-mutation"]

    def test_a_secret_that_refers_to_a_changed_one_is_told(
        self, listen: Listen, service: Service, secrets: ProjectSecrets
    ) -> None:
        other = service.create_project()
        secrets.create("TARGET", "cnry-one", environment="prod")
        service.create_secret(other, "FAR", f"cnry-${{@{secrets.project.slug}.prod.TARGET}}")
        with listen(of=other) as stream:
            secrets.update("TARGET", environment="prod", secretValue="cnry-two")
            stream.until_names("dev", "/", "FAR")
        assert [frame.event for frame in stream.events] == ["secret:update"]


class TestRegistrations:
    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            pytest.param(
                registrations(), {"A", "B", "C", "D", "E"}, id="without conditions, all of the project"
            ),
            pytest.param(registrations(environmentSlug="dev"), {"A", "B", "C", "D"}, id="an environment"),
            pytest.param(
                registrations(environmentSlug="dev", secretPath="/app"),
                {"B", "C"},
                id="a folder and all under it",
            ),
            pytest.param(
                registrations(environmentSlug="dev", secretPath="app//"),
                {"B", "C"},
                id="a path in another spelling",
            ),
            pytest.param(
                registrations(environmentSlug="dev", secretPath="/app/deep")
                + registrations("secret:create", environmentSlug="prod"),
                {"C", "E"},
                id="one of several",
            ),
            pytest.param(registrations("secret:update"), set(), id="another kind of event"),
        ],
    )
    def test_a_change_is_told_where_a_registration_matches(
        self, listen: Listen, secrets: ProjectSecrets, asked: list[dict[str, object]], told: set[str]
    ) -> None:
        for path in ("/app", "/app/deep", "/apple"):
            secrets.folder(path)
        secrets.create("LAST", "cnry-v", environment="staging")
        last = registrations("secret:delete", environmentSlug="staging")
        with listen(*asked, *last) as stream:
            for key, path in (("A", "/"), ("B", "/app"), ("C", "/app/deep"), ("D", "/apple")):
                secrets.create(key, "cnry-v", path=path)
            secrets.create("E", "cnry-v", environment="prod")
            secrets.delete("LAST", environment="staging")
            stream.until_names("staging", "/", "LAST")
        assert {place[2] for place in stream.places} - {"LAST"} == told

    @pytest.mark.parametrize(
        "asked",
        [
            pytest.param([], id="none"),
            pytest.param(registrations("secret:create") * (EVENT_REGISTRATIONS_MAX + 1), id="too many"),
            pytest.param(registrations("secret:read"), id="an unknown event"),
            pytest.param([{"event": "secret:create", "conditions": {}}], id="conditions without environment"),
        ],
    )
    def test_a_malformed_registration_is_refused(
        self, admin: Client, project: Project, asked: list[dict[str, object]]
    ) -> None:
        refusal = admin.json("POST", STREAM, status=422, json=subscription(project.id, *asked))
        assert refusal["error"] == "ValidationFailure"

    def test_ten_registrations_are_taken(self, listen: Listen) -> None:
        with listen(*registrations("secret:create") * EVENT_REGISTRATIONS_MAX) as stream:
            assert stream.frames[0] == Frame("ping")


class TestPermission:
    def test_without_a_token_nothing_is_told(self, service: Service, project: Project) -> None:
        body = subscription(project.id, *registrations())
        assert service.client().json("POST", STREAM, status=401, json=body)["error"] == "UnauthorizedError"

    def test_an_unknown_project_is_not_found(self, admin: Client) -> None:
        admin.json("POST", STREAM, status=404, json=subscription("nowhere", *registrations()))

    def test_who_may_not_read_secrets_is_refused(self, service: Service, project: Project) -> None:
        stranger = service.client(service.login(service.create_identity(roles={project.id: "no-access"})))
        refusal = stranger.json("POST", STREAM, status=403, json=subscription(project.id, *registrations()))
        assert refusal["error"] == "PermissionDenied"

    def test_a_viewer_is_told(self, listen: Listen, service: Service, secrets: ProjectSecrets) -> None:
        viewer = service.create_identity(roles={secrets.project.id: "viewer"})
        with listen(who=viewer) as stream:
            secrets.create("KEY", "cnry-v")
            stream.until_names("dev", "/", "KEY")

    def test_nothing_of_another_project_is_told(
        self, listen: Listen, service: Service, secrets: ProjectSecrets
    ) -> None:
        with listen() as stream:
            service.create_secret(service.create_project(), "FOREIGN", "cnry-v")
            secrets.create("OWN", "cnry-v")
            stream.until_names("dev", "/", "OWN")
        assert stream.places == {("dev", "/", "OWN")}

    def test_the_stream_ends_when_the_role_is_taken(
        self, listen: Listen, service: Service, admin: Client, project: Project
    ) -> None:
        viewer = service.create_identity(roles={project.id: "viewer"})
        with listen(who=viewer) as stream:
            admin.json("DELETE", f"/api/v1/projects/{project.id}/memberships/identities/{viewer.identity_id}")
            stream.until_ended()

    def test_the_stream_ends_when_the_token_is_revoked(self, service: Service, project: Project) -> None:
        viewer = service.create_identity(roles={project.id: "viewer"})
        token = service.login(viewer)
        with EventListener(service.url, token, project.id) as stream:
            service.client().json("POST", "/api/v1/auth/token/revoke", json={"accessToken": token})
            assert stream.until_ended().data == {"message": "Permission denied or refresh failed"}

    def test_the_stream_ends_with_the_token(self, service: Service, project: Project) -> None:
        life = math.ceil(PROBE_SECONDS)  # the stream has to be open before its end
        viewer = service.create_identity(
            roles={project.id: "viewer"}, accessTokenTTL=life, accessTokenMaxTTL=life
        )
        with EventListener(service.url, service.login(viewer), project.id) as stream:
            assert "expired" in stream.until_ended().data["message"]


class TestConnections:
    def test_an_identity_has_at_most_five_streams_of_a_project(
        self, listen: Listen, service: Service, admin: Client, project: Project
    ) -> None:
        body = subscription(project.id, *registrations())
        viewer = service.create_identity(roles={project.id: "viewer"})
        streams = [listen() for _ in range(EVENT_STREAMS_MAX)]
        for stream in streams:
            stream.__enter__()
        refusal = admin.json("POST", STREAM, status=429, json=body)
        assert refusal["message"] == f"Too many active connections for project {project.id}"
        with listen(who=viewer), listen(of=service.create_project()):
            pass
        for stream in streams:
            stream.__exit__(None, None, None)

        def admitted() -> bool:
            with admin.stream("POST", STREAM, json=body) as answer:
                return answer.status_code == 200

        eventually(admitted, awaited="room for another stream")


def test_a_service_that_stops_ends_its_streams_at_once(tmp_path: Path) -> None:
    service = start_service(tmp_path / "data")
    project = service.create_project()
    with EventListener(service.url, service.login(service.admin), project.id) as stream:
        assert service.stop() == 0
        assert "shutting down" in stream.until_ended().data["message"]


def test_the_document_describes_the_stream(service: Service) -> None:
    document: dict[str, Any] = service.client().json("GET", "/api/docs/json")
    operation = document["paths"][STREAM]["post"]
    assert set(operation["responses"]["200"]["content"]) == {"text/event-stream"}
    assert "register" in document["components"]["schemas"]["SubscribeToEvents"]["properties"]
    assert len(ALL_EVENTS) == 4
