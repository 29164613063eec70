import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { context, SpanKind, trace } from '@opentelemetry/api';
import type { Logger } from '#platform/kernel';
import { setRecorder } from './spans.js';
import type { TracingOptions } from './tracing-options.js';

type TracedProcess = {
  /** Name of the process, such as `gateway`. */
  readonly name: string;
  readonly version: string;
};

export type RunningTracing = { stop(): Promise<void> };

/** A collector that does not answer delays the end of a process by this time at most. */
const LAST_EXPORT_MS = 5_000;

/**
 * Returns the attributes of the process. Each process has an instance id of its own. If the operator has chosen one, for
 * example the name of a pod, the workers of that server add their process id.
 */
const describeProcess = (
  { serviceName, resourceAttributes }: TracingOptions,
  { name, version }: TracedProcess,
): Record<string, string | number> => {
  const { 'service.instance.id': chosenId } = resourceAttributes;
  const sharedId = name === 'worker' && chosenId !== undefined ? `${chosenId}-${process.pid}` : chosenId;
  return {
    'service.version': version,
    ...resourceAttributes,
    'service.name': serviceName,
    'service.instance.id': sharedId ?? randomUUID(),
    'process.pid': process.pid,
    'cadastre.process': name,
  };
};

/**
 * Starts to record traces and to send them to a collector. It loads the SDK, whose files take about 26 MB in a process of
 * their own, so it is loaded only here (ADR 53).
 */
export const startTracing = async (
  options: TracingOptions,
  traced: TracedProcess,
  logger: Logger,
): Promise<RunningTracing> => {
  const { createSdk, isSampled } = await import('./sdk.js');
  const { provider, sampler, ids, contextManager } = createSdk(options, describeProcess(options, traced), logger);
  context.setGlobalContextManager(contextManager);
  setRecorder({
    tracer: provider.getTracer('cadastre', traced.version),
    isSampled: (parent, traceId) => isSampled(sampler.shouldSample(parent, traceId, '', SpanKind.SERVER, {}, [])),
    reserveTraceId: () => ids.reserveTraceId(),
    createSpanId: () => ids.generateSpanId(),
  });
  return {
    stop: async () => {
      setRecorder(null);
      const limit = new AbortController();
      // The logger has the failure of the last export.
      const flushed = provider.shutdown().catch(() => undefined);
      await Promise.race([flushed, delay(LAST_EXPORT_MS, undefined, { signal: limit.signal }).catch(() => undefined)]);
      limit.abort();
      context.disable();
      trace.disable();
    },
  };
};
