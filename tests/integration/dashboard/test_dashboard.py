"""The dashboard before a real API server: what it shows, and what nobody gets from it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.dashboard_scene import HIDDEN, OPERATOR, VISIBLE, Scene, furnished_scene, running_dashboard
from tools.local.marks import find_mark
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

VIEWS = ("attention", "secrets", "certificates", "pushes", "operator")


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with furnished_scene() as scene:
        yield scene


@pytest.fixture(scope="module")
def viewer(scene: Scene) -> Path:
    """The kubeconfig of a user who may view `VISIBLE` alone."""
    return scene.viewer_of(VISIBLE, "viewer")


@pytest.fixture(scope="module")
def mine(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The dashboard of an administrator."""
    with running_dashboard(tmp_path_factory.mktemp("admin"), scene.plane.admin_kubeconfig) as client:
        until_listed(client, "attention", f"SecretSync {VISIBLE}/ledger")
        until_listed(client, "secrets", f"{VISIBLE}/web-database")
        yield client


@pytest.fixture(scope="module")
def theirs(viewer: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The dashboard of a user who may view one namespace, which they name."""
    with running_dashboard(tmp_path_factory.mktemp("viewer"), viewer, "--namespace", VISIBLE) as client:
        until_listed(client, "attention", f"SecretSync {VISIBLE}/ledger")
        until_listed(client, "secrets", f"{VISIBLE}/web-database")
        yield client


def view_of(client: httpx.Client, name: str, **query: str) -> dict[str, Any]:
    answer = client.get(f"view/{name}", params=query)
    assert answer.status_code == HTTPStatus.OK
    found: dict[str, Any] = answer.json()
    return found


def titles(view: dict[str, Any]) -> list[str]:
    return [row["cells"][0]["text"] for row in view["rows"]]


def until_listed(client: httpx.Client, name: str, title: str) -> None:
    eventually(lambda: title in titles(view_of(client, name)), awaited=f"{title} in view {name}")


def row_of(client: httpx.Client, name: str, title: str) -> dict[str, Any]:
    view = view_of(client, name)
    return next(row for row in view["rows"] if row["cells"][0]["text"] == title)


def test_it_says_what_is_not_ready_whose_turn_it_is_and_which_command(mine: httpx.Client) -> None:
    view = view_of(mine, "attention", search=VISIBLE)
    assert titles(view) == [f"SecretSync {VISIBLE}/web-session", f"SecretSync {VISIBLE}/ledger"]
    session, ledger = view["rows"]
    assert session["tone"] == "bad"
    assert session["cells"][2]["at"] is not None
    assert session["cells"][3]["text"] == "you"
    assert session["cells"][4]["text"].startswith("kubectl -n shop create secret generic keybearer-identity")
    assert ledger["cells"][3]["text"] == "an administrator of the service"
    assert {"label": "About", "text": "spec.identityRef.name", "at": None, "command": ""} in session[
        "details"
    ]


def test_it_says_where_secrets_come_from_how_fresh_they_are_and_who_uses_them(mine: httpx.Client) -> None:
    def used() -> bool:
        return bool(
            row_of(mine, "secrets", f"{VISIBLE}/web-database")["cells"][3]["text"] == "Deployment web"
        )

    eventually(used, awaited="the workload that mounts web-database")
    row = row_of(mine, "secrets", f"{VISIBLE}/web-database")
    assert row["cells"][1]["text"] == "in step, checked"
    assert row["cells"][2]["text"] == "web-shop prod:/apps/web"
    details = [(one["label"], one["text"]) for one in row["details"]]
    assert ("Used by", "Deployment web: files, which follow a change") in details
    session = row_of(mine, "secrets", f"{VISIBLE}/web-session")
    assert session["cells"][1]["text"] == "not in step since"
    assert session["cells"][3]["text"] == "Deployment web"


def test_it_says_which_certificates_end_or_renew_soon(mine: httpx.Client) -> None:
    view = view_of(mine, "certificates")
    assert titles(view) == [f"{VISIBLE}/web: web"]
    assert view["summary"] == "1 of 2 certificates. The others end and renew later."
    assert [cell["text"] for cell in view["rows"][0]["cells"]][4] == "renewed by Keybearer"


def test_it_says_what_was_pushed_where(mine: httpx.Client) -> None:
    cells = row_of(mine, "pushes", f"{VISIBLE}/to-aws")["cells"]
    assert cells[2]["text"] == "external-infisical through other"
    assert (cells[3]["text"], cells[4]["text"]) == ("12 secrets", "succeeded")
    assert cells[3]["at"] is not None


def test_it_says_which_replica_leads_and_that_queues_are_not_known(mine: httpx.Client) -> None:
    # Another test has shown Leases and pods of others, of whose end the dashboard may not have heard yet.
    eventually(lambda: len(view_of(mine, "operator")["rows"]) == 2, awaited="only ours")
    view = view_of(mine, "operator")
    assert view["summary"] == "keybearer-operator-7d9c5-x2x4k leads."
    lease, pod = view["rows"]
    assert lease["cells"][1]["text"] == "keybearer-operator-7d9c5-x2x4k leads"
    # No kubelet runs the pod here, so that nobody serves its metrics.
    assert pod["cells"][3]["text"].startswith("not known: its metrics can't be read")


def test_what_others_label_as_an_operator_takes_no_answer_away(scene: Scene, mine: httpx.Client) -> None:
    namespace = "aaa"
    scene.api.create_namespace(namespace)
    labels = {"app.kubernetes.io/part-of": "keybearer", "app.kubernetes.io/component": "operator"}
    for number in range(25):
        meta = {"name": f"x-{number}", "namespace": namespace, "labels": labels}
        spec = {"containers": [{"name": "x", "image": "x"}]}
        scene.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "x", "namespace": namespace},
        "spec": {
            "holderIdentity": "x",
            "leaseDurationSeconds": 2**31 - 1,
            "renewTime": "9999-12-31T23:59:59.000000Z",
        },
    }
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    scene.api.send("POST", f"{path}?fieldManager=keybearer", lease)
    try:

        def seen() -> bool:
            view = view_of(mine, "operator")
            is_told = "6 more pods with the labels of an operator are not shown." in view["notes"]
            return is_told and f"Lease {namespace}/x" in titles(view)

        eventually(seen, awaited="the Lease, and that pods are left out")
    finally:
        for number in range(25):
            scene.api.delete("Pod", namespace, f"x-{number}")
        scene.api.send("DELETE", f"{path}/x")


def test_a_search_and_pages_are_the_servers(scene: Scene, mine: httpx.Client) -> None:
    scene.api.create_namespace("many")
    for number in range(60):
        scene.sync("many", f"app-{number:02}", "/")
    eventually(lambda: view_of(mine, "secrets", search="many")["total"] == 60, awaited="60 Secrets")
    first, last, beyond = (view_of(mine, "secrets", search="many", page=page) for page in ("1", "2", "99"))
    assert (len(first["rows"]), len(last["rows"]), first["pages"]) == (50, 10, 2)
    assert beyond == last
    assert titles(view_of(mine, "secrets", search="many app-07")) == ["many/app-07"]
    assert view_of(mine, "secrets", search="no such name")["rows"] == []
    # Without these, the first page of all Secrets is the one that other tests look at.
    for number in range(60):
        scene.api.delete("SecretSync", "many", f"app-{number:02}")
    eventually(lambda: view_of(mine, "secrets", search="many")["total"] == 0, awaited="none of them")


def test_a_change_is_told_without_a_request_and_in_bounded_rate(scene: Scene, mine: httpx.Client) -> None:
    with mine.stream("GET", "changes") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("data: ")
        scene.tell("SecretSync", VISIBLE, "ledger", scene.told("PermissionDenied", "Still."))
        until_message = next(line for line in lines if line.startswith("data: "))
        assert until_message

    def told() -> bool:
        details = row_of(mine, "attention", f"SecretSync {VISIBLE}/ledger")["details"]
        return bool(details[0]["text"] == "Still.")

    eventually(told, awaited="the changed message")


def test_a_user_sees_what_they_may_list_and_no_name_of_anything_else(theirs: httpx.Client) -> None:
    expected = [f"SecretSync {VISIBLE}/web-session", f"SecretSync {VISIBLE}/ledger"]
    # An API server that another test started again refuses for a moment.
    eventually(lambda: titles(view_of(theirs, "attention")) == expected, awaited="what the user may list")
    unseen = ["cronjobs of namespace shop are not visible: you may not list and watch them."]
    eventually(lambda: view_of(theirs, "secrets")["notes"] == unseen, awaited="what the user may not list")
    operator = view_of(theirs, "operator")
    assert operator["rows"] == []
    assert "pods of namespace shop are not visible: you may not list them." in operator["notes"]
    assert OPERATOR not in str(operator["rows"])


def test_a_user_who_names_no_namespace_is_told_what_they_may_not_list(viewer: Path, tmp_path: Path) -> None:
    with running_dashboard(tmp_path, viewer) as client:
        expected = [
            f"{kind} of {where} are not visible: you may not list and watch them."
            for kind in ("secretsyncs", "appconnections", "certificateprofiles")
            for where in ("all namespaces", "namespace default")
        ]
        eventually(lambda: view_of(client, "attention")["notes"] == expected, awaited="what is not visible")
        assert view_of(client, "attention")["rows"] == []


def test_what_a_user_may_list_no_more_goes(scene: Scene, tmp_path: Path) -> None:
    scene.api.create_namespace("lent")
    scene.sync("lent", "borrowed", "/", reason="SourceEmpty")
    borrower = scene.viewer_of("lent", "borrower")
    with running_dashboard(tmp_path, borrower, "--namespace", "lent") as client:
        until_listed(client, "attention", "SecretSync lent/borrowed")
        path = "/apis/rbac.authorization.k8s.io/v1/namespaces/lent/rolebindings/borrower"
        scene.api.send("DELETE", path)
        # A watch that stands goes on; the API server looks at rights when the next one begins.
        scene.plane.kill_api_server()
        scene.plane.start_api_server()
        eventually(lambda: not view_of(client, "attention")["rows"], awaited="the end of what was lent")
        assert "borrowed" not in client.get("view/attention").text


def test_connections_on_which_nobody_names_the_token_make_room(mine: httpx.Client) -> None:
    page = mine.get("")
    address = ("127.0.0.1", page.url.port)
    with ExitStack() as held:
        idle = [held.enter_context(socket.create_connection(address)) for _ in range(200)]
        for one in idle:
            one.sendall(b"GET /")
        oldest = idle[0]
        oldest.setblocking(False)  # noqa: FBT003 - the standard library's
        eventually(lambda: _is_closed(oldest), awaited="an end of the oldest connection")
        assert mine.get("view/secrets").status_code == HTTPStatus.OK
        with httpx.Client() as other:
            assert other.get(page.url).status_code == HTTPStatus.OK


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("whose", ["mine", "theirs"])
def test_no_value_is_in_any_answer(whose: str, request: pytest.FixtureRequest) -> None:
    client: httpx.Client = request.getfixturevalue(whose)
    paths = ["", "page.js", "page.css", *(f"view/{name}" for name in VIEWS)]
    shown = "".join(client.get(path).text for path in paths)
    for marked in ("in-a-manifest", "of-a-secret"):
        assert marked not in shown
    # An administrator sees the names in the hidden namespace, and nobody else does.
    assert (find_mark(shown) is None) == (whose == "theirs")
    assert (HIDDEN in shown) == (whose == "mine")


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        pytest.param("GET", "view/secrets", {"Host": "rebound.example"}, 403, id="foreign host"),
        pytest.param("GET", "view/secrets", {"Origin": "http://evil.example"}, 403, id="foreign origin"),
        pytest.param("GET", "view/secrets", {"Sec-Fetch-Site": "cross-site"}, 403, id="another site"),
        pytest.param("POST", "view/secrets", {}, 405, id="POST"),
        pytest.param("DELETE", "view/secrets", {}, 405, id="DELETE"),
        pytest.param("GET", "view/nothing", {}, 404, id="no such view"),
        pytest.param("GET", "../wrong-token/view/secrets", {}, 404, id="wrong token"),
        pytest.param("GET", "..%2f..%2fetc/passwd", {}, 404, id="a path that climbs"),
    ],
)
def test_a_refusal_has_no_content(
    mine: httpx.Client, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = mine.request(method, path, headers=headers)
    assert (answer.status_code, answer.content) == (status, b"")
    assert answer.headers["Cache-Control"] == "no-store"


def test_answers_forbid_what_the_page_does_not_need(mine: httpx.Client) -> None:
    for path in ("", "page.js", "view/secrets"):
        headers = mine.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
        assert "Access-Control-Allow-Origin" not in headers
    assert mine.head("view/secrets").content == b""
