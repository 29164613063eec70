import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { Refusal } from '#platform/kernel';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

/** A span that is being recorded, as the parent of other spans. */
export type ActiveTrace = Context;

export type SpanDescription = {
  readonly kind?: keyof typeof SpanKind;
  /** No secrets and no personal data: no values of a request, no names of people, no addresses. */
  readonly attributes?: Attributes;
};

/** The parts of the SDK that record traces. */
type TraceRecorder = {
  readonly tracer: Tracer;
  /** Returns whether the sampler records a trace that has no span in this process yet. */
  readonly isSampled: (parent: Context, traceId: string) => boolean;
  /** Returns the id that the next trace gets if it begins in this process. */
  readonly reserveTraceId: () => string;
  readonly createSpanId: () => string;
};

/** Null if this process exports no traces. Nothing is then recorded, and the SDK is not loaded. */
let recorder: TraceRecorder | null = null;

export const setRecorder = (newRecorder: TraceRecorder | null): void => {
  recorder = newRecorder;
};

export const isTracing = (): boolean => recorder !== null;

/** Returns the recorded span that the current work belongs to; null if there is none. */
export const getActiveTrace = (): ActiveTrace | null => {
  if (recorder === null) return null;
  const active = context.active();
  return trace.getSpan(active)?.isRecording() === true ? active : null;
};

/** Runs work of a trace that was started elsewhere, such as in the turn of another request. */
export const runInTrace = <T>(active: ActiveTrace | null, work: () => T): T =>
  active ? context.with(active, work) : work();

const startSpan = (
  startingTracer: Tracer,
  name: string,
  { kind = 'INTERNAL', attributes = {} }: SpanDescription,
  parent: Context,
): Span => startingTracer.startSpan(name, { kind: SpanKind[kind], attributes }, parent);

/** Returns a short name of an error. Messages of errors can contain values, so spans do not have them. */
const getErrorType = (error: unknown): string => {
  if (error instanceof Refusal) return error.kind;
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};

