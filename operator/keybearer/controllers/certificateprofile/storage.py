"""Where the keys and certificates of a profile are kept: the keyring, and the Secret of each certificate."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from keybearer.controllers.certificateprofile.authorities import trusted
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.context import RoundContext, RoundTools
from keybearer.controllers.certificateprofile.policy import (
    Authority,
    Judged,
    NotConformantError,
    judge,
    recognize,
)
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.secret_contents import (
    Found,
    KeptAttempt,
    Keyring,
    Origins,
    build_certificate_secret,
    build_keyring_secret,
    contents_of,
    read_contents,
    read_keyring,
    secret_type,
)
from keybearer.controllers.certificateprofile.status import AuthorityStatus
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.certificateprofile.trigger import SecretState
from keybearer.controllers.issuance.service import IssuedCertificate
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.outcome import WaitingError
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, load_private_key

__all__ = ["CertificateStorage", "anchors_text"]


class CertificateStorage:
    """Keeps what one round brings, and puts together again what was lost.

    Attributes:
        keyring: as it is noted.
        authorities: that `ca.crt` holds.
    """

    def __init__(
        self, tools: RoundTools, context: RoundContext, cases: Sequence[Case], now: datetime
    ) -> None:
        self._tools = tools
        self._context = context
        self._cases = cases
        self._now = now
        self.keyring = Keyring()
        self._keyring_found: PresentTarget | None = None
        self._recovered = False
        self._absent: frozenset[TargetKey] = frozenset()
        self.authorities = self.trusted(context.run.previous.authorities)

    async def read_keyring(self) -> None:
        """Read what is noted, and tell each case of its attempt.

        Raises:
            KubeError: the API server can't be asked.
        """
        seen = self._context.run.seen
        present = await self._tools.secrets.look_at_own(self._keyring_key(), seen.uid, thorough=True)
        self._keyring_found = present
        self.keyring = read_keyring(present.body if present is not None else None)
        for case in self._cases:
            kept = self.keyring.attempts.get(case.name)
            if kept is not None:
                case.take_noted(kept, self._now)
            is_held = kept is None or (case.name, kept.revision) in self.keyring.keys
            if kept is not None and case.desired.makes_key and not is_held:
                # Of no use without its key, but its number is taken.
                case.say(revision=max(kept.revision, case.entry.revision or 0))
                kept = None
            case.kept = kept

    def lacks_keyring(self) -> bool:
        """Tell whether the watch shows no keyring, though there are keys to keep."""
        return not self.was_ever_noted() and any(
            case.desired.makes_key and case.has_certificate for case in self._cases
        )

    async def recover_key(self, case: Case) -> None:
        """Take the key of a stored certificate into the keyring from its Secret, where the keyring lost it.

        Raises:
            KubeError: the API server can't be asked.
        """
        which = case.name, case.entry.certificate_revision or 0
        if which in self.keyring.keys or not (case.desired.makes_key and case.has_certificate):
            return
        if case.present is None:
            await self.read_secret(case)
        found = _found(case)
        if found.key is not None and found.serial == case.entry.serial_number:
            self.keyring = self.keyring.with_key(which, found.key.der())
            self._recovered = True

    async def write_recovered(self) -> None:
        """Note the keys that were recovered, unless that was done with an attempt; raises as `write_keyring`."""
        if not self._recovered:
            return
        try:
            await self.write_keyring(repairs=True)
        except WaitingError as error:
            # The Secrets hold these keys as well, and the run reports at its end what has to wait.
            if error.reason != Reason.TARGET_CONTESTED:
                raise

    async def look_for_absent(self, cases: Sequence[Case]) -> None:
        """Find out which of these certificates have no Secret yet, many at once; `require_target` reads the others.

        Raises:
            KubeError: the API server can't be asked.
        """
        unwritten = (self._wanted_target(case) for case in cases if case.secret is not SecretState.AS_WRITTEN)
        self._absent = await self._tools.secrets.absent(unwritten, since=self._context.run.seen.trigger_at)

    async def require_target(self, case: Case) -> None:
        """Let pass a certificate whose Secret can be written; one that is ours as the watch shows it isn't read.

        Raises:
            StalledError: the Secret is somebody else's.
            KubeError: the API server can't be asked.
        """
        target, uid = self._wanted_target(case), self._context.run.seen.uid
        if case.secret is SecretState.AS_WRITTEN:
            return
        if target in self._absent:
            self._tools.secrets.claim(target, uid)
            return
        entry = case.desired.entry
        wanted_type = secret_type(has_key=entry.csr is None)
        await self._tools.secrets.require_free(target, wanted_type, uid, adopt=entry.adopt)

    def stale(self) -> list[Case]:
        """Return the certificates whose `ca.crt` lacks an authority, or holds one that signed nothing any more."""
        self.authorities = self.trusted(self.authorities)
        before, wanted = (
            anchors_text(self._context.run.previous.authorities),
            anchors_text(self.authorities),
        )
        return [
            case
            for case in self._cases
            if case.entry.authority is not None
            and case.secret is SecretState.AS_WRITTEN
            and (before if case.anchors is None else case.anchors) != wanted
        ]

    def holds_key(self, case: Case) -> bool:
        """Tell whether the stored certificate's key can be had; the service is believed to have what it made."""
        revision = case.entry.certificate_revision
        if not case.desired.makes_key or revision is None or case.secret is SecretState.AS_WRITTEN:
            return True
        return (case.name, revision) in self.keyring.keys or _found(case).key is not None

    async def read_secret(self, case: Case) -> None:
        """Read the Secret of a certificate, if it is ours.

        Raises:
            KubeError: the API server can't be asked.
        """
        case.present = await self._tools.secrets.look_at_own(self._target(case), self._context.run.seen.uid)

    def was_ever_noted(self) -> bool:
        """Tell whether the watch showed a keyring; where it showed none, there may be one nonetheless."""
        return self._tools.secrets.fingerprint_seen(self._keyring_key()) is not None

    async def write_keyring(self, *, is_first: bool = False, repairs: bool = False) -> None:
        """Note what is in the keyring now; what nobody needs any more goes.

        Args:
            is_first: it wasn't read, as none is believed to be there.
            repairs: it makes good what others did.

        Raises:
            AlreadyExistsError: there is one, though it is believed to be the first.
            ReconcileError: the Secret isn't ours, or can't hold so much.
            KubeError: the API server refuses or can't be asked.
        """
        # Also of those that can't be asked for as they are described now: what they have is still served.
        names = {entry.name for entry in self._context.run.spec.certificates}
        entries = {entry.name: entry for entry in self._context.run.previous.certificate_requests}
        entries |= {case.name: case.entry for case in self._cases}
        stored = {
            (name, entry.certificate_revision)
            for name, entry in entries.items()
            if name in names and entry.certificate_revision is not None
        }
        self.keyring = self.keyring.only(stored, names)
        data = self.keyring.data()
        self._recovered = False
        seen = self._context.run.seen
        desired = build_keyring_secret(seen, data, self._tools.fingerprinter)
        if is_first:
            await self._tools.secrets.create(seen, desired)
        else:
            await self._tools.secrets.write(seen, desired, found=self._keyring_found, repairs=repairs)

    def key_of(self, case: Case) -> PrivateKey | None:
        """Return the key of the stored certificate, if it can be had without the service."""
        revision = case.entry.certificate_revision
        packed = None if revision is None else self.keyring.keys.get((case.name, revision))
        return _loaded(packed) or _found(case).key

    def attempted_key(self, case: Case, attempt: KeptAttempt) -> PrivateKey | None:
        """Return the key of an attempt; None where the operator made none."""
        if case.made is not None:
            return case.made.key
        return _loaded(self.keyring.keys.get((case.name, attempt.revision)))

    async def store(self, case: Case, issued: IssuedCertificate, key: PrivateKey | None) -> None:
        """Judge what was issued, and store it if it may be."""
        attempt, desired, context = case.open_attempt, case.desired, self._context
        if attempt is None:
            raise TypeError(f"certificate {case.name} has no open attempt")
        if desired.csr is None and not desired.makes_key:
            key = _service_key(issued)
        if desired.csr is None and key is None:
            message = "the key of what was issued can't be had; grant the identity the right read-private-key"
            self._count(case, Reason.NOT_CONFORMANT, message, attempt.revision)
            return
        try:
            judged = judge(
                issued,
                desired,
                None if key is None else key.public_key,
                context.authority,
                self_signed=context.self_signed,
                now=self._now,
            )
        except NotConformantError as error:
            self._count(case, Reason.NOT_CONFORMANT, str(error), attempt.revision)
            return
        if judged.authority is not None:
            self._trust(judged.authority)
        before = case.entry
        target = self._target_of(case, judged, key, attempt.revision, issued.certificate_id, attempt.digest)
        await self._tools.secrets.write(
            context.run.seen,
            target,
            adopt=desired.entry.adopt,
            refresh_mounts=desired.entry.refresh_mounts,
            is_new=before.certificate_revision is None and case.secret is SecretState.MISSING,
        )
        uid = context.run.seen.uid
        case.stored(judged, issued.certificate_id, uid=uid, fingerprint=target.fingerprint, now=self._now)
        case.look_at(case.entry.renewal_time)
        await self._retire_old_name(before.secret_name)

    async def rebuild(self, case: Case) -> None:
        """Write the Secret anew with the certificate that it had: from itself, the keyring, or the service."""
        entry = case.entry
        if case.present is None:
            await self.read_secret(case)
        found, key = _found(case), self.key_of(case)
        issued: IssuedCertificate | None = None
        certificate_id = entry.certificate_id or ""
        if found.serial == entry.serial_number:
            issued = IssuedCertificate(certificate_id, found.certificate, found.above)
        if issued is None or (key is None and case.desired.csr is None):
            issued = await self._context.run.service.bundle(certificate_id)
            key = key or (None if issued is None else _service_key(issued))
        try:
            judged = None if issued is None else recognize(issued, self._context.authority)
        except NotConformantError:
            judged = None
        has_key = case.desired.csr is not None or key is not None
        if judged is None or judged.leaf.serial != entry.serial_number or not has_key:
            case.forget_certificate()
            case.look_at(self._now)
            return
        if key is not None and key.public_key != judged.leaf.public_key:
            case.forget_certificate()
            case.look_at(self._now)
            return
        revision = entry.certificate_revision or 0
        target = self._target_of(case, judged, key, revision, certificate_id, entry.spec or "")
        before, run = entry.secret_name, self._context.run
        is_as_before = run.previous.observed_generation == run.seen.generation
        await self._tools.secrets.write(
            run.seen,
            target,
            adopt=case.desired.entry.adopt,
            refresh_mounts=case.desired.entry.refresh_mounts,
            repairs=is_as_before and case.secret is not SecretState.AS_WRITTEN,
        )
        case.written(target.fingerprint)
        await self._retire_old_name(before)

    def trusted(self, before: Sequence[AuthorityStatus]) -> tuple[AuthorityStatus, ...]:
        """Return which of these authorities are still to be trusted, and the present one."""
        present = None if self._context.authority is None else self._context.authority.status
        return trusted(
            present, before, [case.entry.authority for case in self._cases if case.has_certificate]
        )

    def _trust(self, authority: Authority) -> None:
        if all(one.key != authority.key for one in self.authorities):
            self.authorities = (*self.authorities, authority.status)

    async def _retire_old_name(self, before: str) -> None:
        if before not in self._context.run.secret_names:
            namespace = self._context.run.seen.key.namespace
            await self._tools.secrets.retire(
                TargetKey("Secret", namespace, before), self._context.run.seen.uid
            )

    def _target_of(
        self,
        case: Case,
        judged: Judged,
        key: PrivateKey | None,
        revision: int,
        certificate_id: str,
        digest: str,
    ) -> DesiredTarget:
        is_signed = judged.authority is not None or case.entry.authority is not None
        case.anchors = anchors_text(self.authorities) if is_signed and self.authorities else judged.anchors
        data = contents_of(judged, key, case.anchors, case.desired.entry.keystores, case.passwords, self._now)
        return build_certificate_secret(
            self._context.run.seen,
            case.desired.entry.target_name,
            case.name,
            Origins(certificate_id or None, revision, digest),
            data,
            self._tools.fingerprinter,
            case.desired.entry.secret_template,
        )

    def _keyring_key(self) -> TargetKey:
        seen = self._context.run.seen
        return TargetKey("Secret", seen.key.namespace, keyring_name(seen.key.name))

    def _wanted_target(self, case: Case) -> TargetKey:
        return TargetKey("Secret", self._context.run.seen.key.namespace, case.desired.entry.target_name)

    def _target(self, case: Case) -> TargetKey:
        name = case.entry.secret_name if case.has_certificate else case.desired.entry.target_name
        return TargetKey("Secret", self._context.run.seen.key.namespace, name)

    def _count(self, case: Case, reason: Reason, message: str, revision: int | None) -> None:
        case.failed(reason, message, now=self._now, rng=self._tools.rng, revision=revision)


def anchors_text(authorities: Sequence[AuthorityStatus]) -> str:
    """Return what `ca.crt` holds of these authorities."""
    return "".join(dict.fromkeys(one.anchors for one in authorities))


def _found(case: Case) -> Found:
    return Found() if case.present is None else read_contents(case.present.data)


def _loaded(packed: bytes | None) -> PrivateKey | None:
    try:
        return None if packed is None else load_private_key(packed)
    except PkiError:
        return None


def _service_key(issued: IssuedCertificate) -> PrivateKey | None:
    try:
        return None if issued.private_key is None else load_private_key(issued.private_key)
    except PkiError:
        return None
