export {
  continueTrace,
  getActiveTrace,
  getTraceFields,
  getTraceId,
  isTracing,
  openSpan,
  runInTrace,
  setTraceId,
  startRequestTrace,
  withSharedSpan,
  withSpan,
  type ActiveTrace,
  type OpenSpan,
  type RequestSpan,
  type RequestTrace,
  type SpanDescription,
} from './spans.js';
export { startTracing, type RunningTracing } from './start-tracing.js';
export { SAMPLERS, type TracingOptions } from './tracing-options.js';
