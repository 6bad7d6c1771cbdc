{{- /* The service's pod: of a StatefulSet with a volume for SQLite, of a Deployment without one for PostgreSQL. */}}

{{- define "keybearer.servicePod" -}}
{{- $service := .Values.embeddedService -}}
{{- include "keybearer.checkMemory" (list "embeddedService.resources" $service.resources) -}}
metadata:
  labels:
    {{- include "keybearer.podLabels" (list . "service" $service.podLabels) | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-container: service
    {{- with $service.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "keybearer.serviceServiceAccount" . }}
  automountServiceAccountToken: {{ $service.tokenReviews.enabled }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $service.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "keybearer.podSecurityContext" . | nindent 4 }}
  {{- with include "keybearer.placement" (list . "service" $service) | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: service
      image: {{ include "keybearer.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [keybearer]
      args:
        - serve
        - --data-dir
        # A directory inside the volume, so that the service sets its mode itself.
        - /var/lib/keybearer/data
        - --listen
        - 0.0.0.0:8443
        - --probe-listen
        - 0.0.0.0:8081
        - --max-connections-per-address
        - {{ $service.connectionsPerAddress | quote }}
        - --tls-cert
        - /etc/keybearer/tls/tls.crt
        - --tls-key
        - /etc/keybearer/tls/tls.key
        - --root-key-file
        - /etc/keybearer/root-key/root.key
        - --admin-dir
        - /etc/keybearer/admin
        {{- if $service.database.existingSecret }}
        - --database-url-file
        - /etc/keybearer/database/url
        {{- end }}
        {{- if $service.tokenReviews.enabled }}
        - --service-account-dir
        - /var/run/secrets/kubernetes.io/serviceaccount
        {{- end }}
        {{- range $service.allowOutbound }}
        - --allow-outbound
        - {{ . | quote }}
        {{- end }}
        {{- range .Values.destinationsFrom }}
        - --destinations-from
        - {{ . | quote }}
        {{- end }}
        {{- with $service.publicUrl }}
        - --public-url
        - {{ . | quote }}
        {{- end }}
        {{- if include "keybearer.serviceMetrics" . }}
        - --metrics-listen
        - 0.0.0.0:9090
        {{- end }}
        - --log-format
        - {{ $service.log.format }}
        - --log-level
        - {{ $service.log.level }}
        {{- with $service.extraArgs }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if or $service.database.ca.existingSecret $service.extraEnv }}
      env:
        {{- if $service.database.ca.existingSecret }}
        # What the URL says itself wins.
        - {name: PGSSLMODE, value: verify-full}
        - {name: PGSSLROOTCERT, value: /etc/keybearer/database-ca/ca.crt}
        {{- end }}
        {{- with $service.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      securityContext:
        {{- include "keybearer.containerSecurityContext" . | nindent 8 }}
      ports:
        - name: https
          containerPort: 8443
        # Apart, so that who fills the other has nobody restart the service. Of the node alone: no Service leads here.
        - name: probes
          containerPort: 8081
        {{- if include "keybearer.serviceMetrics" . }}
        - name: metrics
          containerPort: 9090
        {{- end }}
      {{- include "keybearer.probe" (list "startup" (dict "path" "/api/status" "port" "probes") $service.probes) | nindent 6 }}
      {{- include "keybearer.probe" (list "liveness" (dict "path" "/api/status" "port" "probes") $service.probes) | nindent 6 }}
      {{- include "keybearer.probe" (list "readiness" (dict "path" "/api/status" "port" "probes") $service.probes) | nindent 6 }}
      resources:
        {{- toYaml $service.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/keybearer}
        - {name: tmp, mountPath: /tmp}
        - {name: root-key, mountPath: /etc/keybearer/root-key, readOnly: true}
        - {name: admin, mountPath: /etc/keybearer/admin, readOnly: true}
        - {name: tls, mountPath: /etc/keybearer/tls, readOnly: true}
        {{- if $service.database.existingSecret }}
        - {name: database, mountPath: /etc/keybearer/database, readOnly: true}
        {{- end }}
        {{- if $service.database.ca.existingSecret }}
        - {name: database-ca, mountPath: /etc/keybearer/database-ca, readOnly: true}
        {{- end }}
        {{- with $service.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {sizeLimit: 64Mi}
    - name: root-key
      secret:
        secretName: {{ include "keybearer.rootKeySecret" . }}
        # With the pod's fsGroup this is 0440, root:65532.
        defaultMode: 0400
        items: [{key: {{ $service.rootKey.key }}, path: root.key}]
    - name: admin
      secret:
        secretName: {{ include "keybearer.adminSecret" . }}
        defaultMode: 0400
        items: [{key: clientId, path: clientId}, {key: clientSecret, path: clientSecret}]
    - name: tls
      secret:
        secretName: {{ include "keybearer.tlsSecret" . }}
        defaultMode: 0400
        items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]
    {{- if $service.database.existingSecret }}
    # The lock of the process, and nothing that outlives it.
    - name: data
      emptyDir: {sizeLimit: 64Mi}
    - name: database
      secret:
        secretName: {{ $service.database.existingSecret }}
        defaultMode: 0400
        items: [{key: {{ $service.database.key }}, path: url}]
    {{- else if $service.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ $service.persistence.existingClaim }}
    {{- end }}
    {{- with $service.database.ca }}
    {{- if .existingSecret }}
    - name: database-ca
      secret:
        secretName: {{ .existingSecret }}
        items: [{key: {{ .key }}, path: ca.crt}]
    {{- end }}
    {{- end }}
    {{- with $service.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
