{{- /* Names and labels. */}}

{{- define "keybearer.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* 40 characters at most: the longest suffix and a StatefulSet's hash still fit into 63. */}}
{{- define "keybearer.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := include "keybearer.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "keybearer.operatorName" -}}
{{ include "keybearer.fullname" . }}-operator
{{- end }}

{{- /* Not empty where the embedded service serves metrics. */}}
{{- define "keybearer.serviceMetrics" -}}
{{- if and .Values.embeddedService.enabled (or .Values.embeddedService.metrics.enabled .Values.monitoring.serviceMonitor.enabled) }}true{{ end }}
{{- end }}

{{- define "keybearer.serviceName" -}}
{{ include "keybearer.fullname" . }}-service
{{- end }}

{{- /* Name of a cluster-wide object: two releases of one name in two namespaces stay apart. */}}
{{- define "keybearer.clusterName" -}}
{{ .Release.Namespace }}-{{ include "keybearer.fullname" . }}
{{- end }}

{{- define "keybearer.operatorServiceAccount" -}}
{{- with .Values.operator.serviceAccount }}
{{- if .create }}{{ default (include "keybearer.operatorName" $) .name }}{{ else }}{{ required "operator.serviceAccount.name is required when operator.serviceAccount.create is false" .name }}{{ end }}
{{- end }}
{{- end }}

{{- define "keybearer.serviceServiceAccount" -}}
{{- with .Values.embeddedService.serviceAccount }}
{{- if .create }}{{ default (include "keybearer.serviceName" $) .name }}{{ else }}{{ required "embeddedService.serviceAccount.name is required when embeddedService.serviceAccount.create is false" .name }}{{ end }}
{{- end }}
{{- end }}

{{- define "keybearer.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/name" (include "keybearer.name" .)
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/part-of" "keybearer" }}
{{- merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{- /*
The inside of `metadata`. Call with a dict: root, name; component, labels and annotations if there are any; namespace
where it isn't the release's, and clusterWide for what lives in none. What the chart says itself wins over values.
*/}}
{{- define "keybearer.metadata" -}}
name: {{ .name }}
{{- if not .clusterWide }}
namespace: {{ default .root.Release.Namespace .namespace }}
{{- end }}
labels:
  {{- $own := include "keybearer.labels" .root | fromYaml }}
  {{- with .component }}{{ $_ := set $own "app.kubernetes.io/component" . }}{{ end }}
  {{- merge $own (default dict .labels) | toYaml | nindent 2 }}
{{- with merge dict (default dict .annotations) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Never changes over the life of a release: selectors are immutable. Call with (list $ "operator"). */}}
{{- define "keybearer.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "keybearer.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "keybearer.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}
