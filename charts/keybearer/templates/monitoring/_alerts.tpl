{{- /*
What wakes people, and only what they can do something about. Thresholds are in monitoring.prometheusRule. `namespace` is
that of the object which an alert tells of; where that is the release itself, `job` says which one of the namespace.

A job alone is no release: another namespace may have one of the same name. Metrics of objects have the object's
`namespace`, so that these are told apart by who was scraped.
*/}}
{{- define "keybearer.alerts" -}}
{{- $rule := .Values.monitoring.prometheusRule }}
{{- $job := printf "%s-metrics" (include "keybearer.operatorName" .) }}
{{- $of := printf "job=%q, namespace=%q" $job .Release.Namespace }}
{{- $ofObjects := printf "job=%q" $job }}
{{- $ours := printf "and on (job, instance) keybearer_leader{%s}" $of }}
{{- $about := printf "job: %q, namespace: %q" $job .Release.Namespace }}
{{- $serviceJob := printf "%s-metrics" (include "keybearer.serviceName" .) }}
{{- $ofService := printf "job=%q, namespace=%q" $serviceJob .Release.Namespace }}
{{- $aboutService := printf "job: %q, namespace: %q" $serviceJob .Release.Namespace }}
groups:
  - name: keybearer-operator
    rules:
      - alert: KeybearerOperatorDown
        expr: absent(up{ {{- $of -}} } == 1)
        for: 5m
        labels: {severity: critical, {{ $about }}}
        annotations:
          summary: No replica of the Keybearer operator answers.
          description: >-
            Secrets keep their last values, but nothing follows its source and no certificate is renewed. Look at the pods
            of Deployment {{ include "keybearer.operatorName" . }} in namespace {{ .Release.Namespace }}.
      - alert: KeybearerNoLeader
        expr: sum(keybearer_leader{ {{- $of -}} }) < 1
        for: 2m
        labels: {severity: critical, {{ $about }}}
        annotations:
          summary: No replica of the Keybearer operator leads.
          description: >-
            All replicas stand by. Look at Lease {{ include "keybearer.operatorName" . }} in namespace
            {{ .Release.Namespace }}, and at what the replicas log about it.
      - alert: KeybearerTwoLeaders
        expr: sum(keybearer_leader{ {{- $of -}} }) > 1
        for: 2m
        labels: {severity: critical, {{ $about }}}
        annotations:
          summary: "{{`{{ $value }}`}} replicas of the Keybearer operator say that they lead."
          description: >-
            Two operators without a Lease, or with one each, undo each other's writes. Stop all but one.
      - alert: KeybearerQueueStuck
        expr: >-
          sum(keybearer_queue_depth{ {{- $of -}} }) > 0
          unless sum(increase(keybearer_reconcile_duration_seconds_count{ {{- $of -}} }[{{ $rule.queueStuckFor }}])) > 0
        for: {{ $rule.queueStuckFor }}
        labels: {severity: critical, {{ $about }}}
        annotations:
          summary: "{{`{{ $value }}`}} objects wait, and the Keybearer operator reconciles none."
          description: >-
            Look at the log of the replica that leads, and whether the API server answers it. A restart is safe.
      - alert: KeybearerQueueSlow
        expr: >-
          histogram_quantile(0.95, sum by (le) (rate(keybearer_queue_wait_seconds_bucket{ {{- $of -}}, lane!="refresh"}[10m])))
          > 30
        for: 15m
        labels: {severity: warning, {{ $about }}}
        annotations:
          summary: Changes wait for more than 30 seconds before the Keybearer operator looks at them.
          description: >-
            One in twenty waits {{`{{ $value | humanizeDuration }}`}} or longer. Look at the CPU limit, at operator.workers,
            and at how long single reconciles take.
      - alert: KeybearerChangesLate
        expr: >-
          histogram_quantile(0.95, sum by (le) (rate(keybearer_freshness_seconds_bucket{ {{- $of -}}, updates="events"}[15m])))
          >= {{ int64 $rule.freshnessSeconds }}
        for: 15m
        labels: {severity: warning, {{ $about }}}
        annotations:
          summary: Changed values take long to reach their Secrets.
          description: >-
            One in twenty takes {{`{{ $value | humanizeDuration }}`}} or longer, though changes are heard of at once. Look at
            the waits in the queue, at calls of the service and at writes to the API server; and whether the clocks of
            service and operator agree.
      - alert: KeybearerInternalErrors
        expr: sum by (kind) (increase(keybearer_outcomes_total{ {{- $of -}}, reason="InternalError"}[15m])) > 0
        for: 5m
        labels: {severity: warning, {{ $about }}}
        annotations:
          summary: "The Keybearer operator has internal errors with {{`{{ $labels.kind }}`}} objects."
          description: >-
            The log names the place in the code and the object. Other objects aren't held up by it.
  - name: keybearer-objects
    rules:
      - alert: KeybearerNotReady
        expr: max by (kind, namespace, name) (keybearer_not_ready{ {{- $ofObjects -}} } {{ $ours }}) > 0
        for: {{ $rule.notReadyFor }}
        labels: {severity: warning}
        annotations:
          summary: "{{`{{ $labels.kind }}`}} {{`{{ $labels.namespace }}`}}/{{`{{ $labels.name }}`}} is not Ready."
          description: >-
            Its condition Ready says why and what to do: kubectl -n {{`{{ $labels.namespace }}`}} describe
            {{`{{ $labels.kind }}`}} {{`{{ $labels.name }}`}}. The last good Secret stays meanwhile.
      - alert: KeybearerServiceUnreachable
        expr: >-
          count(keybearer_not_ready{ {{- $ofObjects -}}, reason=~"ServiceUnavailable|CertificateUntrusted"} {{ $ours }}) > 0
          unless sum(increase(keybearer_source_reads_total{ {{- $of -}}, result=~"changed|unchanged"}[10m])) > 0
        for: {{ $rule.serviceUnreachableFor }}
        labels: {severity: critical, {{ $about }}}
        annotations:
          summary: The Keybearer operator reads nothing from the secrets service.
          description: >-
            {{`{{ $value }}`}} objects report ServiceUnavailable or CertificateUntrusted, and no source could be read. Is
            {{ include "keybearer.serviceUrl" . }} up, reachable from namespace {{ .Release.Namespace }}, and its
            certificate still good?
      - alert: KeybearerOrphans
        expr: >-
          sum by (kind) (keybearer_orphans_total{ {{- $of -}} })
          - (sum by (kind) (keybearer_orphans_total{ {{- $of -}} } offset 1h)
          or 0 * sum by (kind) (keybearer_orphans_total{ {{- $of -}} })) > 0
        labels: {severity: warning, {{ $about }}}
        annotations:
          summary: "Something of a deleted {{`{{ $labels.kind }}`}} was left behind."
          description: >-
            Cleaning up passed its deadline. An Event with the reason Orphaned, and a line cleanup_abandoned in the
            operator's log, name what to remove by hand.
  {{- if include "keybearer.serviceMetrics" . }}
  - name: keybearer-service
    rules:
      - alert: KeybearerServiceDown
        expr: absent(up{ {{- $ofService -}} } == 1)
        for: 5m
        labels: {severity: critical, {{ $aboutService }}}
        annotations:
          summary: No replica of the Keybearer service answers.
          description: >-
            Nothing new reaches the cluster, and no certificate is issued. Look at the pods of
            {{ include "keybearer.serviceName" . }} in namespace {{ .Release.Namespace }}.
      - alert: KeybearerServiceFails
        expr: >-
          sum(rate(keybearer_server_requests_total{ {{- $ofService -}}, status="5xx"}[10m]))
          / sum(rate(keybearer_server_requests_total{ {{- $ofService -}} }[10m])) > 0.05
        for: 10m
        labels: {severity: warning, {{ $aboutService }}}
        annotations:
          summary: "The Keybearer service fails {{`{{ $value | humanizePercentage }}`}} of its requests."
          description: >-
            Its log has a line request_failed, or one of the database, for each of them. Look at the database first.
      - alert: KeybearerAuditLinesLost
        expr: sum(increase(keybearer_server_audit_lines_lost_total{ {{- $ofService -}} }[1h])) > 0
        labels: {severity: critical, {{ $aboutService }}}
        annotations:
          summary: The Keybearer service lost lines of its audit log.
          description: >-
            The database could not take them for too long. Its log has a line audit_event_lost for each. With
            --audit-strict it refuses what it can't write down.
      - alert: KeybearerPushesLate
        expr: >-
          max by (destination) (keybearer_server_push_oldest_change_age_seconds{ {{- $ofService -}} })
          > {{ int64 $rule.pushAgeSeconds }}
        for: 5m
        labels: {severity: warning, {{ $aboutService }}}
        annotations:
          summary: "A change waits for {{`{{ $value | humanizeDuration }}`}} to be pushed to {{`{{ $labels.destination }}`}}."
          description: >-
            lastSyncMessage of the secret sync says why, and when the next attempt is: GET /api/v1/secret-syncs lists those
            of a project with their syncStatus. SecretSyncs that push show the same in their condition Ready.
  {{- end }}
  {{- if include "keybearer.backsUp" . }}
  {{- $cronJob := printf "%s-backup" (include "keybearer.fullname" .) }}
  {{- $ofBackup := printf "namespace=%q, cronjob=%q" .Release.Namespace $cronJob }}
  {{- $aboutBackup := printf "cronjob: %q, namespace: %q" $cronJob .Release.Namespace }}
  - name: keybearer-backups
    rules:
      - alert: KeybearerBackupOld
        expr: >-
          time() - (max(kube_cronjob_status_last_successful_time{ {{- $ofBackup -}} })
          or max(kube_cronjob_created{ {{- $ofBackup -}} })) > {{ mul 3600 (int64 $rule.backupHours) }}
        for: 5m
        labels: {severity: critical, {{ $aboutBackup }}}
        annotations:
          summary: "The last good backup of the Keybearer service is {{`{{ $value | humanizeDuration }}`}} old."
          description: >-
            Its Jobs fail, hang or don't begin: kubectl -n {{ .Release.Namespace }} get jobs -l
            app.kubernetes.io/component=backup, and the log of the last one's pod. What is there already stays.
      - alert: KeybearerBackupUnwatched
        expr: absent(kube_cronjob_created{ {{- $ofBackup -}} })
        for: 30m
        labels: {severity: warning, {{ $aboutBackup }}}
        annotations:
          summary: Nobody would notice if backups of the Keybearer service failed.
          description: >-
            There are no metrics of CronJob {{ $cronJob }} in namespace {{ .Release.Namespace }}: is it there, and does
            Prometheus scrape kube-state-metrics?
  {{- end }}
  - name: keybearer-certificates
    rules:
      - alert: KeybearerCertificateEndsSoon
        expr: >-
          (keybearer_certificate_not_after_timestamp_seconds{ {{- $ofObjects -}} } - time() < {{ mul 3600 (int64 $rule.certificateHoursLeft) }})
          and (keybearer_certificate_not_after_timestamp_seconds{ {{- $ofObjects -}} } - time()
          < 0.2 * (keybearer_certificate_not_after_timestamp_seconds{ {{- $ofObjects -}} }
          - keybearer_certificate_not_before_timestamp_seconds{ {{- $ofObjects -}} }))
          and (keybearer_certificate_not_after_timestamp_seconds{ {{- $ofObjects -}} } - time() > 0)
          {{ $ours }}
        for: 5m
        labels: {severity: critical}
        annotations:
          summary: "The certificate in Secret {{`{{ $labels.namespace }}`}}/{{`{{ $labels.secret }}`}} ends in {{`{{ $value | humanizeDuration }}`}}."
          description: >-
            It should have been renewed long ago. status.certificateRequests of CertificateProfile
            {{`{{ $labels.profile }}`}} says what keeps {{`{{ $labels.certificate }}`}} from it.
      - alert: KeybearerCertificateEnded
        expr: keybearer_certificate_not_after_timestamp_seconds{ {{- $ofObjects -}} } - time() <= 0 {{ $ours }}
        labels: {severity: critical}
        annotations:
          summary: "The certificate in Secret {{`{{ $labels.namespace }}`}}/{{`{{ $labels.secret }}`}} has ended."
          description: >-
            Whoever is shown it refuses the connection. status.certificateRequests of CertificateProfile
            {{`{{ $labels.profile }}`}} says what keeps {{`{{ $labels.certificate }}`}} from being renewed.
      - alert: KeybearerCertificateNotRenewed
        expr: >-
          time() > keybearer_certificate_renewal_timestamp_seconds{ {{- $ofObjects -}} }
          + 0.25 * (keybearer_certificate_not_after_timestamp_seconds{ {{- $ofObjects -}} }
          - keybearer_certificate_renewal_timestamp_seconds{ {{- $ofObjects -}} })
          {{ $ours }}
        for: 5m
        labels: {severity: warning}
        annotations:
          summary: "The certificate in Secret {{`{{ $labels.namespace }}`}}/{{`{{ $labels.secret }}`}} should have been renewed."
          description: >-
            A quarter of the time between its renewal and its end has passed. status.certificateRequests of
            CertificateProfile {{`{{ $labels.profile }}`}} says what keeps {{`{{ $labels.certificate }}`}} from it.
{{- end }}
