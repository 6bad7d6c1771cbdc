{{- /* Values that contradict each other, or with which no pod can start. */}}

{{- define "keybearer.checkOperator" -}}
{{- with .Values.operator }}
{{- if and .serviceUrl $.Values.embeddedService.enabled }}
{{- fail "operator.serviceUrl is set while embeddedService.enabled is true, so that the embedded service would run unused: set embeddedService.enabled to false, or leave operator.serviceUrl empty" }}
{{- end }}
{{- if and .sharedIdentity.existingSecret (not .sharedGrants) }}
{{- fail "operator.sharedIdentity.existingSecret is set without operator.sharedGrants, so that nobody may use it: list in operator.sharedGrants who may, or leave it empty" }}
{{- end }}
{{- if and .sharedGrants (not .sharedIdentity.existingSecret) }}
{{- fail "operator.sharedGrants is set without operator.sharedIdentity.existingSecret, so that there is no identity to grant: name its Secret, or remove the grants" }}
{{- end }}
{{- with .signers.certManager }}
{{- if and .approver.name (not .enabled) }}
{{- fail "operator.signers.certManager.approver.name is set while operator.signers.certManager.enabled is false: set enabled to true, or leave the name empty" }}
{{- end }}
{{- end }}
{{- end }}
{{- include "keybearer.checkMemory" (list "operator.resources" .Values.operator.resources) }}
{{- end }}

{{- /* A limit under 64 MiB: the programs are killed before they have loaded their modules. */}}
{{- define "keybearer.checkMemory" -}}
{{- $memory := dig "limits" "memory" "" (index . 1) | toString }}
{{- if regexMatch "^([0-9]{1,7}|[0-9]+([.][0-9]+)?m|[0-9]{1,4}([.][0-9]+)?(k|Ki)|([0-9]|[1-5][0-9]|6[0-3])([.][0-9]+)?(M|Mi))$" $memory }}
{{- fail (printf "%s.limits.memory is %s, with which the program is killed before it has started: give it 64Mi or more; %s" (index . 0) $memory "values.yaml has what it was measured with") }}
{{- end }}
{{- end }}
