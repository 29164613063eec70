import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from 'pino';
import type { LoggerService } from '@nestjs/common';
import { redactSecrets } from '#platform/settings';
import { getTraceFields } from '#platform/tracing';
import { serializeError } from './serialize-error.js';
import { openTerminalOutput } from './terminal-output.js';

export type LogLevel = Level | 'silent';

/** A logger for messages without fields, as most of this module uses it. */
export type PlainLogger = {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
};

const secretKeys = ['authorization', 'cookie', 'password', 'secret', 'token', 'adminToken', 'encryptionKey'];

// Each wildcard of pino matches exactly one level: these paths reach `req.headers.authorization` and no deeper.
const redactPaths = ['', '*.', '*.*.'].flatMap((depth) => secretKeys.map((key) => `${depth}${key}`));

/**
 * Creates a logger that writes JSON lines, or colours for a terminal. Both are written synchronously, so that the last
 * lines before a crash are not lost.
 */
export const createLogger = (level: LogLevel, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: redactPaths, censor: '[redacted]' },
      hooks: { streamWrite: redactSecrets },
      mixin: getTraceFields,
      serializers: { err: serializeError },
    },
    destination ?? openStandardOutput(),
  );

/** Merges the members of objects into fields; other details, such as stacks, become `details`. */
const mergeFields = (details: readonly unknown[]): object => {
  const isFields = (detail: unknown): detail is object => typeof detail === 'object' && detail !== null;
  const otherDetails = details.filter((detail) => !isFields(detail));
  const fields = details.filter(isFields).reduce<object>((all, some) => ({ ...all, ...some }), {});
  return { ...fields, ...(otherDetails.length > 0 ? { details: otherDetails } : {}) };
};

const openStandardOutput = (): DestinationStream => {
  const output = pino.destination({ sync: true });
  // A closed terminal (EIO) must not end the process before a clean stop. pino itself handles a closed pipe.
  output.on('error', () => undefined);
  return process.stdout.isTTY ? openTerminalOutput(output) : output;
};

/** Adapts the logger to Nest. Nest logs every route that it maps, which is useful only for debugging. */
export class NestLoggerAdapter implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: readonly unknown[]): void {
    this.write('debug', message, rest);
  }
  debug(message: unknown, ...rest: readonly unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: readonly unknown[]): void {
    this.write('trace', message, rest);
  }
  warn(message: unknown, ...rest: readonly unknown[]): void {
    this.write('warn', message, rest);
  }
  error(message: unknown, ...rest: readonly unknown[]): void {
    this.write('error', message, rest);
  }
  fatal(message: unknown, ...rest: readonly unknown[]): void {
    this.write('fatal', message, rest);
  }

  // Nest's last argument is the context. The stack of an error, if any, precedes it.
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    const context = rest.at(-1);
    const fields = { context, ...mergeFields(rest.slice(0, -1)) };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else this.logger[level](fields, typeof message === 'string' ? message : JSON.stringify(message));
  }
}
