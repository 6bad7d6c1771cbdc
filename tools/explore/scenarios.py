"""What operators of a cluster do to Keybearer, from its beginning to its end: the catalogue.

Each scenario prepares something, which is not disturbed, and then acts. It ends when what it wanted has come about.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tools.explore.scene import CONNECTION, REFUSED_KEY, Scene
from tools.local.kube_api import Body

__all__ = ["CATALOGUE", "Scenario"]

_FIGHT_ROUNDS = 40
"""More than it takes the operator to see that somebody fights, though an answer be lost or late."""
_ASKED_MOST = 3
_EDITS = 5
_Part = Callable[[Scene], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One of the catalogue.

    Attributes:
        prepare: what comes before; not disturbed.
        act: what is disturbed.
        keeps: Secrets that are there all the time once they were.
        ends_namespace: whether the namespace is deleted in it.
        asks_service: whether what it leaves in the service is compared as well.
        most_writes: that one operator may do, whatever happens.
        most_moments: that are disturbed, of the first ones; None: all.
        like: the scenario whose end state this one has as well; its own where it is empty.
    """

    name: str
    prepare: _Part
    act: _Part
    keeps: tuple[str, ...] = ()
    ends_namespace: bool = False
    asks_service: bool = False
    most_writes: int = 60
    most_moments: int | None = None
    like: str = ""


async def _filled(scene: Scene) -> None:
    await scene.store_values(A="cnry-1", B="cnry-2")


async def _first_sync(scene: Scene) -> None:
    await scene.sync("web")
    await scene.until_ready("web")
    await scene.until_data("web", A="cnry-1", B="cnry-2")


async def _change(scene: Scene) -> None:
    await scene.store_values(A="cnry-3", C="cnry-4")
    await scene.until_data("web", A="cnry-3", B="cnry-2", C="cnry-4")
    await scene.remove_values("B")
    await scene.until_data("web", A="cnry-3", C="cnry-4")
    await scene.until_ready("web")


async def _rename(scene: Scene) -> None:
    await scene.edit("web", target={"name": scene.naming.name("new")})
    await scene.until_data("new", A="cnry-1", B="cnry-2")
    await scene.until_gone("Secret", "web")
    await scene.until_ready("web")


async def _prepare_recreate(scene: Scene) -> None:
    await _filled(scene)
    await scene.sync("web", target={"immutable": True, "recreate": True})
    await scene.until_ready("web")


async def _recreate(scene: Scene) -> None:
    await scene.store_values(A="cnry-3")
    await scene.until_data("web", A="cnry-3", B="cnry-2")
    await scene.until_ready("web")


async def _refused_recreate(scene: Scene) -> None:
    await scene.store_values(**{REFUSED_KEY: "cnry-3"})
    await scene.until_reason("web", "TargetRefused")
    await scene.remove_values(REFUSED_KEY)
    await scene.until_ready("web")
    await scene.until_data("web", A="cnry-1", B="cnry-2")


async def _fight(scene: Scene) -> None:
    """Somebody else undoes each repair at once, until the operator says that the target is contested."""
    good = scene.encoded(A="cnry-1", B="cnry-2")

    def is_over(found: Body) -> bool:
        sync = scene.find("SecretSync", "web")
        is_contested = sync is not None and scene.ready(sync).get("reason") == "TargetContested"
        return is_contested or found.get("data") == good

    for _ in range(_FIGHT_ROUNDS):
        found = await scene.until("web", is_over, "a repair", kind="Secret")
        if found.get("data") != good:
            break
        edited = await scene.patch("Secret", "web", {"data": scene.encoded(A="cnry-theirs")})
        await scene.until_version("web", edited, kind="Secret")
    await scene.until_data("web", A="cnry-1", B="cnry-2")
    await scene.until_reason("web", "TargetContested")


async def _prepare_foreign(scene: Scene) -> None:
    await _filled(scene)
    await scene.secret("web", {"THEIRS": "cnry-5", "A": "cnry-6"}, labels={"a": "b"})
    await scene.sync("web")
    await scene.until_reason("web", "TargetConflict")


async def _adopt(scene: Scene) -> None:
    await scene.edit("web", target={"adopt": True})
    await scene.until_data("web", A="cnry-1", B="cnry-2")
    await scene.until_ready("web")


async def _prepare_merge(scene: Scene) -> None:
    await _filled(scene)
    await scene.secret("theirs", {"THEIRS": "cnry-5"})


