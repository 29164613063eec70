import type { z } from 'zod';
import type { TracingOptions } from '#platform/tracing';
import type { environment } from './variables.js';

const DEFAULT_SERVICE = 'cadastre';

/** Returns null if there is no address to send traces to. */
export const toTracingSettings = (env: z.output<typeof environment>): TracingOptions | null => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url } = env;
  if (base === undefined && url === undefined) return null;
  const resourceAttributes = env.OTEL_RESOURCE_ATTRIBUTES;
  return {
    url: url ?? `${base?.replace(/\/$/, '')}/v1/traces`,
    headers: env.OTEL_EXPORTER_OTLP_HEADERS,
    sampler: env.OTEL_TRACES_SAMPLER,
    samplingRatio: env.OTEL_TRACES_SAMPLER_ARG,
    serviceName: env.OTEL_SERVICE_NAME ?? resourceAttributes['service.name'] ?? DEFAULT_SERVICE,
    resourceAttributes,
    exportEveryMs: env.OTEL_BSP_SCHEDULE_DELAY,
  };
};
