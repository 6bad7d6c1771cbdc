{{- /* What all pods share. The Pod Security Standard "restricted", and a read-only root file system. */}}

{{- define "keybearer.podSecurityContext" -}}
runAsNonRoot: true
{{- range $name := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- if hasKey $.Values.podSecurity $name }}
{{ $name }}: {{ get $.Values.podSecurity $name | int64 }}
{{- end }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
{{- with .Values.podSecurity.seLinuxLevel }}
seLinuxOptions: {level: {{ . | quote }}}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "keybearer.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* Labels of a pod. Call with (list $ "operator" labels); nobody changes what the workload selects. */}}
{{- define "keybearer.podLabels" -}}
{{- $root := index . 0 -}}
{{- $own := include "keybearer.selectorLabels" (list $root (index . 1)) | fromYaml }}
{{- merge $own (include "keybearer.labels" $root | fromYaml) (index . 2) | toYaml }}
{{- end }}

{{- /* Where pods may run. Call with (list $ "operator" .Values.operator). */}}
{{- define "keybearer.placement" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- with index . 2 }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $several := gt (int .replicas) 1 }}
{{- if .affinity }}
affinity:
  {{- toYaml .affinity | nindent 2 }}
{{- else if $several }}
affinity:
  # Different nodes where there are some.
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "keybearer.selectorLabels" (list $root $component) | nindent 14 }}
{{- end }}
{{- $zones := dict "maxSkew" 1 "topologyKey" "topology.kubernetes.io/zone" "whenUnsatisfiable" "ScheduleAnyway" }}
{{- with .topologySpreadConstraints | default ($several | ternary (list $zones) list) }}
topologySpreadConstraints:
  {{- range $constraint := . }}
  {{- if not (hasKey $constraint "labelSelector") }}
  {{- $ours := include "keybearer.selectorLabels" (list $root $component) | fromYaml }}
  {{- $constraint = merge (dict "labelSelector" (dict "matchLabels" $ours)) $constraint }}
  {{- end }}
  - {{- toYaml $constraint | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Evict one of several at a time. Call with (list $ "operator" .Values.operator). */}}
{{- define "keybearer.disruptionBudget" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $part := index . 2 }}
{{- if and $part.podDisruptionBudget.enabled (gt (int $part.replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "keybearer.metadata" (dict "root" $root "name" (printf "%s-%s" (include "keybearer.fullname" $root) $component) "component" $component) | nindent 2 }}
spec:
  maxUnavailable: 1
  # One that doesn't work anyway holds no node back.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "keybearer.selectorLabels" (list $root $component) | nindent 6 }}
{{- end }}
{{- end }}

{{- /* A probe: the request, and when it is made. Call with (list "startup" request .probes). */}}
{{- define "keybearer.probe" -}}
{{ index . 0 }}Probe:
  {{- merge (dict "httpGet" (index . 1)) (get (index . 2) (index . 0)) | toYaml | nindent 2 }}
{{- end }}

{{- /* Where the pods of hooks and tests run: where the operator does. */}}
{{- define "keybearer.jobPlacement" -}}
{{- with .Values.operator.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
