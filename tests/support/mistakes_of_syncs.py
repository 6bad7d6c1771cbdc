"""Mistakes in SecretSyncs."""

from __future__ import annotations

from collections.abc import Callable

from support.mistakes import Cure, Mistake, Scene, Told, sync_of
from support.secretsync_objects import secret

__all__ = ["MISTAKES_OF_SYNCS"]

_FOLDERS = "keybearer folders list --project {project} --env dev --recursive"
_MANAGERS = "-o jsonpath='{.metadata.managedFields[*].manager}'"
_WROTE = f"kubectl -n {{namespace}} get secret {{}} --show-managed-fields {_MANAGERS}"


def _templated(text: str) -> Callable[[Scene, str], object]:
    return sync_of(target={"template": {"data": {"a": text}}})


def _template_mistake(name: str, text: str, cause: str) -> Mistake:
    told = Told(
        "TemplateFailed",
        f"the template of key a, line 1, {cause}",
        "Correct the template",
        None,
        "spec.target.template",
    )
    edit = {"target": {"template": {"data": {"a": "{{ DB_USER }}"}}}}
    return Mistake(name, _templated(text), told, Cure(edit=lambda _: edit))


def _over_a_taken_target(scene: Scene, name: str, **spec: object) -> object:
    scene.tenant.api.create(secret(scene.tenant.namespace, name, {"A": "cnry-a"}))
    return sync_of(**spec)(scene, name)


def _beside_another(scene: Scene, name: str) -> object:
    if scene.tenant.api.find("SecretSync", scene.tenant.namespace, "first-owner") is None:
        sync_of(target={"name": "of-the-first"})(scene, "first-owner")
        scene.tenant.until_ready("first-owner")
    return sync_of(target={"name": "of-the-first", "adopt": name.endswith("adopts")})(scene, name)


def _delete_the_first(scene: Scene, _: str) -> None:
    scene.tenant.api.delete("SecretSync", scene.tenant.namespace, "first-owner")


_OF_A_RIVAL = Told(
    "TargetConflict",
    "Secret of-the-first belongs to SecretSync first-owner; choose another target.name, or delete ",
    "Choose another target.name, or delete SecretSync first-owner.",
    "kubectl -n {namespace} get secretsync first-owner",
    "spec.target.name",
)


def _in_folder(path: str, *names: str) -> Callable[[Scene, str], object]:
    def make(scene: Scene, name: str) -> object:
        scene.tenant.project.folder(path)
        if names:
            scene.tenant.project.store(dict.fromkeys(names, "cnry-x"), path=path)
        return sync_of(source={"secretPath": path})(scene, name)

    return make


