"""What the pictures of the documentation show."""

from __future__ import annotations

from tools.reference.drawing import Message, Note, Picture, sequence

__all__ = ["pictures"]


def pictures() -> dict[str, str]:
    """Return each picture by its file name."""
    drawn = {
        "parts.svg": _parts(),
        "reconcile.svg": _reconcile(),
        "tenants.svg": _tenants(),
        "envelope.svg": _envelope(),
        "issuance.svg": _issuance(),
        "crash.svg": _crash(),
    }
    return {name: picture.svg() for name, picture in drawn.items()}


def _parts() -> Picture:
    p = Picture(
        "The parts of Keybearer",
        "People and CI call the service by HTTP. In the cluster the operator watches the API server, applies Secrets, and "
        "asks the service over HTTPS. The service keeps sealed values in a database, opens them with the root key, and pushes "
        "what changed to other stores.",
        860,
        330,
    )
    p.group(20, 130, 400, 180, "Kubernetes cluster")
    p.group(520, 20, 320, 200, "embedded service, or a remote one")
    p.box(40, 190, 140, 60, "API server", "other")
    p.box(250, 180, 150, 80, "operator\nkeybearer operator")
    p.box(545, 60, 150, 70, "service\nkeybearer serve")
    p.box(705, 60, 120, 70, "database\nsealed values", "store")
    p.box(545, 165, 95, 40, "root key", "key")
    p.box(250, 40, 150, 50, "people, CI", "other")
    p.box(600, 255, 190, 50, "other stores", "other")
    p.arrow((400, 65), (545, 80), label="HTTP, SDKs", at=(470, 62))
    p.arrow((180, 205), (250, 205), label="watch", at=(215, 196))
    p.arrow((250, 237), (180, 237), label="apply", at=(215, 248))
    p.arrow(
        (400, 200), (470, 200), (470, 105), (545, 105), label="HTTPS: lists,\ncertificates", at=(470, 160)
    )
    p.arrow((695, 95), (705, 95))
    p.arrow((592, 165), (592, 130), label="opens", dashed=True, at=(592, 147))
    p.arrow((668, 130), (668, 255), label="pushes what changed", at=(745, 190))
    return p


def _reconcile() -> Picture:
    return sequence(
        "A SecretSync, from event to status",
        "The API server tells the watches of a change. They put the object's name into a work queue. A worker takes it, reads "
        "the target and the source, plans, applies what differs, and writes one status. The service's events and polls put "
        "names into the queue as well.",
        ("K: API server", "H: watches", "Q: work queue", "R: reconcile", "S: service"),
        (
            Message("K", "H", "SecretSync or one of\nour Secrets changed"),
            Message("H", "Q", "kind, namespace, name"),
            Note(
                "Q", "one place per object, fair across namespaces;\nfirst syncs and edits before refreshes"
            ),
            Message("Q", "R", "a worker takes it"),
            Message("R", "K", "gather: the target as it is"),
            Message("R", "S", "gather: the source\n(shared, If-None-Match)"),
            Message("S", "R", "secrets, or 304", answer=True),
            Note("R", "plan: pure. Observed, desired and now\nbecome actions and conditions"),
            Message("R", "K", "apply: server-side apply, only what differs"),
            Message("R", "K", "status: one patch, only if it says something new"),
            Message("S", "Q", "event, or a poll answered 200: a folder changed"),
        ),
    )


def _tenants() -> Picture:
    p = Picture(
        "Whose identity, whose tenant",
        "A SecretSync with identityRef uses a Secret of its own namespace and writes a target there. One without uses the "
        "operator's shared identity, for what sharedGrants lists. The service decides by the roles of the identity.",
        860,
        300,
    )
    p.group(20, 20, 440, 130, "namespace team-a")
    p.group(20, 170, 440, 110, "namespace team-b")
    p.box(40, 60, 120, 60, "SecretSync")
    p.box(270, 45, 170, 40, "identity Secret", "key")
    p.box(270, 100, 170, 40, "target Secret", "store")
    p.box(40, 205, 150, 56, "SecretSync\nwithout identityRef")
    p.box(530, 205, 150, 56, "operator's\nshared identity", "key")
    p.box(690, 60, 150, 70, "service\nroles of the identity")
    p.arrow((160, 80), (270, 65), label="identityRef", at=(215, 66))
    p.arrow((160, 100), (270, 120), label="owns", at=(215, 117))
    p.arrow((440, 65), (690, 85), label="url: from the operator's list", at=(565, 60))
    p.arrow((190, 233), (530, 233), label="only what sharedGrants lists")
    p.arrow((680, 233), (765, 233), (765, 130), at=(765, 190), label="")
    return p


