{{- /* DNS, and the API server, which no selector finds: any host, at its ports. */}}
{{- define "keybearer.basicEgress" -}}
- ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - {port: {{ . }}, protocol: UDP}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end }}

{{- /* The services that the operator may speak to: the embedded one's pods, others by the ports of their URLs. */}}
{{- define "keybearer.egressToService" -}}
{{- $urls := .Values.operator.allowServiceUrls }}
{{- if include "keybearer.trustsEmbeddedService" . }}
- to:
    - podSelector:
        matchLabels:
          {{- include "keybearer.selectorLabels" (list . "service") | nindent 10 }}
  ports:
    - {port: 8443, protocol: TCP}
{{- else }}
{{- $urls = prepend $urls (include "keybearer.serviceUrl" .) }}
{{- end }}
{{- $ports := list }}
{{- range $urls }}
{{- $parts := urlParse . }}
{{- $named := regexFind ":[0-9]+$" $parts.host | trimPrefix ":" }}
{{- $ports = append $ports ($named | default (eq $parts.scheme "http" | ternary "80" "443")) }}
{{- end }}
{{- with uniq $ports }}
- ports:
    {{- range . }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end }}
{{- end }}
