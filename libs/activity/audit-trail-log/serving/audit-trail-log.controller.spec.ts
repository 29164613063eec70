import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  computeLeaf,
  computeTileRoot,
  hashLeaf,
  openNote,
  parseCheckpoint,
  parseProof,
  parseVerifierKey,
  splitNote,
  TILE_WIDTH,
  verifyInclusion,
} from '#packages/trail-verifier';
import { sql } from '#platform/kernel';
import { waitForTrail } from '#activity/audit-trail';
import { expectStatus, makeOrganization, makeWorkspace } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { createLeaf, createTestSigning, insertTestLeaves, tamper } from '../../../../test/support/trail-signing.js';
import { splitHashes } from '../tiles/hashes.js';
import { RightEdge } from '../tiles/right-edge.js';

let server: TestServer;
let sign: () => Promise<number>;
let id: string;

const P = '/api/v2/organizations/acme/audit-trail-log';

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  sign = createTestSigning(server);
  ({ id } = await makeOrganization(server, 'acme'));
  for (const name of ['one', 'two', 'three']) await makeWorkspace(server, 'acme', name);
  await waitForTrail(server.store, id);
  await sign();
});
afterAll(() => server.close());

const readBytes = async (path: string, organization = 'acme') => {
  const response = await fetch(`${server.url}/api/v2/organizations/${organization}/audit-trail-log/${path}`, {
    headers: { authorization: `Bearer ${server.adminToken}` },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

const readKeys = async () => (await server.get(`${P}/keys`)).text.trim().split('\n').map(parseVerifierKey);

const readCheckpoint = async () => {
  const { text } = expectStatus(await server.get(`${P}/checkpoint`), 200);
  return parseCheckpoint(openNote(text, await readKeys()).text);
};

type Entry = { readonly id: string };

const listEntries = async (): Promise<readonly Entry[]> =>
  expectStatus(await server.get('/api/v2/organizations/acme/audit-trail?page[size]=100'), 200).body.data.toReversed();

describe('a checkpoint', () => {
  it('is signed by the first of the verifier keys, and cached shortly', async () => {
    const { headers } = expectStatus(await server.get(`${P}/checkpoint`), 200);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('cache-control')).toBe('private, max-age=5');
    const { origin, size } = await readCheckpoint();
    expect(origin).toBe(`${new URL(server.runtime.settings.publicUrl).host}/${id}`);
    expect(size).toBe((await listEntries()).length);
  });

  it('is not there before the first one is signed', async () => {
    await makeOrganization(server, 'young');
    const young = '/api/v2/organizations/young/audit-trail-log';
    for (const path of ['checkpoint', 'keys']) expectStatus(await server.get(`${young}/${path}`), 404);
    expectStatus(await server.get(young), 404);
  });
});

describe('the state of a log', () => {
  const readStatus = async () => expectStatus(await server.get(P), 200).body.data;

  it('has the newest checkpoint with its time and its key, and counts entries after it', async () => {
    const { origin, size } = await readCheckpoint();
    const [verifierKey] = (await server.get(`${P}/keys`)).text.split('\n');
    const before = await readStatus();
    expect(before).toMatchObject({
      id,
      type: 'audit-trail-log-statuses',
      attributes: {
        origin,
        size,
        'verifier-key': verifierKey,
        'entry-count': size,
        'previous-origins': [],
        witnesses: [],
        'time-stamp': null,
      },
    });
    expect(Math.abs(Date.parse(before.attributes['signed-at']) - Date.now())).toBeLessThan(600_000);
    await makeWorkspace(server, 'acme', 'later');
    await waitForTrail(server.store, id);
    expect((await readStatus()).attributes).toMatchObject({ size, 'entry-count': size + 1 });
    await sign();
    expect((await readStatus()).attributes).toMatchObject({ size: size + 1, 'entry-count': size + 1 });
  });

  it('names the log of the site, its witnesses, and the origins before a restore', async () => {
    const { text } = expectStatus(await server.get('/audit-trail-log/checkpoint'), 200);
    const [origin = '', size] = text.split('\n');
    const key = 'auditor.example.com/w+1a2b3c4d+BL';
    await tamper(
      server.database,
      sql`insert into audit_trail.witnesses (origin, verifier_key, size) values (${origin}, ${key}, 1)`,
    );
    await tamper(
      server.database,
      sql`with former as (
            insert into audit_trail.log_keys
            select organization, -1, 'former', verifier_key, source, created_at from audit_trail.log_keys
             where organization = ${id} limit 1 returning 1)
          insert into audit_trail.signed_checkpoints (organization, origin, size, root, note, signed_at, position)
          select organization, 'former', 3, root, note, signed_at, -1 from audit_trail.signed_checkpoints
           where organization = ${id} limit 1`,
    );
    const stampedAt = '2026-11-21T12:00:00.000Z';
    await tamper(
      server.database,
      sql`insert into audit_trail.time_stamps (id, origin, size, note, response, authority, policy, stamped_at, stored_at)
          values ('old', ${origin}, 1, '', '', 'stamps', '1.2.3', now(), now()),
                 ('new', ${origin}, 2, '', '', 'stamps', '1.2.3', ${stampedAt}, now())`,
    );
    const { attributes } = await readStatus();
    expect(attributes['time-stamp']).toEqual({ id: 'new', size: 2, authority: 'stamps', 'stamped-at': stampedAt });
    await tamper(server.database, sql`delete from audit_trail.time_stamps`);
    expect(attributes['site-log']).toMatchObject({ origin, size: Number(size), witnessed: false });
    expect(attributes['site-log']['signed-at']).toMatch(/Z$/);
    expect(attributes.witnesses).toEqual([{ 'verifier-key': key, size: 1 }]);
    expect(attributes['previous-origins']).toMatchObject([{ origin: 'former', size: 3 }]);
    await tamper(server.database, sql`delete from audit_trail.signed_checkpoints where origin = 'former'`);
    await tamper(server.database, sql`delete from audit_trail.log_keys where origin = 'former'`);
  });
});

describe('a tile', () => {
  it('has the hashes of the leaves in the bundle, and the root of the checkpoint', async () => {
    const { size, root } = await readCheckpoint();
    const tile = await readBytes(`tile/0/000.p/${size}`);
    const bundle = await readBytes(`tile/entries/000.p/${size}`);
    expect(tile.headers.get('content-type')).toBe('application/octet-stream');
    expect(tile.headers.get('cache-control')).toBe('private, max-age=300');
    expect(bundle.bytes.length).toBe(size * 34);
    const leaves = Array.from({ length: size }, (_, n) => bundle.bytes.subarray(n * 34 + 2, n * 34 + 34));
    expect(bundle.bytes.readUInt16BE(0)).toBe(32);
    expect(splitHashes(tile.bytes)).toEqual(leaves.map(hashLeaf));
    expect(computeTileRoot(tile.bytes)).toEqual(root);
  });

  it.each([
    '0/000',
    '0/000.p/1',
    '0/000.p/256',
    '0/000.p/0',
    '0/0',
    '0/x000/000',
    '0/001.p/1',
    '1/000.p/1',
    '7/000.p/1',
    '63/x999/x999/x999/x999/999',
    '0/999999999999999999',
    'entries',
    '0/000.p/3/../4',
  ])('has no other path: %s', async (path) => {
    expect((await readBytes(`tile/${path}`)).status).toBe(404);
  });

  it('is complete after 256 leaves, and partial ones of signed sizes stay', async () => {
    const { id: large } = await makeOrganization(server, 'large');
    await waitForTrail(server.store, large);
    const [{ count } = { count: 0 }] = await server.database.rows<{ count: number }>(
      sql`select count(*) as count from audit_trail.leaves where organization = ${large}`,
    );
    await sign();
    await insertTestLeaves(server.database, large, [count, 70_000]);
    for (let round = 0; round < 6; round += 1) await sign();
    for (const [path, hashes] of [
      [`0/000.p/${count}`, count],
      ['0/000', 256],
      ['0/272', 256],
      ['0/273.p/112', 112],
      ['1/000', 256],
      ['1/001.p/17', 17],
      ['2/000.p/1', 1],
    ] as const) {
      const { status, bytes } = await readBytes(`tile/${path}`, 'large');
      expect([path, status, bytes.length]).toEqual([path, 200, hashes * 32]);
    }
    const site = await fetch(`${server.url}/audit-trail-log/tile/0/000.p/1`);
    expect([site.status, site.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    for (const path of ['0/273', '0/273.p/111', '1/001', '2/000']) {
      expect([path, (await readBytes(`tile/${path}`, 'large')).status]).toEqual([path, 404]);
    }
  });
});

describe('a proof', () => {
  it('proves each entry with what opens its leaf', async () => {
    const entries = await listEntries();
    const checkpoint = await readCheckpoint();
    for (const [index, entry] of entries.entries()) {
      const { text, headers } = expectStatus(await server.get(`${P}/entries/${entry.id}/proof`), 200);
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${entry.id}.tlog-proof"`);
      const proof = parseProof(text);
      const opening = JSON.parse(proof.extra?.toString() ?? '') as {
        salt: string;
        commitments: Record<string, string>;
      };
      const commitments = Object.fromEntries(
        Object.entries(opening.commitments).map(([pointer, value]) => [pointer, Buffer.from(value, 'base64')]),
      );
      const leaf = computeLeaf({ salt: Buffer.from(opening.salt, 'base64'), entry, commitments });
      expect(proof.index).toBe(index);
      const { text: signed } = openNote(proof.checkpoint, await readKeys());
      expect(parseCheckpoint(signed)).toEqual(checkpoint);
      expect(verifyInclusion({ ...checkpoint, index, leafHash: hashLeaf(leaf), proof: proof.proof })).toBe(true);
    }
  });

  it('waits for the next checkpoint, with which it verifies, and older proofs stay valid', async () => {
    const [first] = await listEntries();
    const before = parseProof((await server.get(`${P}/entries/${first?.id}/proof`)).text);
    await makeWorkspace(server, 'acme', 'late');
    const entry = (await listEntries()).at(-1);
    const { headers, body } = expectStatus(await server.get(`${P}/entries/${entry?.id}/proof`), 503);
    expect(headers.get('retry-after')).toBe('10');
    expect(body.errors[0].detail).toMatch(/not in a checkpoint yet/);
    await sign();
    expectStatus(await server.get(`${P}/entries/${entry?.id}/proof`), 200);
    expect(openNote(before.checkpoint, await readKeys()).signatures).toHaveLength(1);
  });

  it('needs only the index once the entry and its leaf are deleted, and then opens nothing', async () => {
    const { size } = await readCheckpoint();
    const byIndex = parseProof(expectStatus(await server.get(`${P}/entries/0/proof`), 200).text);
    expect(byIndex.extra).not.toBeNull();
    const [first] = await listEntries();
    const path = `${P}/entries/${first?.id}/proof`;
    const { text } = expectStatus(await server.get(path), 200);
    await tamper(server.database, sql`delete from views.audit_trail_entries where id = ${first?.id ?? ''}::uuid`);
    expectStatus(await server.get(path), 404);
    const later = parseProof(expectStatus(await server.get(`${P}/entries/0/proof`), 200).text);
    expect(later).toEqual({ ...parseProof(text), extra: null });
    for (const key of [`${size}`, '00', '-1', '1.5', 'x', '9007199254740993']) {
      expectStatus(await server.get(`${P}/entries/${key}/proof`), 404);
    }
  });
});

describe('a proof in a log with upper tiles', () => {
  const SIZE = 700;
  const INDEX = 300;
  let organization: string;

  const createHistory = (name: string): RightEdge => {
    const edge = new RightEdge(0, []);
    for (let index = 0; index < SIZE; index += 1) edge.append(createLeaf(index, name));
    return edge;
  };

  const readProof = async () =>
    parseProof(
      expectStatus(await server.get(`/api/v2/organizations/long/audit-trail-log/entries/${INDEX}/proof`), 200).text,
    );

  /** Gives the log another history, as a restore under a running process does. */
  const restore = async ({ completed }: RightEdge, root: Buffer): Promise<void> => {
    for (const { level, index, hashes, root: tileRoot } of completed) {
      await tamper(
        server.database,
        sql`update audit_trail.tiles set hashes = ${hashes}, root = ${tileRoot}
             where organization = ${organization} and level = ${level} and index = ${index}`,
      );
    }
    for (let index = 2 * TILE_WIDTH; index < SIZE; index += 1) {
      await tamper(
        server.database,
        sql`update audit_trail.leaves set leaf = ${createLeaf(index, 'other')}
             where organization = ${organization} and index = ${index}`,
      );
    }
    await tamper(
      server.database,
      sql`update audit_trail.signed_checkpoints
             set note = regexp_replace(note, E'\\n[A-Za-z0-9+/]{43}=\\n', E'\\n' || ${root.toString('base64')} || E'\\n')
           where organization = ${organization} and size = ${SIZE}`,
    );
  };

  it('fits the checkpoint, also after the database got another history under the running process', async () => {
    ({ id: organization } = await makeOrganization(server, 'long'));
    await waitForTrail(server.store, organization);
    await tamper(server.database, sql`delete from audit_trail.leaves where organization = ${organization}`);
    await insertTestLeaves(server.database, organization, [0, SIZE]);
    await sign();
    const { checkpoint, proof } = await readProof();
    const { root } = parseCheckpoint(splitNote(checkpoint).text);
    const leafHash = hashLeaf(createLeaf(INDEX));
    expect(verifyInclusion({ index: INDEX, size: SIZE, root, leafHash, proof })).toBe(true);

    const other = createHistory('other');
    await restore(other, other.computeRoot());
    const restored = await readProof();
    const otherLeafHash = hashLeaf(createLeaf(INDEX, 'other'));
    const inclusion = { index: INDEX, size: SIZE, root: other.computeRoot(), leafHash: otherLeafHash };
    expect(restored.checkpoint).toContain(inclusion.root.toString('base64'));
    expect(verifyInclusion({ ...inclusion, proof: restored.proof })).toBe(true);
  });
});

describe('a proof of the log of the site', () => {
  it('shows that it has a checkpoint, which is found by the digest of its text', async () => {
    const { text: note } = expectStatus(await server.get(`${P}/checkpoint`), 200);
    const { text } = splitNote(note);
    await createTestSigning(server)();
    const digest = hash('sha256', text);
    const { text: answer, headers } = expectStatus(
      await server.get(`/audit-trail-log/checkpoints/${digest}/proof`),
      200,
    );
    expect(headers.get('cache-control')).toBe('public, max-age=5');
    const { index, proof, checkpoint, extra } = parseProof(answer);
    const keys = (await server.get('/audit-trail-log/keys')).text.trim().split('\n').map(parseVerifierKey);
    const site = parseCheckpoint(openNote(checkpoint, keys).text);
    const leaf = Buffer.concat([hash('sha256', (await readCheckpoint()).origin, 'buffer'), Buffer.from(digest, 'hex')]);
    expect(extra).toBeNull();
    expect(verifyInclusion({ ...site, index, leafHash: hashLeaf(leaf), proof })).toBe(true);
  });

  it('waits for the next checkpoint of the log of the site, and is not there for another digest', async () => {
    await makeWorkspace(server, 'acme', 'last');
    await waitForTrail(server.store, id);
    // The job signs the log of the site once a minute.
    await sign();
    const { text: note } = expectStatus(await server.get(`${P}/checkpoint`), 200);
    const path = `/audit-trail-log/checkpoints/${hash('sha256', splitNote(note).text)}/proof`;
    const { headers, body } = expectStatus(await server.get(path), 503);
    expect(headers.get('retry-after')).toBe('60');
    expect(body.errors[0].detail).toMatch(/does not contain it yet/);
    await createTestSigning(server)();
    expectStatus(await server.get(path), 200);
    for (const digest of ['0'.repeat(64), 'A'.repeat(64), '0'.repeat(63), 'x']) {
      expectStatus(await server.get(`/audit-trail-log/checkpoints/${digest}/proof`), 404);
    }
  });
});
