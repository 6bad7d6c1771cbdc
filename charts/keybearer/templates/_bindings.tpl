{{- /*
A role and who has it, by one name. Call with a dict: root, name, component, rules (YAML), account; namespace for a Role
elsewhere than in the release's namespace, clusterWide for a ClusterRole; accountNamespace where it isn't the release's;
annotations.
*/}}
{{- define "keybearer.roleAndBinding" -}}
{{- $kind := .clusterWide | ternary "ClusterRole" "Role" }}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  {{- include "keybearer.metadata" . | nindent 2 }}
rules:
  {{- .rules | trim | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  {{- include "keybearer.metadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ default .root.Release.Namespace .accountNamespace }}
---
{{ end }}
