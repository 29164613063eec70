import { z } from 'zod';
import { SAMPLERS } from '#platform/tracing';
import {
  defineSecretVariable,
  isEndpoint,
  matchingSchema,
  oneOfSchema,
  wholeNumberSchema,
} from './variable-schemas.js';
import { defineVariable } from './variable.js';

const ENDPOINT = matchingSchema(isEndpoint, 'must be http:// or https:// with a host, without user, password or query');

/** Parses a list such as `name=value,name=value`, with percent-encoded values (https://www.w3.org/TR/baggage). */
const pairsSchema = z.string().transform((list, check) => {
  const pairs: Record<string, string> = {};
  for (const [index, entry] of list.split(',').entries()) {
    const [, name, value = ''] = /^\s*([^\s=,;]+)\s*=\s*([^,;]*?)\s*$/.exec(entry) ?? [];
    try {
      if (name === undefined) throw new URIError(entry);
      pairs[name] = decodeURIComponent(value);
    } catch {
      check.addIssue(`must be a comma-separated list of name=value, percent-encoded; entry ${index + 1} is invalid`);
    }
  }
  return pairs;
});

/** Variables of OpenTelemetry, with its names and defaults: https://opentelemetry.io/docs/specs/otel/configuration */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: defineVariable(
    '–',
    'address of an OpenTelemetry collector, for OTLP over HTTP, such as http://localhost:4318; without it no traces are recorded',
    ENDPOINT.exactOptional(),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: defineVariable(
    'v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
    'complete address that traces are sent to',
    ENDPOINT.exactOptional(),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: defineSecretVariable(
    '–',
    'headers for the collector: name=value, separated by commas',
    pairsSchema.default({}),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: defineVariable(
    'http/protobuf',
    'the protocol for the collector; no other one is supported',
    oneOfSchema(['http/protobuf'], 'http/protobuf'),
  ),
  OTEL_TRACES_SAMPLER: defineVariable(
    'parentbased_always_on',
    `which requests are recorded: ${SAMPLERS.join(', ')}; with parentbased_, the client decides if it sends a traceparent`,
    oneOfSchema(SAMPLERS, 'parentbased_always_on'),
  ),
  OTEL_TRACES_SAMPLER_ARG: defineVariable(
    '1',
    'share of the requests that traceidratio records, from 0 to 1',
    matchingSchema((text) => /^(?:0|1|0?\.\d{1,9}|1\.0+)$/.test(text), 'must be a number from 0 to 1')
      .transform(Number)
      .default(1),
  ),
  OTEL_SERVICE_NAME: defineVariable(
    'cadastre',
    'name of the service in traces',
    z.string().max(255, 'must have at most 255 characters').exactOptional(),
  ),
  OTEL_RESOURCE_ATTRIBUTES: defineVariable(
    '–',
    'further attributes of the process in traces: name=value, separated by commas',
    pairsSchema.default({}),
  ),
  OTEL_BSP_SCHEDULE_DELAY: defineVariable(
    '5000',
    'interval between two exports of traces, in milliseconds',
    wholeNumberSchema(1, 60_000, 5_000),
  ),
} as const;