const endSpan = (span: Span, error?: unknown): void => {
  if (error !== undefined) {
    span.setAttribute('error.type', getErrorType(error)).setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
};

const runInSpan = async <T>(span: Span, parent: Context, work: (traceparent: string) => Promise<T>): Promise<T> => {
  try {
    const done = await context.with(
      trace.setSpan(parent, span),
      work,
      undefined,
      formatTraceparent(span.spanContext()),
    );
    endSpan(span);
    return done;
  } catch (error) {
    endSpan(span, error);
    throw error;
  }
};

/** Runs the work in a new span, if the current work belongs to a recorded span. Passes the span's `traceparent`, or null. */
export const withSpan = <T>(
  name: string,
  describe: () => SpanDescription,
  work: (traceparent: string | null) => Promise<T>,
): Promise<T> => {
  const parent = getActiveTrace();
  if (parent === null || recorder === null) return work(null);
  return runInSpan(startSpan(recorder.tracer, name, describe(), parent), parent, work);
};

/** Starts a span whose parent is in another process. Returns null if `traceparent` is invalid, or the span is not recorded. */
const startChildOf = (traceparent: string | null | undefined, name: string, description: SpanDescription) => {
  const position = recorder && parseTraceparent(traceparent);
  if (!recorder || !position) return null;
  const parent = trace.setSpanContext(ROOT_CONTEXT, { ...position, isRemote: true });
  const span = startSpan(recorder.tracer, name, description, parent);
  return span.isRecording() ? { span, parent } : null;
};

/** Runs the work in a new span of the trace that `traceparent` names. Without such a trace, runs only the work. */
export const continueTrace = <T>(
  traceparent: string | null | undefined,
  name: string,
  description: SpanDescription,
  work: () => Promise<T>,
): Promise<T> => {
  const child = startChildOf(traceparent, name, description);
  return child ? runInSpan(child.span, child.parent, work) : work();
};

/** A span that the caller ends. */
export type OpenSpan = { readonly traceparent: string; readonly end: (error?: unknown) => void };

/** Starts a span of the trace that `traceparent` names, or returns null. The caller must end it. */
export const openSpan = (
  traceparent: string | null | undefined,
  name: string,
  description: SpanDescription,
): OpenSpan | null => {
  const child = startChildOf(traceparent, name, description);
  if (!child) return null;
  const { span } = child;
  return { traceparent: formatTraceparent(span.spanContext()), end: (error) => endSpan(span, error) };
};

/**
 * Runs work that several requests share, with a span in the trace of each. The spans of the other traces link to the first
 * one, so that a reader of any of them finds the work that ran once.
 */
export const withSharedSpan = async <T>(
  traces: readonly ActiveTrace[],
  name: string,
  description: SpanDescription,
  work: () => Promise<T>,
): Promise<T> => {
  const current = recorder;
  if (traces.length === 0 || current === null) return work();
  const spans = traces.map((parent) => startSpan(current.tracer, name, description, parent));
  const [first, ...others] = spans as [Span, ...Span[]];
  for (const other of others) other.addLink({ context: first.spanContext() });
  try {
    const done = await work();
    for (const span of spans) endSpan(span);
    return done;
  } catch (error) {
    for (const span of spans) endSpan(span, error);
    throw error;
  }
};

/** The trace of a request, and its span if it is recorded. */
export type RequestTrace = {
  readonly traceId: string;
  readonly traceparent: string;
  /** Null if the trace is not recorded. */
  readonly span: RequestSpan | null;
};

export type RequestSpan = {
  /** Runs a function as part of the trace. */
  readonly run: (work: () => void) => void;
  readonly end: (attributes: Attributes, isFailure: boolean) => void;
};

const createRequestSpan = (span: Span, parent: Context): RequestSpan => {
  const active = trace.setSpan(parent, span);
  return {
    run: (work) => context.with(active, work),
    end: (attributes, isFailure) => {
      span.setAttributes(attributes);
      if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
};

/**
 * Starts the trace of a request, or continues the trace of its client. Returns null if the request is not recorded and its
 * client has no trace. The decision is made before the SDK creates anything: that took 20 µs for each request that is not
 * recorded, a sixth of the CPU of a GET.
 */
export const startRequestTrace = (
  header: string | undefined,
  describe: () => { readonly name: string; readonly attributes: Attributes },
): RequestTrace | null => {
  if (recorder === null) return null;
  const position = header === undefined ? null : parseTraceparent(header);
  const parent = position ? trace.setSpanContext(ROOT_CONTEXT, { ...position, isRemote: true }) : ROOT_CONTEXT;
  const traceId = position?.traceId ?? recorder.reserveTraceId();
  if (recorder.isSampled(parent, traceId)) {
    const { name, attributes } = describe();
    const span = startSpan(recorder.tracer, name, { kind: 'SERVER', attributes }, parent);
    return { traceId, traceparent: formatTraceparent(span.spanContext()), span: createRequestSpan(span, parent) };
  }
  if (!position) return null;
  const traceparent = formatTraceparent({ traceId, spanId: recorder.createSpanId(), traceFlags: 0 });
  return { traceId, traceparent, span: null };
};

const TRACE_ID = Symbol('id of the trace');

type TracedRequest = { [TRACE_ID]?: string };

/** Records which trace a request belongs to, for its log lines. */
export const setTraceId = (request: object, traceId: string): void => {
  (request as TracedRequest)[TRACE_ID] = traceId;
};

export const getTraceId = (request: object): string | undefined => (request as TracedRequest)[TRACE_ID];

/** Returns the fields of a log line that belongs to a recorded trace. */
export const getTraceFields = (): { traceId?: string } => {
  const active = getActiveTrace();
  const traceId = active && trace.getSpanContext(active)?.traceId;
  return traceId ? { traceId } : {};
};
