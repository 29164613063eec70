{{/* Parts that the pods of all components share. */}}

{{- define "cadastre.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "cadastre.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{/* An environment variable. Call with (list NAME VALUE). */}}
{{- define "cadastre.variable" -}}
- name: {{ index . 0 }}
  value: {{ index . 1 | toString | quote }}
{{- end }}

{{/* Settings of every process. The secrets are files, because child processes and inspection tools see the environment. */}}
{{- define "cadastre.commonVariables" -}}
{{ include "cadastre.variable" (list "CADASTRE_PUBLIC_URL" .Values.publicUrl) }}
{{ include "cadastre.variable" (list "CADASTRE_DATA" "/data") }}
{{ include "cadastre.variable" (list "CADASTRE_ENCRYPTION_KEY_FILE" "/secrets/encryption-key") }}
{{- if .Values.postgres.trial.enabled }}
- name: POSTGRES_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: postgres-password
{{ include "cadastre.variable" (list "DATABASE_URL" (printf "postgresql://cadastre:$(POSTGRES_PASSWORD)@%s-postgres:5432/cadastre" (include "cadastre.fullname" .))) }}
{{- else }}
{{ include "cadastre.variable" (list "DATABASE_URL_FILE" "/secrets/database-url") }}
{{- if .Values.postgres.pooler.enabled }}
{{ include "cadastre.variable" (list "DATABASE_DIRECT_URL_FILE" "/secrets/database-direct-url") }}
{{- end }}
{{- end }}
{{- include "cadastre.vaultVariables" . }}
{{- range $name, $value := .Values.settings }}
{{ include "cadastre.variable" (list $name $value) }}
{{- end }}
{{- if .Values.tracing.endpoint }}
{{ include "cadastre.variable" (list "OTEL_EXPORTER_OTLP_ENDPOINT" .Values.tracing.endpoint) }}
{{ include "cadastre.variable" (list "OTEL_TRACES_SAMPLER" .Values.tracing.sampler) }}
{{ include "cadastre.variable" (list "OTEL_TRACES_SAMPLER_ARG" .Values.tracing.samplerArg) }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Settings of the Vault that unwraps the encryption key. */}}
{{- define "cadastre.vaultVariables" -}}
{{- with .Values.vault }}
{{- if .address }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_ADDRESS" .address) }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_NAMESPACE" .namespace) }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_TRANSIT_MOUNT" .transitMount) }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_TRANSIT_KEY" .transitKey) }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_AUTH" .auth) }}
{{- if ne .auth "token" }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_AUTH_MOUNT" (default .auth .authMount)) }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_ROLE" .role) }}
{{- end }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_CREDENTIAL_FILE" "/vault/credential") }}
{{- if .hasCa }}
{{ include "cadastre.variable" (list "CADASTRE_VAULT_CA" "/vault/ca.crt") }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "cadastre.fileVariables" -}}
{{- $s3 := .Values.files.s3 }}
{{- if .Values.files.trial.enabled }}
{{ include "cadastre.variable" (list "CADASTRE_S3_BUCKET" "cadastre") }}
{{ include "cadastre.variable" (list "CADASTRE_S3_ENDPOINT" (printf "http://%s-s3:8080" (include "cadastre.fullname" .))) }}
{{ include "cadastre.variable" (list "CADASTRE_S3_PATH_STYLE" "true") }}
{{ include "cadastre.s3Credentials" .Values.existingSecret }}
{{- else if $s3.bucket }}
{{ include "cadastre.variable" (list "CADASTRE_S3_BUCKET" $s3.bucket) }}
{{- with $s3.endpoint }}
{{ include "cadastre.variable" (list "CADASTRE_S3_ENDPOINT" .) }}
{{- end }}
{{- with $s3.region }}
{{ include "cadastre.variable" (list "CADASTRE_S3_REGION" .) }}
{{- end }}
{{- with $s3.prefix }}
{{ include "cadastre.variable" (list "CADASTRE_S3_PREFIX" .) }}
{{- end }}
{{- if $s3.pathStyle }}
{{ include "cadastre.variable" (list "CADASTRE_S3_PATH_STYLE" "true") }}
{{- end }}
{{- with $s3.existingSecret }}
{{ include "cadastre.s3Credentials" . }}
{{- end }}
{{- else }}
{{ include "cadastre.variable" (list "CADASTRE_BLOBS" "/blobs") }}
{{- end }}
{{- end }}

