{{/*
Deployment, headless service and disruption budget of the processes that follow the log.
Call with (dict "root" . "component" NAME "secrets" KEYS "variables" YAML "mounts" YAML "volumes" YAML).
*/}}
{{- define "cadastre.follower" -}}
{{- $root := .root }}
{{- $values := index $root.Values .component }}
{{- $labels := list $root .component }}
{{- $name := printf "%s-%s" (include "cadastre.fullname" $root) .component }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "cadastre.labels" $labels | nindent 4 }}
spec:
  replicas: {{ $values.replicas }}
  selector:
    matchLabels:
      {{- include "cadastre.selector" $labels | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "cadastre.labels" $labels | nindent 8 }}
      {{- with $values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "cadastre.podIdentity" $root | nindent 6 }}
      securityContext:
        {{- include "cadastre.podSecurity" $root | nindent 8 }}
      terminationGracePeriodSeconds: 60
      {{- include "cadastre.scheduling" $labels | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "cadastre.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            - {{ .component }}
          env:
            {{- include "cadastre.commonVariables" $root | nindent 12 }}
            {{- .variables | nindent 12 }}
          ports:
            - name: http
              containerPort: 8443
          {{- include "cadastre.probes" "HTTP" | nindent 10 }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- include "cadastre.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            {{- include "cadastre.commonMounts" $root | nindent 12 }}
            {{- with .mounts }}
            {{- . | nindent 12 }}
            {{- end }}
      volumes:
        {{- include "cadastre.commonVolumes" (list $root .secrets) | nindent 8 }}
        {{- with .volumes }}
        {{- . | nindent 8 }}
        {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels:
    {{- include "cadastre.labels" $labels | nindent 4 }}
spec:
  # Only for Prometheus: clients send nothing to this process.
  clusterIP: None
  selector:
    {{- include "cadastre.selector" $labels | nindent 4 }}
  ports:
    - name: http
      port: 8443
      targetPort: http
{{- if gt (int $values.replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "cadastre.labels" $labels | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "cadastre.selector" $labels | nindent 6 }}
{{- end }}
{{- end }}
