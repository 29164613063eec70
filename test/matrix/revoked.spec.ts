import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectStatus } from '../support/seeds.js';
import type { MatrixWorld } from './shared-world.js';
import { sendMatrixRequest, expectedOf, nameOf, type MatrixRow } from './matrix.js';
import { ROWS } from './rows/index.js';
import { getTarget } from './targets.js';
import { startMatrixWorld } from './world.js';

// The gateway caches identities. Each route must notice a revoked token in its first statement (ADR 32), or it would
// still accept the token.

const OWNERS = ['owner', 'site admin'] as const;
const AREAS = Object.keys(ROWS) as readonly (keyof typeof ROWS)[];

let world: MatrixWorld;
const checkedRows = new Map<string, number>();

beforeAll(async () => {
  world = await startMatrixWorld();
});

afterAll(() => world.server.close());

describe('a token that is revoked just after it was used', () => {
  it.each(OWNERS.flatMap((name) => AREAS.map((area) => [name, area] as const)))(
    'gets 401 if it belonged to the %s, from every route of %s',
    async (name, area) => {
      const { server, callers } = world;
      const caller = getTarget(callers, name);
      const rows = (ROWS[area] as readonly MatrixRow[]).filter(
        (row) => row.demands !== 'anybody' && !/^40[34]$/.test(expectedOf(row, caller, world)),
      );
      const open: string[] = [];
      for (const row of rows) {
        await row.setUp?.(world);
        const tokens = `/api/v2/users/${caller.id}/authentication-tokens`;
        const { id, attributes } = expectStatus(await server.post(tokens), 201).body.data;
        const api = server.as(attributes.token as string);
        expectStatus(await api.get('/api/v2/account/details'), 200);
        const params = row.about.params(caller, world);
        expectStatus(await server.delete(`/api/v2/authentication-tokens/${id as string}`), 204);
        const { status } = await sendMatrixRequest(row, { world, caller, api, params });
        if (status !== 401) open.push(`${nameOf(row)}: ${status}`);
        await row.tearDown?.(world);
      }
      checkedRows.set(name, (checkedRows.get(name) ?? 0) + rows.length);
      expect(open).toEqual([]);
    },
  );

  it.each(OWNERS)('was tried for most routes if it belonged to the %s', (name) => {
    expect(checkedRows.get(name)).toBeGreaterThan(150);
  });
});
