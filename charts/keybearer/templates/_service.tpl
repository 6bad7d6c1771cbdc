{{- /* The embedded service: its addresses and the Secrets it starts from. */}}

{{- define "keybearer.serviceHost" -}}
{{ include "keybearer.serviceName" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "keybearer.serviceUrl" -}}
{{- with .Values.operator }}
{{- if and (hasPrefix "http://" .serviceUrl) (not .allowInsecureHttp) (not (regexMatch "^http://(localhost|127[.][0-9.]+|[[]::1[]])(:|/|$)" .serviceUrl)) }}
{{- fail "operator.serviceUrl is http://, which carries secret values in clear text: use https://, or set operator.allowInsecureHttp" }}
{{- end }}
{{- end }}
{{- if .Values.operator.serviceUrl }}
{{- .Values.operator.serviceUrl }}
{{- else if .Values.embeddedService.enabled }}
{{- $port := int .Values.embeddedService.port }}
{{- printf "https://%s%s" (include "keybearer.serviceHost" .) (eq $port 443 | ternary "" (printf ":%d" $port)) }}
{{- else }}
{{- fail "operator.serviceUrl is required when embeddedService.enabled is false" }}
{{- end }}
{{- end }}

{{- /* "true" where the operator talks to the embedded service and so needs the CA that the chart knows. */}}
{{- define "keybearer.trustsEmbeddedService" -}}
{{- if and .Values.embeddedService.enabled (not .Values.operator.serviceUrl) }}true{{ end }}
{{- end }}

{{- define "keybearer.rootKeySecret" -}}
{{ default (printf "%s-root-key" (include "keybearer.serviceName" .)) .Values.embeddedService.rootKey.existingSecret }}
{{- end }}

{{- define "keybearer.adminSecret" -}}
{{ default (printf "%s-admin" (include "keybearer.serviceName" .)) .Values.embeddedService.admin.existingSecret }}
{{- end }}

{{- define "keybearer.tlsSecret" -}}
{{ default (printf "%s-tls" (include "keybearer.serviceName" .)) .Values.embeddedService.tls.existingSecret }}
{{- end }}

{{- /*
Data of a Secret of the release as it is in the cluster, as YAML; empty where there is none yet or the cluster isn't
asked (helm template). Call with (list $ "name").
*/}}
{{- define "keybearer.existingData" -}}
{{- $root := index . 0 }}
{{- with lookup "v1" "Secret" $root.Release.Namespace (index . 1) }}
{{- toYaml .data }}
{{- end }}
{{- end }}

{{- /* Not empty where a CronJob backs the embedded service up. */}}
{{- define "keybearer.backsUp" -}}
{{- if and .Values.embeddedService.enabled .Values.embeddedService.backup.enabled }}true{{ end }}
{{- end }}
