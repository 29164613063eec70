import { pino, stdTimeFunctions, type DestinationStream } from 'pino';
import { openTerminalOutput } from './terminal-output.js';

/** One line of the request log. Except the request id, which is a UUID, and the trace id, which is a number, no field may contain data from the caller. */
type RequestLogFields = {
  readonly requestId: string;
  /** Absent if the request belongs to no trace. */
  readonly traceId?: string;
  readonly method: string;
  /** The pattern of the route, never the URL, because signed links are secrets. */
  readonly route: string;
  readonly status: number;
  /** The caller's id, such as `user-…`; null if the request had no valid token. */
  readonly caller: string | null;
  readonly durationMs: number;
  readonly bytesSent: number;
};

export type RequestLogger = {
  log(fields: RequestLogFields): void;
  flush(): void;
};

const BUFFER_BYTES = 4_096;
const FLUSH_EVERY_MS = 500;

/**
 * Creates a separate logger for requests. It has no redaction, because its fields contain no secrets, and it writes
 * several lines at once. The redaction of the ordinary logger costs 45 µs of CPU per line, a write per line 13 µs, the
 * rest 9 µs.
 */
export const createRequestLogger = (destination?: DestinationStream): RequestLogger => {
  const buffered = process.stdout.isTTY
    ? null
    : pino.destination({ sync: true, minLength: BUFFER_BYTES, periodicFlush: FLUSH_EVERY_MS });
  // A closed terminal (EIO) must not end the process before a clean stop.
  buffered?.on('error', () => undefined);
  const logger = pino(
    { level: 'info', timestamp: stdTimeFunctions.isoTime },
    destination ?? buffered ?? openTerminalOutput(),
  );
  const flush = (): void => buffered?.flushSync();
  process.once('exit', flush);
  return { log: (fields) => logger.info(fields, 'request'), flush };
};
