import type { ContextManager } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, setGlobalErrorHandler, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
  type SamplingResult,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { Backoff, type Logger } from '#platform/kernel';
import { tracingMetrics } from './tracing.metrics.js';
import type { TracingOptions } from './tracing-options.js';

/** The time limit of an export with its retries. The end of the process waits for the last export. */
const EXPORT_TIMEOUT_MS = 5_000;

const createRootSampler = ({ sampler, samplingRatio }: TracingOptions): Sampler => {
  if (sampler.endsWith('always_on')) return new AlwaysOnSampler();
  return sampler.endsWith('always_off') ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(samplingRatio);
};

const createSampler = (options: TracingOptions): Sampler => {
  const root = createRootSampler(options);
  return options.sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
};

export const isSampled = ({ decision }: SamplingResult): boolean => decision === SamplingDecision.RECORD_AND_SAMPLED;

/** Creates random ids. The id of a trace can be created before its first span, so that a sampler can decide by it. */
class ReservedIds extends RandomIdGenerator {
  private reserved: string | null = null;

  reserveTraceId(): string {
    this.reserved = super.generateTraceId();
    return this.reserved;
  }

  override generateTraceId(): string {
    const traceId = this.reserved ?? super.generateTraceId();
    this.reserved = null;
    return traceId;
  }
}

/** Counts exported spans, and logs the beginning and the end of an outage of the collector. */
class ObservedExporter implements SpanExporter {
  private readonly backoff: Backoff;

  constructor(
    private readonly exporter: SpanExporter,
    everyMs: number,
    logger: Logger,
  ) {
    this.backoff = new Backoff({ logger, subject: 'export of traces', firstMs: everyMs, maxMs: everyMs });
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      const isExported = result.code === ExportResultCode.SUCCESS;
      tracingMetrics.spans.inc({ result: isExported ? 'exported' : 'failed' }, spans.length);
      if (isExported) this.backoff.succeeded();
      else this.backoff.failed(result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }
}

type TracingSdk = {
  readonly provider: TracerProvider;
  readonly sampler: Sampler;
  readonly ids: ReservedIds;
  readonly contextManager: ContextManager;
};

/**
 * Creates the parts of the SDK. If the collector does not answer, up to 2,048 spans wait, and further ones are dropped.
 * Nothing waits for the collector.
 */
export const createSdk = (
  options: TracingOptions,
  attributes: Readonly<Record<string, string | number>>,
  logger: Logger,
): TracingSdk => {
  const { url, headers, exportEveryMs } = options;
  // ObservedExporter logs failures of exports.
  setGlobalErrorHandler(() => undefined);
  const exporter = new ObservedExporter(
    new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: EXPORT_TIMEOUT_MS }),
    exportEveryMs,
    logger,
  );
  const sampler = createSampler(options);
  const ids = new ReservedIds();
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler,
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: exportEveryMs })],
  });
  return { provider, sampler, ids, contextManager: new AsyncLocalStorageContextManager() };
};
