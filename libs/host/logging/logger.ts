import { pino, stdTimeFunctions, type DestinationStream, type Level, type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { LoggerService } from '@nestjs/common';

export type LogLevel = Level | 'silent';

/** What the other files of this library ask of a logger: they have no context to tell. */
export type PlainLogger = {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
};

const secretKeys = ['authorization', 'cookie', 'password', 'secret', 'token', 'adminToken', 'encryptionKey'];

// pino's wildcards stand for exactly one level each: these reach `req.headers.authorization` and no deeper.
const redactPaths = ['', '*.', '*.*.'].flatMap((depth) => secretKeys.map((key) => `${depth}${key}`));

/**
 * Keys do not catch what is inside a text: drivers put connection strings into their messages, and people put tokens
 * into URLs. So the finished line is searched for the few forms that our secrets have.
 */
export const redactSecrets = (line: string): string =>
  line
    .replaceAll(/(\w:\/\/[^:/?#\s"@]*):[^\s"/]+@/g, '$1:[redacted]@')
    .replaceAll(/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer [redacted]')
    .replaceAll(/[A-Za-z0-9]+\.atlasv1\.[A-Za-z0-9_-]+/g, '[redacted]');

/**
 * JSON lines for machines, colours for a terminal. Both are written synchronously: the last words before a crash are
 * the ones that matter.
 */
export const createLogger = (level: LogLevel, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: redactPaths, censor: '[redacted]' },
      hooks: { streamWrite: redactSecrets },
    },
    destination ?? openStandardOutput(),
  );

/** An object's members become fields of the line; other details, such as stacks, stay together. */
const mergeFields = (details: readonly unknown[]): object => {
  const isFields = (detail: unknown): detail is object => typeof detail === 'object' && detail !== null;
  const others = details.filter((detail) => !isFields(detail));
  const fields = details.filter(isFields).reduce<object>((all, some) => ({ ...all, ...some }), {});
  return { ...fields, ...(others.length > 0 ? { details: others } : {}) };
};

const openStandardOutput = (): DestinationStream => {
  const output = pino.destination({ sync: true });
  // A closed terminal (EIO) must not end the process before it has stopped cleanly. pino itself handles a closed pipe.
  output.on('error', () => undefined);
  return process.stdout.isTTY ? pretty({ sync: true, ignore: 'pid,hostname', destination: output }) : output;
};

/** Nest tells of every route that it maps: worth reading when something is looked for, hence debug. */
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

  // Nest's last argument is where it comes from; an error's stack, if any, stands before it.
  private write(level: Level, message: unknown, rest: readonly unknown[]): void {
    const context = rest.at(-1);
    const fields = { context, ...mergeFields(rest.slice(0, -1)) };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else this.logger[level](fields, typeof message === 'string' ? message : JSON.stringify(message));
  }
}
