import { describe, expect, it } from '@jest/globals';
import { createLogger, NestLoggerAdapter, type LogLevel } from './logger.js';

const logged = (level: LogLevel, write: (logger: ReturnType<typeof createLogger>) => void): string[] => {
  const lines: string[] = [];
  write(createLogger(level, { write: (line) => void lines.push(line) }));
  return lines;
};

describe('the log', () => {
  it('writes one JSON line for each entry', () => {
    const [line = ''] = logged('info', (log) => log.info({ port: 1 }, 'listening'));
    expect(JSON.parse(line)).toMatchObject({ level: 30, msg: 'listening', port: 1 });
    expect(line).toMatch(/"time":"\d{4}-\d{2}-\d{2}T[\d:.]+Z"/);
  });

  it('redacts secrets by their keys', () => {
    const secret = 'swordfish';
    const [line] = logged('info', (log) =>
      log.info({
        token: secret,
        user: { password: secret },
        req: { headers: { authorization: secret, cookie: secret } },
      }),
    );
    expect(line).not.toContain(secret);
    expect(line).toContain('[redacted]');
  });

  it('redacts secrets inside texts', () => {
    const lines = logged('info', (log) => {
      log.info('cannot connect to postgresql://cadastre:swordfish@127.0.0.1:5432/cadastre');
      log.info({ header: 'Bearer swordfish' }, 'request');
      log.error(new Error('no such token: abcdefghijklmn.atlasv1.swordfish'));
    });
    expect(lines.join('')).not.toContain('swordfish');
    expect(lines[0]).toContain('postgresql://cadastre:[redacted]@127.0.0.1:5432/cadastre');
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it("writes Nest's messages at level debug, and its errors as errors", () => {
    const lines = logged('debug', (log) => {
      const nest = new NestLoggerAdapter(log);
      nest.log('Mapped {/api, GET} route', 'RouterExplorer');
      nest.verbose('not heard', 'Somewhere');
      nest.error('broken', 'Error: broken\n  at x', 'ExceptionsHandler');
    });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 20, msg: 'Mapped {/api, GET} route', context: 'RouterExplorer' }),
      expect.objectContaining({
        level: 50,
        msg: 'broken',
        context: 'ExceptionsHandler',
        details: ['Error: broken\n  at x'],
      }),
    ]);
  });
});
