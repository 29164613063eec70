import { describe, expect, it } from '@jest/globals';
import { readSettings } from './settings.js';
import { describeMissingConnections, toWorkerSettings } from './worker-settings.js';

const MIB = 1_024 * 1_024;

describe('settings of a worker', () => {
  it('divide the limits of the server', () => {
    const settings = readSettings({ CADASTRE_WORKERS: '2' });
    expect(toWorkerSettings(settings)).toEqual({
      ...settings,
      slowConnections: 2,
      slowReadsPerCaller: 1,
      documentCacheBytes: 8 * MIB,
      limits: { perToken: 100, workers: 2, perAddress: 250, wrongTokens: 30, accessChanges: 10 },
      liveStreams: { total: 250, perCaller: 10 },
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
    const { http, slowConnections, limits } = toWorkerSettings(
      readSettings({
        CADASTRE_WORKERS: '6',
        CADASTRE_MAX_UNANSWERED_REQUESTS: '20',
        CADASTRE_SLOW_CONNECTIONS: '3',
        CADASTRE_RATE_LIMIT: '10',
        CADASTRE_ACCESS_CHANGE_LIMIT: '2',
      }),
    );
    expect([http.unanswered?.max, slowConnections, http.bodyMemory.total]).toEqual([16, 2, 31 * MIB]);
    expect(limits.accessChanges).toBe(1);
  });

  it('have no limit that the server does not have', () => {
    const { http, limits, documentCacheBytes } = toWorkerSettings(
      readSettings({
        CADASTRE_WORKERS: '2',
        CADASTRE_MAX_UNANSWERED_REQUESTS: 'off',
        CADASTRE_RATE_LIMIT: 'off',
        CADASTRE_DOCUMENT_CACHE_MIB: 'off',
      }),
    );
    expect([http.unanswered, limits.perToken, documentCacheBytes]).toEqual([null, null, null]);
  });
});

describe('connections of workers to Postgres', () => {
  it('are refused if Postgres accepts fewer', () => {
    const settings = readSettings({ CADASTRE_WORKERS: '8' });
    expect(describeMissingConnections(settings, 150)).toBeNull();
    expect(describeMissingConnections(settings, 100)).toBe(
      'CADASTRE_WORKERS: 8 workers need up to 150 connections, but Postgres accepts 100; set at most 4, or use a ' +
        'Postgres (DATABASE_URL) with a larger max_connections',
    );
  });

  it('do not count if they go through a connection pooler', () => {
    const settings = readSettings({
      CADASTRE_WORKERS: '8',
      CADASTRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DATABASE_URL: 'postgres://pooler/cadastre',
      DATABASE_DIRECT_URL: 'postgres://db/cadastre',
    });
    expect(describeMissingConnections(settings, 54)).toBeNull();
    expect(describeMissingConnections(settings, 53)).toMatch(/^CADASTRE_WORKERS: 8 workers need up to 54 connections/);
  });
});
