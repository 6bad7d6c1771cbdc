from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.signers.naming import bundle_name, profile_of_signer, signer_name
from keybearer.kube.resources import ObjectKey
from support.rows import each_row

_LABEL = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)


def test_a_signer_is_named_after_namespace_and_profile() -> None:
    assert signer_name(ObjectKey("team-a", "web")) == "certificateprofiles.keybearer.dev/team-a.web"


@given(namespace=_LABEL, name=st.lists(_LABEL, min_size=1, max_size=4).map(".".join))
def test_the_name_leads_back_to_the_profile_whatever_dots_it_has(namespace: str, name: str) -> None:
    profile = ObjectKey(namespace, name)

    assert profile_of_signer(signer_name(profile)) == profile


@each_row(
    "signer",
    [
        "",
        "kubernetes.io/kube-apiserver-client",
        "certificateprofiles.keybearer.dev",
        "certificateprofiles.keybearer.dev/",
        "certificateprofiles.keybearer.dev/web",
        "certificateprofiles.keybearer.dev/team-a.",
        "certificateprofiles.keybearer.dev/.web",
        "certificateprofiles.keybearer.dev/team-a.web/more",
        "certificateprofiles.keybearer.dev/team-a.Web",
        "certificateprofiles.keybearer.dev/../secrets",
        "certificateprofiles.keybearer.dev.example.com/team-a.web",
        "xcertificateprofiles.keybearer.dev/team-a.web",
    ],
)
def test_other_names_are_no_signers_of_ours(signer: str) -> None:
    assert profile_of_signer(signer) is None


def test_a_bundle_has_the_name_of_its_signer_as_prefix_with_colons() -> None:
    name = bundle_name(ObjectKey("team-a", "web"), "0B5C6F9E-58d1")

    assert name == "certificateprofiles.keybearer.dev:team-a.web:0b5c6f9e-58d1"
