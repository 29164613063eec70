import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import pg from 'pg';
import { countHits } from '../support/kept-documents.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiTestClient,
  type TestGateway,
  type TestServer,
} from '../support/server.js';

// Reads through every gateway are linearizable: a read that begins after a write was acknowledged shows it, and no read
// shows an earlier value than a read that ended before it began. Each workspace counts its writes in its description.

const WORKSPACES = 4;
const WRITES = 40;
const READERS = 12;

let server: TestServer;
let other: TestGateway;
let gateways: readonly ApiTestClient[];
let organization: string;
let workspaces: readonly string[];
let number = 0;

beforeAll(async () => {
  server = await startTestServer();
  other = await startAnotherGateway(server);
  gateways = [server, other];
});

afterAll(async () => {
  await other.close();
  await server.close();
});

beforeEach(async () => {
  const seeded = await makeOrganization(server, `acme-${(number += 1)}`);
  organization = seeded.id;
  workspaces = await Promise.all(
    Array.from({ length: WORKSPACES }, (_, n) => makeWorkspace(server, seeded.name, `ws-${n}`, { description: '0' })),
  );
});

const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;

const read = async (gateway: ApiTestClient, workspace: string): Promise<number> => {
  const { body } = expectStatus(await gateway.get(`/api/v2/workspaces/${workspace}`), 200);
  return Number(body.data.attributes.description);
};

const write = async (gateway: ApiTestClient, workspace: string, value: number): Promise<void> => {
  const body = resource('workspaces', { description: String(value) });
  expectStatus(await gateway.patch(`/api/v2/workspaces/${workspace}`, body), 200);
};

const CONTEXT = JSON.stringify({
  accessor: { id: 'system', type: 'system', name: 'test' },
  auth: 'System',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: '',
  causation: null,
});

/**
 * Writes like a gateway whose transaction stays open until `meanwhile` ends. Later transactions commit before it, and
 * its event comes before theirs in the log.
 */
const writeLate = async (workspace: string, value: number, meanwhile: () => Promise<unknown>): Promise<void> => {
  const client = new pg.Client({ connectionString: server.runtime.databaseUrl });
  await client.connect();
  try {
    const changes = { description: String(value) };
    const events = [{ id: randomUUID(), type: 'WorkspaceUpdated', schemaVersion: 1, data: { changes } }];
    await client.query('begin');
    await client.query('select event_store.append($1, null, $2, now(), $3, $4, null, null)', [
      workspace,
      organization,
      CONTEXT,
      JSON.stringify(events),
    ]);
    await client.query('update views.workspaces set settings = settings || $2 where id = $1', [workspace, changes]);
    await meanwhile();
    await client.query('commit');
  } finally {
    await client.end();
  }
};

describe('a write that commits after later ones', () => {
  it('is shown by every gateway as soon as it is committed', async () => {
    const [late, usual] = workspaces as [string, string];
    const readBoth = () => Promise.all(gateways.map((gateway) => read(gateway, late)));
    for (let round = 1; round <= 3; round += 1) await readBoth();
    expect(await countHits(readBoth)).toBe(2);
    await writeLate(late, 1, async () => {
      for (let value = 1; value <= 5; value += 1) {
        await write(pick(gateways), usual, value);
        expect(await countHits(async () => expect(await readBoth()).toEqual([0, 0]))).toBe(2);
      }
    });
    expect(await readBoth()).toEqual([1, 1]);
  });
});

describe('random writes and reads through two gateways', () => {
  it('show every acknowledged write in the next read, and never go back', async () => {
    const acknowledged = new Map(workspaces.map((id) => [id, 0]));
    const highest = new Map(workspaces.map((id) => [id, 0]));
    const get = (map: ReadonlyMap<string, number>, id: string): number => map.get(id) ?? -1;
    const wrong: string[] = [];
    let reads = 0;
    let running = WORKSPACES;

    const waitForReads = async (count: number): Promise<void> => {
      const target = reads + count;
      while (reads < target) await new Promise((resolve) => setImmediate(resolve));
    };
    const runWriter = async (id: string): Promise<void> => {
      for (let value = 1; value <= WRITES; value += 1) {
        if (randomInt(4) === 0) await writeLate(id, value, () => waitForReads(randomInt(2 * READERS)));
        else await write(pick(gateways), id, value);
        acknowledged.set(id, value);
      }
      running -= 1;
    };
    const runReader = async (): Promise<void> => {
      while (running > 0) {
        const id = pick(workspaces);
        const least = Math.max(get(acknowledged, id), get(highest, id));
        const value = await read(pick(gateways), id);
        reads += 1;
        if (value < least) wrong.push(`${id}: ${value} after ${least}`);
        highest.set(id, Math.max(get(highest, id), value));
      }
    };
    const hits = await countHits(() =>
      Promise.all([...workspaces.map(runWriter), ...Array.from({ length: READERS }, runReader)]),
    );
    expect(wrong).toEqual([]);
    expect([...acknowledged.values()]).toEqual(workspaces.map(() => WRITES));
    expect(await Promise.all(gateways.flatMap((gateway) => workspaces.map((id) => read(gateway, id))))).toEqual(
      gateways.flatMap(() => workspaces.map(() => WRITES)),
    );
    expect(hits).toBeGreaterThan(WRITES);
  });
});