{{- define "cadastre.s3Credentials" -}}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: access-key-id
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: secret-access-key
{{- end }}

{{- define "cadastre.kafkaVariables" -}}
{{- $kafka := .Values.kafka }}
{{- if $kafka.trial.enabled }}
{{ include "cadastre.variable" (list "KAFKA_BROKERS" (printf "%s-kafka:9092" (include "cadastre.fullname" .))) }}
{{- else }}
{{ include "cadastre.variable" (list "KAFKA_BROKERS" (join "," $kafka.brokers)) }}
{{- end }}
{{ include "cadastre.variable" (list "CADASTRE_TOPIC_PREFIX" $kafka.topicPrefix) }}
{{- if $kafka.tls.enabled }}
{{ include "cadastre.variable" (list "KAFKA_TLS" "on") }}
{{- if $kafka.tls.existingSecret }}
{{ include "cadastre.variable" (list "KAFKA_TLS_CA" "/kafka-tls/ca.crt") }}
{{- if $kafka.tls.clientCertificate }}
{{ include "cadastre.variable" (list "KAFKA_TLS_CERT" "/kafka-tls/tls.crt") }}
{{ include "cadastre.variable" (list "KAFKA_TLS_KEY" "/kafka-tls/tls.key") }}
{{- end }}
{{- end }}
{{- end }}
{{- with $kafka.sasl }}
{{- if .mechanism }}
{{ include "cadastre.variable" (list "KAFKA_SASL_MECHANISM" .mechanism) }}
{{- if eq .mechanism "OAUTHBEARER" }}
{{ include "cadastre.variable" (list "KAFKA_SASL_TOKEN_URL" .tokenUrl) }}
{{ include "cadastre.variable" (list "KAFKA_SASL_CLIENT_ID" .clientId) }}
{{ include "cadastre.variable" (list "KAFKA_SASL_CLIENT_SECRET_FILE" "/secrets/kafka-sasl-client-secret") }}
{{- with .scope }}
{{ include "cadastre.variable" (list "KAFKA_SASL_SCOPE" .) }}
{{- end }}
{{- else }}
{{ include "cadastre.variable" (list "KAFKA_SASL_USERNAME" .username) }}
{{ include "cadastre.variable" (list "KAFKA_SASL_PASSWORD_FILE" "/secrets/kafka-sasl-password") }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of the identity provider, for gateways. Empty values keep the defaults of the server. */}}
{{- define "cadastre.oidcVariables" -}}
{{- with .Values.oidc }}
{{- if .issuer }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_ISSUER" .issuer) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_CLIENT_ID" .clientId) }}
{{- if .hasClientSecret }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_CLIENT_SECRET_FILE" "/secrets/oidc-client-secret") }}
{{- end }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_NAME" .name) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_SCOPES" .scopes) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_CREATE_USERS" (ternary "on" "off" .createUsers)) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_ALLOWED_DOMAINS" (join "," .allowedDomains)) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_ALLOWED_GROUPS" (join "," .allowedGroups)) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_GROUPS_CLAIM" .groupsClaim) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_USERNAME_CLAIM" .usernameClaim) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_EXTERNAL_ID_CLAIM" .externalIdClaim) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_MAP_GROUPS" (ternary "on" "off" .mapGroups)) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_MAPPED_GROUPS" (join "," .mappedGroups)) }}
{{ include "cadastre.variable" (list "CADASTRE_OIDC_PROVES_TWO_FACTOR" (ternary "on" "off" .provesTwoFactor)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The name changes with the certificates, so that a change restarts the projector. */}}
{{- define "cadastre.timeStampConfig" -}}
{{ include "cadastre.fullname" . }}-time-stamps-{{ .Values.timeStamps.ca | sha256sum | trunc 8 }}
{{- end }}

{{/* Settings of the time stamp authority, for the projector. */}}
{{- define "cadastre.timeStampVariables" -}}
{{- with .Values.timeStamps }}
{{- if .url }}
{{ include "cadastre.variable" (list "CADASTRE_TIME_STAMP_URL" .url) }}
{{ include "cadastre.variable" (list "CADASTRE_TIME_STAMP_CA" "/time-stamps/ca.pem") }}
{{ include "cadastre.variable" (list "CADASTRE_TIME_STAMP_POLICY" .policy) }}
{{ include "cadastre.variable" (list "CADASTRE_TIME_STAMP_HOURS" .hours) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of the mail server, for gateways and projectors. */}}
{{- define "cadastre.smtpVariables" -}}
{{- with .Values.smtp }}
{{- if .from }}
{{ include "cadastre.variable" (list "CADASTRE_SMTP_URL_FILE" "/secrets/smtp-url") }}
{{ include "cadastre.variable" (list "CADASTRE_SMTP_FROM" .from) }}
{{ include "cadastre.variable" (list "CADASTRE_SMTP_TIMEOUT_SECONDS" .timeoutSeconds) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Mounts of every process. */}}
{{- define "cadastre.commonMounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
- name: secrets
  mountPath: /secrets
  readOnly: true
{{- if .Values.vault.address }}
- name: vault
  mountPath: /vault
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Volumes of every process. Call with (list . KEYS), the keys of existingSecret that the process needs. */}}
{{- define "cadastre.commonVolumes" -}}
{{- $root := index . 0 }}
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
- name: secrets
  secret:
    secretName: {{ $root.Values.existingSecret }}
    defaultMode: 0440
    items:
      {{- range concat (list "encryption-key") (ternary (list) (list "database-url") $root.Values.postgres.trial.enabled) (ternary (list "database-direct-url") (list) $root.Values.postgres.pooler.enabled) (index . 1) }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
{{- with $root.Values.vault }}
{{- if .address }}
- name: vault
  projected:
    defaultMode: 0440
    sources:
      {{- if eq .auth "kubernetes" }}
      - serviceAccountToken:
          path: credential
          audience: {{ .audience | quote }}
          expirationSeconds: 600
      {{- end }}
      {{- if .existingSecret }}
      - secret:
          name: {{ .existingSecret }}
          items:
            {{- if ne .auth "kubernetes" }}
            - key: credential
              path: credential
            {{- end }}
            {{- if .hasCa }}
            - key: ca.crt
              path: ca.crt
            {{- end }}
      {{- end }}
{{- end }}
{{- end }}
{{- with $root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Spreads the pods of a component over the nodes. Call with (list . COMPONENT). */}}
{{- define "cadastre.scheduling" -}}
{{- $component := index (index . 0).Values (index . 1) }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "cadastre.selector" . | nindent 8 }}
{{- with $component.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Identity and images of a pod. */}}
{{- define "cadastre.podIdentity" -}}
serviceAccountName: {{ include "cadastre.serviceAccount" . }}
# No process uses the API of Kubernetes.
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
Probes. The startup may wait for Postgres and for a migration, so it has five minutes. Call with (list SCHEME).
A database that is away fails /readyz and not /healthz, because a restart would not help.
*/}}
{{- define "cadastre.probes" -}}
startupProbe:
  httpGet:
    path: /healthz
    port: http
    scheme: {{ . }}
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 150
livenessProbe:
  httpGet:
    path: /healthz
    port: http
    scheme: {{ . }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /readyz
    port: http
    scheme: {{ . }}
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}
