/** The position of a span in a trace: the fields of the header `traceparent`. */
type SpanPosition = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0 is set if the trace is recorded. */
  readonly traceFlags: number;
};

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses a `traceparent` (https://www.w3.org/TR/trace-context/#traceparent-header). Returns null if it is invalid. */
export const parseTraceparent = (header: string | null | undefined): SpanPosition | null => {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(header ?? '') ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
};

export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanPosition): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;
