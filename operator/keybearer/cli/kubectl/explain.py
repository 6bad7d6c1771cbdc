"""`kubectl keybearer explain`: why an object is in its state, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keybearer.cli.explaining import explain_object, print_explanation
from keybearer.cli.kubectl.cluster import Cluster, Context, Kubeconfig, Namespace, Place, Words, run
from keybearer.cli.kubectl.targets import one_target_of
from keybearer.cli.output import Output, OutputFormat

if TYPE_CHECKING:
    from keybearer.cli.explanation_parts import Explanation

__all__ = ["explain"]


def explain(
    words: Words = None,
    namespace: Namespace = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Say why an object is in its state, and what to do.

    Says what KIND NAME or KIND/NAME reads and writes, its state, what is wrong, and what to do next.

    Reads the object and the Secrets that it names with your rights; shows names of keys, never values.
    """
    target = one_target_of(words or [])

    async def look(cluster: Cluster) -> Explanation:
        from keybearer.controllers.kinds import RESOURCES
        from keybearer.kube.resources import ObjectKey

        key = ObjectKey(cluster.namespace, target.name or "")
        return await explain_object(cluster.gateway, RESOURCES[target.kind], key)

    print_explanation(run(Place(kubeconfig, context, namespace), look), output)
