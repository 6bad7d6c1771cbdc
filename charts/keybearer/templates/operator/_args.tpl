{{- /* Arguments of `keybearer operator`, as a YAML list. */}}
{{- define "keybearer.operatorArgs" -}}
{{- $config := "/etc/keybearer/config" }}
{{- $args := list "operator" "--service-url" (include "keybearer.serviceUrl" .) }}
{{- if include "keybearer.trustsEmbeddedService" . }}
{{- $args = concat $args (list "--service-ca-file" "/etc/keybearer/service-ca/ca.crt") }}
{{- else if .Values.operator.serviceCaBundle }}
{{- $args = concat $args (list "--service-ca-file" (printf "%s/service-ca.crt" $config)) }}
{{- end }}
{{- range .Values.destinationsFrom }}{{ $args = concat $args (list "--destinations-from" .) }}{{ end }}
{{- with .Values.operator }}
{{- range uniq .namespaces }}{{ $args = concat $args (list "--namespace" .) }}{{ end }}
{{- range .allowServiceUrls }}{{ $args = concat $args (list "--allow-service-url" .) }}{{ end }}
{{- range .allowTargetTypes }}{{ $args = concat $args (list "--allow-target-type" .) }}{{ end }}
{{- if .clusterId }}{{ $args = concat $args (list "--cluster-id" .clusterId) }}{{ end }}
{{- if .allowInsecureHttp }}{{ $args = append $args "--allow-insecure-http" }}{{ end }}
{{- if .sharedIdentity.existingSecret }}{{ $args = concat $args (list "--identity-dir" "/etc/keybearer/identity") }}{{ end }}
{{- if .sharedGrants }}{{ $args = concat $args (list "--shared-grants" (printf "%s/shared-grants.yaml" $config)) }}{{ end }}
{{- $args = concat $args (list "--workers" (toString .workers) "--lease-namespace" $.Release.Namespace) }}
{{- if .leaderElection.enabled }}
{{- $args = concat $args (list "--lease-name" (include "keybearer.operatorName" $)) }}
{{- else if gt (int .replicas) 1 }}
{{- fail "operator.replicas must be at most 1 when operator.leaderElection.enabled is false" }}
{{- else }}
{{- $args = append $args "--no-leader-election" }}
{{- end }}
{{- $args = concat $args (list "--metrics-listen" "0.0.0.0:8081" "--log-format" .log.format "--log-level" .log.level) }}
{{- $args = concat $args .extraArgs }}
{{- end }}
{{- toYaml $args }}
{{- end }}
