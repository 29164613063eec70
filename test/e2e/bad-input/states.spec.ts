import { createHash } from 'node:crypto';
import { describe, it } from '@jest/globals';
import { expectStatus, resource } from '../../support/seeds.js';
import { newStateVersion, pathOf, stateFile } from '../../support/state-file.js';
import type { TestServer } from '../../support/server.js';
import { describeRefusals, type BadRequestCase, type Fixture } from './bad-requests.js';

const STORED = stateFile({ serial: 4 });
const PENDING = stateFile({ serial: 5, lineage: STORED.lineage });

/** Creates two state versions in the locked workspace: one with its file, and one that waits for its upload. */
const withStates = async (server: TestServer, { locked = '' }: Fixture): Promise<Fixture> => {
  const versions = `/api/v2/workspaces/${locked}/state-versions`;
  expectStatus(await server.post(versions, newStateVersion(STORED, { inline: true })), 201);
  const announced = await server.post(versions, newStateVersion(PENDING, { inline: false }));
  expectStatus(announced, 201);
  const link = pathOf(announced.body.data.attributes['hosted-state-upload-url'] as string);
  const [, path = '', payload = '', signature = ''] = /^(.*\/)([^/.]+)\.([^/.]+)$/.exec(link) ?? [];
  const [subject, expires] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, number];
  const signed = (claim: unknown): string =>
    `${path}${Buffer.from(JSON.stringify(claim)).toString('base64url')}.${signature}`;
  return {
    pending: announced.body.data.id as string,
    upload: link,
    // Each of these links differs from the signed link in one part.
    otherFile: signed([subject.replace('json-', '').replace(/^/, 'json-'), expires]),
    otherVersion: signed([subject.replace(/sv-.*$/, 'sv-4nZ8vKq2RtYw5xBc'), expires]),
    otherTime: signed([subject, expires + 1]),
    otherSignature: `${path}${payload}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
    noSignature: `${path}${payload}.`,
    noClaim: `${path}.${signature}`,
    noJson: `${path}${Buffer.from('nonsense').toString('base64url')}.${signature}`,
  };
};

const { expectRefusal } = describeRefusals({}, withStates);

describe('a wrong request for state versions', () => {
  const versions: BadRequestCase['send'] = 'POST /api/v2/workspaces/{locked}/state-versions';
  const next = (overrides: object = {}): object => {
    const { serial, lineage, bytes, md5 } = stateFile({ serial: 6, lineage: PENDING.lineage });
    return resource('state-versions', { serial, lineage, md5, state: bytes.toString('base64'), ...overrides });
  };

  it.each<BadRequestCase>([
    { title: 'no attributes', send: versions, body: { data: {} }, status: 422, problems: [['/data/attributes']] },
    {
      title: 'no required attribute',
      send: versions,
      body: resource('state-versions'),
      status: 422,
      problems: [['/data/attributes/serial'], ['/data/attributes/md5']],
    },
    {
      title: 'a serial below 0',
      send: versions,
      body: next({ serial: -1 }),
      status: 422,
      problems: [['/data/attributes/serial']],
    },
    {
      title: 'a fractional serial',
      send: versions,
      body: next({ serial: 6.5 }),
      status: 422,
      problems: [['/data/attributes/serial']],
    },
    {
      title: 'a serial that is too large',
      send: versions,
      body: next({ serial: 1e300 }),
      status: 422,
      problems: [['/data/attributes/serial']],
    },
    {
      title: 'an invalid MD5',
      send: versions,
      body: next({ md5: 'none' }),
      status: 422,
      problems: [['/data/attributes/md5']],
    },
    {
      title: 'the MD5 of another file',
      send: versions,
      body: next({ md5: 'a'.repeat(32) }),
      status: 422,
      problems: [['/data/attributes/md5']],
    },
    {
      title: 'a state that is no Base64',
      send: versions,
      body: next({ state: '§' }),
      status: 422,
      problems: [['/data/attributes/state']],
    },
    {
      title: 'a lineage with a NUL',
      send: versions,
      body: next({ lineage: 'a\u0000' }),
      status: 422,
      problems: [['/data/attributes/lineage']],
    },
    {
      title: 'a lineage that the file does not have',
      send: versions,
      body: next({ lineage: 'another' }),
      status: 422,
      problems: [['/data/attributes/lineage', /another is not the lineage of the state file/]],
    },
    {
      title: 'another lineage',
      send: versions,
      body: newStateVersion(stateFile({ serial: 6 }), { inline: true }),
      status: 409,
    },
    { title: 'an old serial', send: versions, body: next({ serial: 4 }), status: 409 },
    {
      title: 'an unlocked workspace',
      send: 'POST /api/v2/workspaces/{workspace}/state-versions',
      body: next(),
      status: 409,
    },
    { title: 'a workspace of another organization', send: versions, body: next(), as: '{otherToken}', status: 404 },
    {
      title: 'an unknown workspace',
      send: 'POST /api/v2/workspaces/ws-nowhere/state-versions',
      body: next(),
      status: 404,
    },
    { title: 'a list without a filter', send: 'GET /api/v2/state-versions', status: 400 },
    { title: 'an unknown version', send: 'GET /api/v2/state-versions/sv-nowhere', status: 404 },
    {
      title: 'a version whose file is not uploaded yet',
      send: 'GET /api/v2/state-versions/{pending}/download',
      status: 404,
    },
    {
      title: 'a version of another organization',
      send: 'GET /api/v2/state-versions/{pending}',
      as: '{otherToken}',
      status: 404,
    },
    {
      title: 'a download without a token',
      send: 'GET /api/v2/state-versions/{pending}/download',
      as: null,
      status: 401,
    },
    { title: 'an unknown output', send: 'GET /api/v2/state-version-outputs/wsout-nowhere', status: 404 },
    {
      title: 'an unlock before the upload',
      send: 'POST /api/v2/workspaces/{locked}/actions/unlock',
      status: 503,
      problems: [[null, /latest state version is still pending/]],
    },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each<BadRequestCase>([
    { title: 'without a signature', send: 'PUT /api/v2/state-versions/upload/nonsense', status: 403 },
    { title: 'for another file', send: 'PUT {otherFile}', status: 403 },
    { title: 'for another version', send: 'PUT {otherVersion}', status: 403 },
    { title: 'with a later expiry', send: 'PUT {otherTime}', status: 403 },
    { title: 'with another signature', send: 'PUT {otherSignature}', status: 403 },
    { title: 'without its signature', send: 'PUT {noSignature}', status: 403 },
    { title: 'without its claim', send: 'PUT {noClaim}', status: 403 },
    { title: 'with a claim that is no JSON', send: 'PUT {noJson}', status: 403 },
  ])('is refused for a link $title: $send', async (bad) => {
    await expectRefusal({ ...bad, body: new Uint8Array(PENDING.bytes), as: null });
  });

  it.each([
    ['other bytes than were announced', new Uint8Array(stateFile({ serial: 5 }).bytes)],
    ['nothing', new Uint8Array(0)],
  ])('is refused for an upload of %s to a valid link', async (_, body) => {
    await expectRefusal({ title: '', send: 'PUT {upload}', body, as: null, status: 422 });
  });

  it.each([
    ['no JSON', Buffer.from('{"version":')],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['not an object', Buffer.from('[]')],
    [
      'outputs with names that cannot be stored',
      stateFile({ outputs: { 'a\u0000b': { value: 1, type: 'number' } } }).bytes,
    ],
    ['outputs with an invalid type', stateFile({ outputs: { out: { value: 1, type: ['nonsense'] } } }).bytes],
    [
      'a deeply nested output',
      Buffer.from(`{"version":4,"serial":6,"outputs":{"a":{"value":${'['.repeat(50_000)}${']'.repeat(50_000)}}}}`),
    ],
  ])('is refused for a state that is or has %s, even with the right MD5', async (_, bytes) => {
    const md5 = createHash('md5').update(bytes).digest('hex');
    await expectRefusal({
      title: '',
      send: versions,
      body: next({ md5, state: bytes.toString('base64') }),
      status: 422,
    });
  });
});