MISTAKES_OF_SYNCS: tuple[Mistake, ...] = (
    Mistake(
        "wrong-slug",
        sync_of(source={"projectSlug": "keybearer-dmo"}),
        Told(
            "SourceNotFound",
            "Project with slug 'keybearer-dmo' not found",
            "Correct spec.source.projectSlug, or give the identity a role in the project.",
            "keybearer projects list",
            "spec.source.projectSlug",
        ),
        Cure(shows="{slug}", edit=lambda scene: {"source": {"projectSlug": scene.tenant.project.slug}}),
    ),
    Mistake(
        "wrong-environment",
        sync_of(source={"environment": "prd"}),
        Told(
            "SourceNotFound",
            "Environment with slug 'prd'",
            "Correct spec.source.environment.",
            "keybearer environments list --project {project}",
            "spec.source.environment",
        ),
        Cure(shows="dev", edit=lambda _: {"source": {"environment": "dev"}}),
    ),
    Mistake(
        "wrong-path",
        sync_of(source={"secretPath": "/nope"}),
        Told(
            "SourceNotFound",
            "folder /nope doesn't exist",
            "Correct spec.source.secretPath, or create the folder.",
            _FOLDERS,
            "spec.source.secretPath",
        ),
        Cure(shows="with-space", edit=lambda _: {"source": {"secretPath": "/"}}),
    ),
    Mistake(
        "no-such-key",
        sync_of(source={"keys": {"items": [{"key": "DB_PASSWORT"}]}}),
        Told(
            "KeyNotFound",
            "dev:/ has no secret DB_PASSWORT; create it, or correct keys.items; did you mean DB_PASSWORD?",
            "Create the secret, or correct the item.",
            "keybearer secrets list --project {project} --env dev --path /",
            "spec.source.keys",
        ),
        Cure(shows="DB_PASSWORD", edit=lambda _: {"source": {"keys": {"items": [{"key": "DB_PASSWORD"}]}}}),
    ),
    Mistake(
        "nothing-taken",
        sync_of(source={"keys": {"include": ["NOPE_*"]}}),
        Told(
            "NoKeys",
            "dev:/ holds 3 secrets, and source.keys takes none",
            "Put secrets into the source, or widen source.keys.",
            "keybearer secrets list --project {project} --env dev --path /",
            "spec.source",
        ),
        Cure(shows="DB_USER", edit=lambda _: {"source": {"keys": {"include": ["DB_*"]}}}),
    ),
    Mistake(
        "bad-pattern",
        sync_of(source={"keys": {"include": ["/(/"]}}),
        Told(
            "InvalidPattern",
            "pattern '/(/' is refused: missing )",
            "Correct the pattern",
            None,
            "spec.source.keys",
        ),
        Cure(edit=lambda _: {"source": {"keys": {"include": ["/^DB_/"]}}}),
    ),
    Mistake(
        "name-with-space",
        _in_folder("/with-space", "TWO WORDS", "GOOD"),
        Told(
            "InvalidKey",
            "'TWO WORDS' is no valid key",
            "Rename or exclude it in source.keys.",
            None,
            "spec.source.keys",
        ),
        Cure(edit=lambda _: {"source": {"keys": {"exclude": ["TWO WORDS"]}}}),
    ),
    Mistake(
        "empty-folder",
        _in_folder("/empty"),
        Told(
            "NoKeys",
            "dev:/empty holds no secrets",
            "Put secrets into the source",
            "keybearer secrets list --project {project} --env dev --path /empty",
            "spec.source",
        ),
    ),
    Mistake(
        "taken-target",
        _over_a_taken_target,
        Told(
            "TargetConflict",
            "Secret taken-target exists and was not written by this object",
            "set target.adopt to take it over",
            _WROTE.replace("{}", "taken-target"),
            "spec.target.name",
        ),
        Cure(edit=lambda _: {"target": {"adopt": True}}, then="Guarded"),
    ),
    Mistake(
        "second-owner",
        _beside_another,
        _OF_A_RIVAL,
        Cure(edit=lambda _: {"target": {"name": "of-the-second"}}),
    ),
    Mistake("second-owner-adopts", _beside_another, _OF_A_RIVAL, Cure(do=_delete_the_first)),
    _template_mistake(
        "template-name", "{{ DB_USR }}", "uses DB_USR, which is not defined; there are DB_USER"
    ),
    _template_mistake(
        "template-dot",
        "{{ .DB_USER }}",
        "is no valid Jinja2: names have no dot before them; write {{ DB_USER }}",
    ),
    _template_mistake("template-brace", "{{ DB_USER }", "is no valid Jinja2: unexpected }"),
    _template_mistake(
        "template-open-if", "{% if DB_USER %}x", "is no valid Jinja2: the block if is never closed"
    ),
    _template_mistake(
        "template-filter",
        "{{ DB_USER | b64enc }}",
        "uses b64enc, which is no filter or test here; there are b64encode",
    ),
    Mistake(
        "template-missing",
        sync_of(target={"template": {"configMapRef": {"name": "texts"}}}),
        Told(
            "TemplateNotFound",
            "ConfigMap {namespace}/texts of target.template doesn't exist",
            "Create ConfigMap texts, or correct spec.target.template.configMapRef.name.",
            "kubectl -n {namespace} create configmap texts --from-file=KEY=FILE",
            "spec.target.template.configMapRef.name",
        ),
        Cure(words=lambda scene: {"KEY": "a", "FILE": str(scene.home / "template")}),
    ),
    Mistake(
        "tls-without-keys",
        sync_of(target={"type": "kubernetes.io/tls"}),
        Told(
            "MissingTypeKey",
            "needs the key tls.crt",
            "Make the key with keys.items",
            None,
            "spec.source.keys",
        ),
        Cure(
            edit=lambda _: {
                "source": {
                    "keys": {
                        "items": [{"key": "DB_USER", "as": "tls.crt"}, {"key": "DB_HOST", "as": "tls.key"}]
                    }
                }
            }
        ),
    ),
    Mistake(
        "foreign-type",
        sync_of(target={"type": "example.com/other"}),
        Told(
            "TypeNotAllowed",
            "--allow-target-type",
            "Choose another target.type",
            None,
            "spec.target.type",
        ),
    ),
    Mistake(
        "merge-into-nothing",
        sync_of(target={"name": "not-there", "creationPolicy": "Merge"}),
        Told(
            "TargetMissing",
            "Secret not-there doesn't exist and creationPolicy is Merge",
            "Create the target, or set creationPolicy to Owner.",
            None,
            "spec.target.creationPolicy",
        ),
        Cure(edit=lambda _: {"target": {"creationPolicy": "Owner"}}),
    ),
    Mistake(
        "suspended",
        sync_of(mode="Suspended"),
        Told("Suspended", "mode is Suspended", "Set spec.mode to Apply", None, "spec.mode"),
        Cure(edit=lambda _: {"mode": "Apply"}),
    ),
    Mistake(
        "planned",
        sync_of(mode="Plan"),
        Told(
            "Planned",
            "mode is Plan: 3 keys of Secret planned would change",
            "approve it",
            "kubectl -n {namespace} annotate --overwrite secretsync planned keybearer.dev/request=approve-plan "
            'keybearer.dev/requestedAt="$(date +%s)"',
            "spec.mode",
        ),
        Cure(),
    ),
    Mistake(
        "adopts-in-plan",
        lambda scene, name: _over_a_taken_target(scene, name, mode="Plan", target={"adopt": True}),
        Told(
            "Guarded",
            "1 of 1 keys would be removed (A), more than the guard lets at once",
            "If these keys are meant to be removed, release the change once.",
            "kubectl -n {namespace} annotate --overwrite secretsync adopts-in-plan "
            'keybearer.dev/request=release-guard keybearer.dev/requestedAt="$(date +%s)"',
        ),
        Cure(),
    ),
    Mistake(
        "no-such-connection",
        sync_of(
            target=None,
            destination="aws-secrets-manager",
            connectionRef={"name": "stroe"},
            destinationConfig={"region": "us-east-1", "mappingBehavior": "one-to-one"},
        ),
        Told(
            "ConnectionNotReady",
            "AppConnection stroe doesn't exist",
            "Create AppConnection stroe, or correct spec.connectionRef.name.",
            "kubectl -n {namespace} get appconnections",
            "spec.connectionRef.name",
        ),
        Cure(
            shows="wrong-app",
            edit=lambda _: {"connectionRef": {"name": "wrong-app"}},
            then="PermissionDenied",
        ),
    ),
    Mistake(
        "no-shared-identity",
        sync_of(identityRef=None),
        Told(
            "SharedIdentityRefused",
            "may not read {project}/dev:/ through the operator's shared identity",
            "Name an identity of your own in spec.identityRef",
            None,
            "spec.identityRef",
        ),
        Cure(edit=lambda _: {"identityRef": {"name": "keybearer-identity"}}),
    ),
)
