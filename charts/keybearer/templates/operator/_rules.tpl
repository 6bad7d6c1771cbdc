{{- /*
All that the operator may do with the namespaces it serves. Each line is something it does; the README's table says
what. One test holds this list, verb by verb, and another that each line is used.
*/}}
{{- define "keybearer.operatorRules" -}}
- apiGroups: [keybearer.dev]
  resources: [secretsyncs, appconnections, certificateprofiles]
  verbs: [get, list, watch, patch]
- apiGroups: [keybearer.dev]
  resources: [secretsyncs/status, appconnections/status, certificateprofiles/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [secrets, configmaps]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if .Values.operator.rolloutRestart.enabled }}
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets]
  verbs: [patch]
{{- end }}
{{- if .Values.operator.refreshMounts.enabled }}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, patch]
{{- end }}
{{- if .Values.operator.signers.certManager.enabled }}
- apiGroups: [cert-manager.io]
  resources: [certificaterequests]
  verbs: [get, list, watch]
- apiGroups: [cert-manager.io]
  resources: [certificaterequests/status]
  verbs: [patch]
{{- end }}
{{- if .Values.operator.allowServiceAccountTokens }}
- apiGroups: [""]
  resources: [serviceaccounts/token]
  verbs: [create]
{{- end }}
{{- end }}

{{- /* "true" where a grant of the shared identity asks for labels of namespaces, which the operator must then read. */}}
{{- define "keybearer.readsNamespaceLabels" -}}
{{- range .Values.operator.sharedGrants }}{{ if .namespaceLabels }}true{{ end }}{{ end }}
{{- end }}

{{- /*
What it may do beyond the namespaces that it serves: tell this cluster from others, and sign and vouch under names of its
own, certificateprofiles.keybearer.dev/NAMESPACE.NAME. Profiles come and go, so the rule names the whole domain, which is
how Kubernetes writes that for signers.
*/}}
{{- define "keybearer.operatorClusterRules" -}}
{{- $signers := .Values.operator.signers }}
{{- if include "keybearer.readsNamespaceLabels" . }}
# Their labels, for operator.sharedGrants.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
{{- else if not .Values.operator.clusterId }}
# Its UID tells this cluster from others.
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [kube-system]
  verbs: [get]
{{- end }}
{{- if $signers.certificateSigningRequests.enabled }}
- apiGroups: [certificates.k8s.io]
  resources: [certificatesigningrequests]
  verbs: [get, list, watch]
- apiGroups: [certificates.k8s.io]
  resources: [certificatesigningrequests/status]
  verbs: [patch]
# Whether the user who asks may `sign` on the profile.
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- if $signers.podCertificates.enabled }}
- apiGroups: [certificates.k8s.io]
  resources: [podcertificaterequests]
  verbs: [get, list, watch]
- apiGroups: [certificates.k8s.io]
  resources: [podcertificaterequests/status]
  verbs: [patch]
{{- end }}
{{- if $signers.trustBundles.enabled }}
- apiGroups: [certificates.k8s.io]
  resources: [clustertrustbundles]
  verbs: [list, watch, create, patch, delete]
{{- end }}
{{- $verbs := list }}
{{- if or $signers.certificateSigningRequests.enabled $signers.podCertificates.enabled }}{{ $verbs = append $verbs "sign" }}{{ end }}
{{- if $signers.trustBundles.enabled }}{{ $verbs = append $verbs "attest" }}{{ end }}
{{- if $verbs }}
- apiGroups: [certificates.k8s.io]
  resources: [signers]
  resourceNames: ["certificateprofiles.keybearer.dev/*"]
  verbs: [{{ join ", " $verbs }}]
{{- end }}
{{- end }}

{{- /*
What it may do in its own namespace: hold its Lease, keep the key of its fingerprints, and keep tokens to clean up with.
RBAC can't restrict the creation of an object by its name. Where the operator serves the namespace too, it may write its
Secrets already.
*/}}
{{- define "keybearer.operatorOwnRules" -}}
{{- $operator := .Values.operator }}
{{- if $operator.leaderElection.enabled }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "keybearer.operatorName" . }}]
  verbs: [get, patch]
{{- end }}
{{- if and $operator.namespaces (not (has .Release.Namespace $operator.namespaces)) }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ include "keybearer.fingerprintSecret" . }}]
  verbs: [get]
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ include "keybearer.operatorName" . }}-cleanup-tokens]
  verbs: [get, patch]
{{- end }}
{{- end }}

{{- /* The operator's own Secret with the key of its fingerprints: it makes it itself, and names it after the Lease. */}}
{{- define "keybearer.fingerprintSecret" -}}
{{ include "keybearer.operatorName" . }}-fingerprint-key
{{- end }}
