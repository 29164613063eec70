{{/*
Stateful set and service of a server for trials: one pod, without backups.
Call with (dict "root" . "component" NAME "values" VALUES "port" PORT "user" UID "container" YAML "initContainers" YAML "volumes" YAML).
*/}}
{{- define "cadastre.trial" -}}
{{- $labels := list .root .component }}
{{- $name := printf "%s-%s" (include "cadastre.fullname" .root) .component }}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $name }}
  labels:
    {{- include "cadastre.labels" $labels | nindent 4 }}
    app.kubernetes.io/part-of: cadastre-trial
spec:
  serviceName: {{ $name }}
  replicas: 1
  selector:
    matchLabels:
      {{- include "cadastre.selector" $labels | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "cadastre.labels" $labels | nindent 8 }}
        app.kubernetes.io/part-of: cadastre-trial
    spec:
      serviceAccountName: default
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: 60
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ .user }}
        runAsGroup: {{ .user }}
        fsGroup: {{ .user }}
        seccompProfile:
          type: RuntimeDefault
      {{- with .initContainers }}
      initContainers:
        {{- . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ .values.image }}
          ports:
            - name: server
              containerPort: {{ .port }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              drop:
                - ALL
          {{- .container | nindent 10 }}
      {{- with .volumes }}
      volumes:
        {{- . | nindent 8 }}
      {{- end }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes:
          - ReadWriteOnce
        {{- with .values.storageClassName }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ .values.size }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels:
    {{- include "cadastre.labels" $labels | nindent 4 }}
spec:
  selector:
    {{- include "cadastre.selector" $labels | nindent 4 }}
  # Brokers find each other by this name before they are ready.
  publishNotReadyAddresses: true
  ports:
    - name: server
      port: {{ .port }}
      targetPort: server
{{- end }}
