"""Mistakes of people in manifests, what is said of each, and what becomes of it once its command was run."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from support.certificate_objects import Certificates
from support.command_line import CommandLine
from support.connection_objects import Connections
from support.secretsync_objects import condition, identity_secret, message_of, reason_of
from support.tenant import IDENTITY, Tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body
from tools.local.secrets_service import Login, ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["Cure", "Mistake", "Scene", "Told", "sync_of"]


@dataclass(frozen=True)
class Scene:
    """What all mistakes of a run are made in: one namespace, one project, one operator.

    Attributes:
        tenant: whose they are; its project has DB_USER, DB_HOST and DB_PASSWORD in the root of `dev`.
        admin: of the service, who has the rights that the commands need.
        certificates: an authority and a policy of the project.
        connections: what AppConnections lead to.
        line: runs `keybearer` as that administrator.
        plane: runs kubectl.
        home: for files that commands read.
        logins: of identities that the scene has, by the name of their Secret.
    """

    tenant: Tenant
    admin: ServiceAdmin
    certificates: Certificates
    connections: Connections
    line: CommandLine
    plane: ControlPlane
    home: Path
    logins: dict[str, Login] = field(default_factory=dict)

    def identity(self, name: str, login: Login | None, **changes: str) -> str:
        """The identity Secret of that name exists, with a login's keys but for the changes; return its name."""
        held = {} if login is None else login.as_secret()
        self.tenant.api.create(identity_secret(self.tenant.namespace, name, held | changes))
        if login is not None:
            self.logins[name] = login
        return name

    def new_login(self, role: str | None) -> Login:
        """Return the login of a new identity with this role in the project; None is no role."""
        return (
            self.admin.new_login()
            if role is None
            else self.admin.new_login(self.tenant.project.id, role=role)
        )

    def filled(self, text: str) -> str:
        """Return a text with the names of this scene in place of braces."""
        project = self.tenant.project
        words = {"{namespace}": self.tenant.namespace, "{project}": project.id, "{slug}": project.slug}
        words |= {f"{{client-id-of-{name}}}": login.client_id for name, login in self.logins.items()}
        for brace, word in words.items():
            text = text.replace(brace, word)
        return text

    def run(self, command: str, words: Mapping[str, str]) -> str:
        """Run a command as it is written, with words in capitals filled in; return what it prints."""
        for word, given in words.items():
            command = command.replace(word, given)
        printed: str | None = None
        if command.startswith("keybearer "):
            ours, _, command = command.partition(" | ")
            answer = self.line.here(*shlex.split(ours)[1:])
            assert answer.status == 0, f"{ours}: {answer.stderr}"
            printed = answer.stdout
            if not command:
                return printed
        done = subprocess.run(
            ["bash", "-c", command],
            input=printed,
            env=self.line.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def change_spec(self, kind: str, name: str, spec: Mapping[str, object]) -> None:
        """The spec of an object is changed by a merge patch."""
        self.tenant.api.patch(kind, self.tenant.namespace, name, {"spec": dict(spec)})


@dataclass(frozen=True)
class Told:
    """What is said of a mistake.

    Attributes:
        reason: of Ready.
        cause: part of the message.
        step: part of the next step.
        command: whole; braces stand for names of the scene. None: there is none.
        about: the field, or the object and its key.
        turn: whose turn it is.
    """

    reason: str
    cause: str
    step: str
    command: str | None = None
    about: str | None = None
    turn: str = "User"

    def compare(self, scene: Scene, found: Body) -> None:
        """The status of an object says this, and nothing is contradicted by its conditions."""
        diagnosis = found["status"].get("diagnosis", {})
        assert scene.filled(self.cause) in message_of(found), message_of(found)
        assert scene.filled(self.step) in diagnosis.get("step", ""), diagnosis
        wanted = None if self.command is None else scene.filled(self.command)
        assert (diagnosis.get("command"), diagnosis.get("about")) == (wanted, self.about)
        assert diagnosis["turn"] == self.turn
        is_stalled = (condition(found, "Stalled") or {}).get("status") == "True"
        assert not (is_stalled and (self.turn == "Nobody" or diagnosis["step"].startswith("Nothing")))


@dataclass(frozen=True)
class Cure:
    """How a mistake is mended: by its command, as it is written, and where that only shows what there is, by an edit.

    Attributes:
        words: what is filled in for words in capitals.
        shows: what the command prints, at least.
        edit: of the spec, afterwards; the command has shown what to write.
        do: what else a person does then, given what the command printed.
        then: the reason that follows.
    """

    words: Callable[[Scene], Mapping[str, str]] = lambda _: {}
    shows: str = ""
    edit: Callable[[Scene], Mapping[str, object]] | None = None
    do: Callable[[Scene, str], None] | None = None
    then: str = "Synced"


@dataclass(frozen=True)
class Mistake:
    """One object with one mistake.

    Attributes:
        name: of the object.
        make: creates it, and what belongs to the mistake.
        told: what is said of it.
        cure: what mends it; None where that is shown elsewhere, or takes more than a command.
        kind: of the object.
    """

    name: str
    make: Callable[[Scene, str], object]
    told: Told
    cure: Cure | None = None
    kind: str = "SecretSync"

    def await_told(self, scene: Scene) -> Body:
        """Return the object once its newest spec has the reason."""
        return scene.tenant.until_reason(self.name, self.told.reason, kind=self.kind)

    def begin_cure(self, scene: Scene, found: Body) -> None:
        """The command of the diagnosis is run, and what it asks for is done."""
        cure = self.cure
        assert cure is not None
        command = found["status"].get("diagnosis", {}).get("command")
        printed = "" if command is None else scene.run(str(command), cure.words(scene))
        assert scene.filled(cure.shows) in printed
        if cure.do is not None:
            cure.do(scene, printed)
        if cure.edit is not None:
            scene.change_spec(self.kind, self.name, cure.edit(scene))

    def await_cure(self, scene: Scene) -> None:
        """The object is where its cure leads."""
        assert self.cure is not None
        then = self.cure.then
        found = scene.tenant.until(
            self.name, lambda one: reason_of(one) == then, f"the reason {then}", kind=self.kind
        )
        assert ("diagnosis" in found["status"]) == (then not in {"Synced", "Connected", "Issued"})


def sync_of(**spec: object) -> Callable[[Scene, str], object]:
    """Return what makes a SecretSync of the tenant, but for what the spec says."""

    def make(scene: Scene, name: str) -> object:
        whole = {"identityRef": {"name": IDENTITY}, "refreshInterval": "1h", **spec}
        source = whole.get("source", {})
        if isinstance(source, Mapping):
            own = {} if "projectSlug" in source else {"projectId": scene.tenant.project.id}
            whole["source"] = {**own, "environment": "dev", **source}
        return scene.tenant.sync(name, **whole)

    return make
