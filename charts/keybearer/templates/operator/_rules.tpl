{{- /*
All that the operator may do with the namespaces it serves. Each line is something it does; the README's table says
what. A test holds this list, verb by verb.
*/}}
{{- define "keybearer.operatorRules" -}}
- apiGroups: [keybearer.dev]
  resources: [secretsyncs, appconnections]
  verbs: [get, list, watch, patch]
- apiGroups: [keybearer.dev]
  resources: [secretsyncs/status, appconnections/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [secrets, configmaps]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments, statefulsets, daemonsets]
  verbs: [get, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- if .Values.operator.allowServiceAccountTokens }}
- apiGroups: [""]
  resources: [serviceaccounts/token]
  verbs: [create]
{{- end }}
{{- end }}

{{- /* The operator's own Secret with the key of its fingerprints: it makes it itself, and names it after the Lease. */}}
{{- define "keybearer.fingerprintSecret" -}}
{{ include "keybearer.operatorName" . }}-fingerprint-key
{{- end }}
