import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdjustableClock } from '../support/clocks.js';
import { makeToken } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import type { MatrixWorld } from './shared-world.js';
import { sendMatrixRequest, expectedOf, nameOf, type MatrixRow } from './matrix.js';
import { ROWS } from './rows/index.js';
import { createCallers } from './world.js';

// The gateway caches identities. Each route must notice a revoked token in its first statement (ADR 32), or it would
// still accept the token.

const LONG = 120_000;

let server: TestServer;
let world: MatrixWorld;

beforeAll(async () => {
  const clock = new AdjustableClock();
  server = await startTestServer({ clock, followers: true });
  world = await createCallers(server, clock);
}, LONG);

afterAll(() => server.close());

describe('a token that is revoked just after it was used', () => {
  it.each(['owner', 'site admin'])(
    'gets 401 from every route if it belonged to the %s',
    async (name) => {
      const caller = world.callers.find((one) => one.name === name);
      if (!caller) throw new Error(`nobody is called ${name}`);
      const rows = (Object.values(ROWS).flat() as readonly MatrixRow[]).filter(
        (row) => row.demands !== 'anybody' && !/^40[34]$/.test(expectedOf(row, caller, world)),
      );
      const open: string[] = [];
      for (const row of rows) {
        await row.setUp?.(world);
        const secret = await makeToken(server, `/api/v2/users/${caller.id}/authentication-tokens`);
        const api = server.as(secret);
        expect((await api.get('/api/v2/account/details')).status).toBe(200);
        const params = row.about.params(caller, world);
        const [newest] = (await server.get(`/api/v2/users/${caller.id}/authentication-tokens`)).body.data;
        await server.delete(`/api/v2/authentication-tokens/${newest.id}`);
        const { status } = await sendMatrixRequest(row, { world, caller, api, params });
        if (status !== 401) open.push(`${nameOf(row)}: ${status}`);
        await row.tearDown?.(world);
      }
      expect(rows.length).toBeGreaterThan(150);
      expect(open).toEqual([]);
    },
    LONG,
  );
});
