import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { TILE_WIDTH } from '#packages/trail-verifier';
import { sql } from '#platform/kernel';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createLeaf, createTestSigning, insertTestLeaves, tamper } from '../../../../test/support/trail-signing.js';
import { verifyTrailLogs } from './trail-log.verifier.js';

let server: TestServer;
let count = 0;
let organization: string;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const SIZE = 700;

beforeEach(async () => {
  organization = `org-${(count += 1)}`;
  const sign = createTestSigning(server);
  for (const [from, to] of [
    [0, 100],
    [100, 600],
    [600, SIZE],
  ] as const) {
    await insertTestLeaves(server.database, organization, [from, to]);
    await sign();
  }
});

const findDifference = async (): Promise<string | null> => {
  const differences = await verifyTrailLogs(server.database);
  return differences.find((each) => each.organization === organization)?.difference ?? null;
};

it('finds nothing while the leaves that complete a tile of the second level are not signed yet', async () => {
  const tiles = TILE_WIDTH * TILE_WIDTH;
  await insertTestLeaves(server.database, organization, [SIZE, tiles - TILE_WIDTH]);
  const sign = createTestSigning(server);
  // A round appends a quarter of them.
  for (let round = 0; round < 4; round += 1) await sign();
  await insertTestLeaves(server.database, organization, [tiles - TILE_WIDTH, tiles + 1]);
  expect(await findDifference()).toBeNull();
  await sign();
  expect(await findDifference()).toBeNull();
});

const other = createLeaf(0, 'other');
const changed = sql`overlay(hashes placing ${other} from 65)`;

it('finds nothing in a log that nobody has changed, also after leaves were deleted', async () => {
  expect(await findDifference()).toBeNull();
  await tamper(
    server.database,
    sql`delete from audit_trail.leaves where organization = ${organization} and index < 300`,
  );
  expect(await findDifference()).toBeNull();
});

it.each([
  [
    'a changed leaf below a tile',
    sql`update audit_trail.leaves set leaf = ${other} where index = 300`,
    /^tile 0\/1 differs/,
  ],
  [
    'a changed leaf after the tiles',
    sql`update audit_trail.leaves set leaf = ${other} where index = 650`,
    /^the checkpoint of size 700 of .* differs/,
  ],
  ['the last leaf, removed', sql`delete from audit_trail.leaves where index = 699`, /^a checkpoint has the size 700/],
  ['a removed leaf after the tiles', sql`delete from audit_trail.leaves where index = 650`, /^leaf 650 is missing/],
  [
    'a changed tile',
    sql`update audit_trail.tiles set hashes = ${changed} where level = 0 and index = 1`,
    /^tile 0\/1 differs/,
  ],
  [
    'a changed root of a tile',
    sql`update audit_trail.tiles set root = ${other} where level = 0 and index = 0`,
    /^tile 0\/0 differs/,
  ],
  ['a removed tile', sql`delete from audit_trail.tiles where level = 0 and index = 0`, /^tile 0\/0 is missing/],
  [
    'the last complete tile, removed',
    sql`delete from audit_trail.tiles where level = 0 and index = 1`,
    /^tile 0\/1 is missing/,
  ],
  [
    'a changed root of a checkpoint',
    sql`update audit_trail.signed_checkpoints set root = ${other} where size = 600`,
    /^the checkpoint of size 600 of .* differs from the leaves/,
  ],
  [
    'a changed note',
    sql`update audit_trail.signed_checkpoints set note = replace(note, E'\n600\n', E'\n601\n') where size = 600`,
    /^the checkpoint of size 600 of .*: the signature of .* is wrong/,
  ],
  [
    'another key',
    sql`update audit_trail.log_keys set verifier_key = (select verifier_key from audit_trail.log_keys where organization = 'org-1') where true`,
    /^the checkpoint of size 100 of .*: no given key has signed/,
  ],
])('names %s', async (_, statement, difference) => {
  await tamper(server.database, sql`${statement} and organization = ${organization}`);
  expect(await findDifference()).toMatch(difference);
});

it('names a leaf and a tile that were changed together', async () => {
  await tamper(
    server.database,
    sql`update audit_trail.leaves set leaf = ${other} where index = 2 and organization = ${organization}`,
  );
  await tamper(
    server.database,
    sql`
    update audit_trail.tiles set hashes = ${changed} where level = 0 and index = 0 and organization = ${organization}`,
  );
  expect(await findDifference()).toMatch(/^tile 0\/0 differs|^the checkpoint of size 100/);
});

it('names the last complete tile if it was removed after its leaves were deleted', async () => {
  await tamper(
    server.database,
    sql`delete from audit_trail.leaves where organization = ${organization} and index < 512`,
  );
  await tamper(
    server.database,
    sql`delete from audit_trail.tiles where organization = ${organization} and level = 0 and index = 1`,
  );
  expect(await findDifference()).toBe('tile 0/1 is missing');
});