async def _merge(scene: Scene) -> None:
    await scene.sync("web", target={"name": scene.naming.name("theirs"), "creationPolicy": "Merge"})
    await scene.until_data("theirs", THEIRS="cnry-5", A="cnry-1", B="cnry-2")
    await scene.until_ready("web")
    await scene.store_values(A="cnry-3")
    await scene.until_data("theirs", THEIRS="cnry-5", A="cnry-3", B="cnry-2")
    await scene.delete("SecretSync", "web")
    await scene.until_gone("SecretSync", "web")
    await scene.until_data("theirs", THEIRS="cnry-5")


async def _synced(scene: Scene) -> None:
    await _filled(scene)
    await scene.sync("web")
    await scene.until_ready("web")


async def _prepare_guard(scene: Scene) -> None:
    await scene.store_values(A="cnry-1", B="cnry-2", C="cnry-3", D="cnry-4")
    await scene.sync("web", guard={"maxDeletions": 25})
    await scene.until_ready("web")


async def _ask_until_ready(scene: Scene, request: str, held_back: str) -> None:
    """Ask as a person does: again where the answer was that it failed, and the change is still held back.

    A request of this kind is answered however it ended, so that it lets through nothing that nobody has seen.
    """
    for _ in range(_ASKED_MOST):
        await scene.ask("web", request)
        found = await scene.until_reason("web", "Synced", held_back)
        if scene.ready(found).get("status") == "True":
            return


async def _guard(scene: Scene) -> None:
    await scene.remove_values("A", "B", "C")
    await scene.until_reason("web", "Guarded")
    await _ask_until_ready(scene, "release-guard", "Guarded")
    await scene.until_data("web", D="cnry-4")


async def _plan(scene: Scene) -> None:
    await scene.sync("web", mode="Plan")
    await scene.until_reason("web", "Planned")
    await _ask_until_ready(scene, "approve-plan", "Planned")
    await scene.until_data("web", A="cnry-1", B="cnry-2")


async def _deletion(scene: Scene) -> None:
    await scene.delete("SecretSync", "web")
    await scene.until_gone("SecretSync", "web")
    await scene.until_gone("Secret", "web")


async def _prepare_namespace_deletion(scene: Scene) -> None:
    await _prepare_merge(scene)
    await scene.sync("merged", target={"name": scene.naming.name("theirs"), "creationPolicy": "Merge"})
    await scene.sync("web")
    await scene.until_ready("web")
    await scene.until_ready("merged")


async def _namespace_deletion(scene: Scene) -> None:
    await scene.api.send("DELETE", f"/api/v1/namespaces/{scene.namespace}")
    await scene.mirror.until(
        scene.namespace,
        lambda: scene.mirror.find("Namespace", scene.namespace, scene.namespace) is None,
        "an end of the namespace",
        120.0,
    )


async def _two_claimants(scene: Scene) -> None:
    await scene.sync("second", target={"name": scene.naming.name("web"), "adopt": True})
    await scene.until_reason("second", "TargetConflict")
    await scene.delete("SecretSync", "web")
    await scene.until_gone("SecretSync", "web")
    await scene.until_ready("second")
    await scene.until_data("web", A="cnry-1", B="cnry-2")


async def _made_anew(scene: Scene) -> None:
    # Edits of the former object that come late, and all at once, are what lets its end come after the new one.
    for number in range(_EDITS):
        await scene.patch("SecretSync", "web", {"metadata": {"labels": {"edit": str(number)}}})
    await scene.delete("SecretSync", "web")
    await scene.until_gone("SecretSync", "web")
    await scene.sync("web", target={"labels": {"round": "second"}})
    await scene.until_ready("web")
    await scene.until(
        "web",
        lambda found: found["metadata"].get("labels", {}).get("round") == "second",
        "the label",
        kind="Secret",
    )
    # Whoever takes it for the former one has forgotten it by now.
    await scene.until_quiet()
    await scene.store_values(A="cnry-newer")
    await scene.until_data("web", A="cnry-newer", B="cnry-2")


async def _connected(scene: Scene) -> None:
    await _filled(scene)
    await scene.connection()
    await scene.until_ready(CONNECTION, "AppConnection")


async def _push(scene: Scene) -> None:
    await scene.sync("web", **scene.push_spec())
    await scene.until_ready("web")
    await scene.until_pushed(A="cnry-1", B="cnry-2")
    await scene.store_values(A="cnry-3")
    await scene.until_pushed(A="cnry-3", B="cnry-2")
    await scene.until_ready("web")


async def _connection(scene: Scene) -> None:
    await scene.connection()
    await scene.until_ready(CONNECTION, "AppConnection")


async def _pushed(scene: Scene) -> None:
    await _connected(scene)
    await scene.sync("web", **scene.push_spec(), destinationDeletionPolicy="RemoveSecrets")
    await scene.until_ready("web")
    await scene.until_pushed(A="cnry-1", B="cnry-2")


