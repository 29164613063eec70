import { describe, expect, it } from '@jest/globals';
import { readSettings } from './settings.js';
import { toWorkerSettings } from './worker-settings.js';

const MIB = 1_024 * 1_024;

describe('settings of a worker', () => {
  it('divide the limits of the machine, and keep the rate limits', () => {
    const settings = readSettings({ CADASTRE_WORKERS: '2' });
    expect(toWorkerSettings(settings)).toEqual({
      ...settings,
      slowConnections: 2,
      slowReadsPerCaller: 1,
      http: {
        ...settings.http,
        connections: 500,
        connectionsPerAddress: 250,
        bodyMemory: { total: 32 * MIB, perCaller: 31 * MIB },
        unanswered: { max: 250, targetMs: 100, waitMs: 500 },
      },
    });
  });

  it('keep what one worker needs', () => {
    const { http, slowConnections } = toWorkerSettings(
      readSettings({ CADASTRE_WORKERS: '6', CADASTRE_MAX_UNANSWERED_REQUESTS: '20', CADASTRE_SLOW_CONNECTIONS: '3' }),
    );
    expect([http.unanswered?.max, slowConnections, http.bodyMemory.total]).toEqual([16, 2, 31 * MIB]);
  });

  it('have no limit of requests at work if the server has none', () => {
    const settings = readSettings({ CADASTRE_WORKERS: '2', CADASTRE_MAX_UNANSWERED_REQUESTS: 'off' });
    expect(toWorkerSettings(settings).http.unanswered).toBeNull();
  });
});