def _envelope() -> Picture:
    p = Picture(
        "Envelope encryption",
        "The root key, outside the database, wraps one data key per project and the service's own keys. Data keys seal values, "
        "comments and metadata with AES-256-GCM, each bound to its row. Wrapped keys and sealed values are in the database.",
        860,
        300,
    )
    p.group(20, 20, 200, 260, "a file, a mounted Secret")
    p.group(250, 20, 590, 260, "database, and so every backup of it")
    p.box(40, 60, 160, 60, "root key\nfirst line: wraps", "key")
    p.box(40, 160, 160, 60, "former root keys\nonly open", "key")
    p.box(285, 55, 200, 56, "data key of project A\nwrapped", "key")
    p.box(285, 130, 200, 56, "data key of project B\nwrapped", "key")
    p.box(285, 205, 200, 56, "keys of the service\nwrapped", "key")
    p.box(600, 55, 220, 56, "values, comments, CA keys\nAES-256-GCM, bound to the row", "store")
    p.box(600, 130, 220, 56, "values of project B\nsealed", "store")
    p.box(600, 205, 220, 56, "signs tokens,\nkeys digests", "other")
    p.arrow((200, 83), (285, 83), label="wraps", at=(240, 74))
    p.arrow((200, 95), (240, 95), (240, 158), (285, 158))
    p.arrow((200, 105), (230, 105), (230, 233), (285, 233))
    p.arrow((485, 83), (600, 83), label="seals")
    p.arrow((485, 158), (600, 158), label="seals")
    p.arrow((485, 233), (600, 233))
    return p


def _issuance() -> Picture:
    return sequence(
        "A certificate, from manifest to Secret, asked for once",
        "The operator stores the key in the Secret of keys and notes revision and request in the status. It looks for a request "
        "with these marks in the service, and only then makes one. What is issued is judged, then stored, then told in the "
        "status.",
        ("K: API server", "R: reconcile", "S: service"),
        (
            Message(
                "R",
                "K",
                "the key goes into the Secret of keys,\nwith revision, tag and digest of the attempt",
            ),
            Message("R", "S", "is there a request of this\nobject, certificate and revision?"),
            Message("S", "R", "none", answer=True),
            Message("R", "S", "signing request, with these as metadata"),
            Note("S", "request, certificate, serial number and\naudit entry are one transaction"),
            Message("S", "R", "issued, or the id of a request that waits", answer=True),
            Note("R", "judge: our key, what was asked for,\na chain to the authority"),
            Message("R", "K", "Secret: tls.crt, tls.key, ca.crt"),
            Message("R", "K", "status: serial number, when it ends,\nwhen it is renewed"),
        ),
        gap=310,
    )


def _crash() -> Picture:
    return sequence(
        "The same, with the operator killed before the answer",
        "The operator is killed after it sent a signing request. The next run finds the attempt noted in the Secret of keys, "
        "searches the service by its metadata, and takes the certificate that was issued. There is one certificate.",
        ("K: API server", "R: operator", "S: service"),
        (
            Message("R", "K", "attempt 3 noted, with its key"),
            Message("R", "S", "signing request of attempt 3"),
            Note("S", "issues certificate 7f…"),
            Note("R", "killed: the answer is lost"),
            Message("R", "K", "after the start: attempt 3 is noted, unanswered"),
            Message("R", "S", "is there a request of attempt 3?"),
            Message("S", "R", "yes: certificate 7f…", answer=True),
            Message("R", "K", "Secret: certificate 7f… with the key of attempt 3"),
        ),
        gap=310,
    )