async def _end_of_push(scene: Scene) -> None:
    await scene.delete("SecretSync", "web")
    await scene.until_gone("SecretSync", "web")
    await scene.until_pushed()
    await scene.delete("AppConnection", CONNECTION)
    await scene.until_gone("AppConnection", CONNECTION)


async def _first_certificate(scene: Scene) -> None:
    await scene.profile("web", scene.certificate("tls"))
    await scene.until_ready("web", "CertificateProfile")


def _certified(rotation: str) -> _Part:
    async def prepare(scene: Scene) -> None:
        await scene.open_authorities()
        key = {"algorithm": "EC_prime256v1", "rotationPolicy": rotation}
        await scene.profile("web", scene.certificate("tls", privateKey=key))
        await scene.until_ready("web", "CertificateProfile")

    return prepare


async def _renewal(scene: Scene) -> None:
    await scene.ask("web", "renew", "CertificateProfile")
    await _until_second(scene)


async def _until_second(scene: Scene) -> None:
    await scene.until(
        "web",
        lambda found: [one["certificateRevision"] for one in found["status"]["certificateRequests"]] == [2],
        "the second certificate",
        kind="CertificateProfile",
    )
    await scene.until_ready("web", "CertificateProfile")


async def _prepare_authority_change(scene: Scene) -> None:
    await scene.open_authorities()
    await scene.new_authority("other")
    await scene.given_profile("web", "issuing")
    await scene.profile("web", scene.certificate("tls"), existing=True, policyRef=None, caRef=None)
    await scene.until_ready("web", "CertificateProfile")


async def _authority_change(scene: Scene) -> None:
    await scene.given_profile("web", "other")
    await scene.ask("web", "sync", "CertificateProfile")
    await _until_second(scene)


async def _end_of_certificates(scene: Scene) -> None:
    await scene.delete("CertificateProfile", "web")
    await scene.until_gone("CertificateProfile", "web")
    await scene.until_gone("Secret", "tls")


async def _nothing(_: Scene) -> None:
    """Do nothing: what was prepared is the end state."""


_ALL = (
    Scenario("first sync", _filled, _first_sync, keeps=("web",)),
    Scenario("change", _synced, _change, keeps=("web",)),
    Scenario("rename", _synced, _rename),
    Scenario("recreate", _prepare_recreate, _recreate),
    Scenario("refused recreate", _prepare_recreate, _refused_recreate, keeps=("web",)),
    Scenario("fight", _synced, _fight, keeps=("web",), most_writes=35, most_moments=4),
    Scenario("adopt", _prepare_foreign, _adopt, keeps=("web",)),
    Scenario("merge", _prepare_merge, _merge, keeps=("theirs",)),
    Scenario("guard", _prepare_guard, _guard, keeps=("web",)),
    Scenario("plan", _filled, _plan, keeps=("web",)),
    Scenario("deletion", _synced, _deletion),
    Scenario("namespace deletion", _prepare_namespace_deletion, _namespace_deletion, ends_namespace=True),
    Scenario("two claimants", _synced, _two_claimants),
    Scenario("made anew under one name", _synced, _made_anew),
    Scenario("fields of SecretSync", _synced, _nothing),
    Scenario("fields of a pushing SecretSync", _pushed, _nothing, asks_service=True),
    Scenario("fields of AppConnection", _connected, _nothing, asks_service=True),
    Scenario("fields of CertificateProfile", _certified("Always"), _nothing, asks_service=True),
    Scenario("connection", _filled, _connection, asks_service=True),
    Scenario("push", _connected, _push, asks_service=True),
    Scenario("end of a push", _pushed, _end_of_push, asks_service=True),
    Scenario(
        "first certificate",
        Scene.open_authorities,
        _first_certificate,
        keeps=("tls", "web.certificate-keys"),
        asks_service=True,
    ),
    Scenario(
        "renewal", _certified("Never"), _renewal, keeps=("tls", "web.certificate-keys"), asks_service=True
    ),
    Scenario(
        "key rotation",
        _certified("Always"),
        _renewal,
        keeps=("tls", "web.certificate-keys"),
        asks_service=True,
    ),
    Scenario(
        "authority change",
        _prepare_authority_change,
        _authority_change,
        keeps=("tls", "web.certificate-keys"),
        asks_service=True,
    ),
    Scenario("end of certificates", _certified("Always"), _end_of_certificates, asks_service=True),
)
CATALOGUE: Mapping[str, Scenario] = {one.name: one for one in _ALL}
"""By name, in the order in which they are run."""
