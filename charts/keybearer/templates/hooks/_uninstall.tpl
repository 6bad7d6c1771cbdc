{{- define "keybearer.uninstallName" -}}
{{ include "keybearer.fullname" . }}-uninstall
{{- end }}

{{- /* Annotations of what exists for the time of the hook only; the weight says what comes first. */}}
{{- define "keybearer.uninstallHook" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
