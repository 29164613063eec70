{{/* The name of an object of this release: the release's name, with the chart's unless the release has it already. */}}
{{- define "cadastre.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels that select the pods of one component. Call with (list . "gateway"). */}}
{{- define "cadastre.selector" -}}
app.kubernetes.io/name: {{ (index . 0).Chart.Name }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "cadastre.labels" -}}
{{ include "cadastre.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end }}

{{- define "cadastre.serviceAccount" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}
{{- else if .Values.serviceAccount.create }}{{ include "cadastre.fullname" . }}
{{- else }}default
{{- end }}
{{- end }}

{{- define "cadastre.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "cadastre.hasKafka" -}}
{{- if or .Values.kafka.brokers .Values.kafka.trial.enabled }}true{{ end }}
{{- end }}

{{/* Whether states and other files are in a volume that the pods share. */}}
{{- define "cadastre.hasVolume" -}}
{{- if not (or .Values.files.s3.bucket .Values.files.trial.enabled) }}true{{ end }}
{{- end }}

{{- define "cadastre.filesClaim" -}}
{{ .Values.files.volume.existingClaim | default (printf "%s-files" (include "cadastre.fullname" .)) }}
{{- end }}

{{/* Refuses values that contradict each other and that a JSON schema describes badly. */}}
{{- define "cadastre.validate" -}}
{{- with .Values }}
{{- if and .kafka.brokers .kafka.trial.enabled }}{{ fail "kafka.brokers and kafka.trial.enabled are both set; remove one of them" }}{{ end }}
{{- if and .oidc.issuer (not .oidc.clientId) }}{{ fail "oidc.issuer is set, so oidc.clientId is missing" }}{{ end }}
{{- if and .timeStamps.url (not .timeStamps.ca) }}{{ fail "timeStamps.url is set, so timeStamps.ca is missing" }}{{ end }}
{{- if and .vault.address (ne .vault.auth "token") (not .vault.role) }}{{ fail "vault.address is set, so vault.role is missing" }}{{ end }}
{{- if and .vault.address (or (ne .vault.auth "kubernetes") .vault.hasCa) (not .vault.existingSecret) }}{{ fail "vault.auth or vault.hasCa needs a secret, so vault.existingSecret is missing" }}{{ end }}
{{- if and .executor.enabled (semverCompare "<1.33-0" $.Capabilities.KubeVersion.Version) }}{{ fail (printf "executor.enabled is true, but executors need user namespaces, which Kubernetes has by default from 1.33 on; this cluster has %s" $.Capabilities.KubeVersion.Version) }}{{ end }}
{{- if and .executor.enabled (not .executor.existingSecret) }}{{ fail "executor.enabled is true, so executor.existingSecret is missing" }}{{ end }}
{{- if and .executor.enabled (not .executor.server) (hasPrefix "http:" .publicUrl) }}{{ fail "executor.enabled is true, and publicUrl is not encrypted, so executor.server is missing" }}{{ end }}
{{- if and .files.s3.bucket .files.trial.enabled }}{{ fail "files.s3.bucket and files.trial.enabled are both set; remove one of them" }}{{ end }}
{{- if and .files.s3.bucket .files.volume.existingClaim }}{{ fail "files.s3.bucket and files.volume.existingClaim are both set; remove one of them" }}{{ end }}
{{- if and .ingress.enabled .gateway.tls.existingSecret (not .ingress.annotations) }}{{ fail "gateway.tls.existingSecret is set, so the ingress needs annotations that make its controller use HTTPS to the gateways; set ingress.annotations" }}{{ end }}
{{- end }}
{{- end }}
