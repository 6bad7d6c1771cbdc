"""The token with which the service reviews tokens of ServiceAccounts: how to make one, and when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from keybearer.base.token_claims import claims_of, end_of

__all__ = ["HOW_TO_MAKE", "OWN_API", "warnings_about"]

OWN_API: Final = "https://kubernetes.default.svc"
"""Where pods reach the API server of their cluster, and where a service of the chart may review tokens itself."""
HOW_TO_MAKE: Final = """Make a reviewer's token in the cluster of the ServiceAccounts:
  kubectl -n kube-system create serviceaccount keybearer-reviewer
  kubectl create clusterrolebinding keybearer-reviewer --clusterrole=system:auth-delegator \
--serviceaccount=kube-system:keybearer-reviewer
  kubectl -n kube-system create token keybearer-reviewer --duration=8760h > reviewer-token"""
"""The ClusterRole lets it create TokenReviews. An API server may shorten the duration."""
_SOON: Final = timedelta(days=30)


def warnings_about(token: str, now: datetime) -> Iterator[str]:
    """Yield what is wrong with a reviewer's token, as far as it says itself: that it has ended, or ends soon."""
    try:
        ends = end_of(claims_of(token))
    except ValueError:
        return
    if ends is None or ends - now > _SOON:
        return
    word = "ends" if ends > now else "ended"
    yield (
        f"The reviewer's token {word} on {ends.date()}; logins fail from then on. Many API servers shorten "
        "--duration. Replace it before then: keybearer identities kubernetes-auth update IDENTITY "
        "--reviewer-token-file FILE"
    )
