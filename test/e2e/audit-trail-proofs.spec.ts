import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parseVerifierKey, verifyExport, type ExportReport } from '#packages/trail-verifier';
import { LogProofReader } from '../../libs/activity/audit-trail-log/serving/log-proofs.reader.js';
import { findNewestCheckpoint } from '../../libs/activity/audit-trail-log/serving/trail-logs.queries.js';
import { createTestSigning } from '../support/trail-signing.js';
import { act, createAuditedOrganization, type AuditedOrganization } from '../support/audited-organization.js';
import { waitForFollowers } from '../support/event-log.js';
import { expectStatus, makeMember, type SeededMember } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

// Exports of an audit trail with proofs, verified without the server.

let server: TestServer;
let sign: () => Promise<number>;
let audited: AuditedOrganization;
let member: SeededMember;
let verifierKey: string;

const signAll = async (): Promise<void> => {
  await waitForFollowers(server.store, 'audit_trail');
  await sign();
};

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  sign = createTestSigning(server);
  audited = await createAuditedOrganization(server, 'acme');
  member = await makeMember(server, 'acme', 'zoe');
  await signAll();
  const { text } = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail-log/keys'), 200);
  verifierKey = text.split('\n')[0] ?? '';
});
afterAll(() => server.close());

const request = (query: string, path = 'organizations/acme/audit-trail', token = audited.token) =>
  fetch(`${server.url}/api/v2/${path}?${query}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
  });

const readLines = async (query = ''): Promise<readonly string[]> => {
  const answer = await request(`format=ndjson&proofs=true&${query}`);
  expect(answer.status).toBe(200);
  return (await answer.text()).split('\n').slice(0, -1);
};

const verify = (lines: readonly string[], isFiltered = false): Promise<ExportReport> => {
  const chunks = async function* () {
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''));
    await Promise.resolve();
  };
  return verifyExport(chunks(), { keys: [parseVerifierKey(verifierKey)], isFiltered });
};

const parseEntry = (line = ''): any => JSON.parse(line).entry;

describe('an export with proofs', () => {
  it('has every entry of the log, and the verifier accepts it', async () => {
    const lines = await readLines();
    const { checkpoint, entries, first, absent, withheld } = await verify(lines);
    expect({ entries, first, absent, withheld }).toEqual({
      entries: checkpoint.size,
      first: 0,
      absent: 0,
      withheld: 0,
    });
    const plain = (await (await request('format=ndjson')).text()).split('\n').slice(0, -1);
    expect(lines.slice(1).map(parseEntry)).toEqual(plain.map((line) => JSON.parse(line) as unknown));
  });

  it('is accepted with only the entries that a filter selects', async () => {
    const lines = await readLines('filter[resource-type]=team');
    expect(lines.slice(1).map((line) => parseEntry(line).resource.type)).toEqual(lines.slice(1).map(() => 'team'));
    const report = await verify(lines, true);
    expect(report.entries).toBe(lines.length - 1);
    expect(report.absent).toBeGreaterThan(0);
  });

  it('is refused with the entry that was altered, renamed, removed or moved', async () => {
    const lines = await readLines();
    const third = lines[3] ?? '';
    const replace = (line: string): readonly string[] => lines.with(3, line);
    const entry = parseEntry(third);
    const rename = JSON.stringify({
      ...JSON.parse(third),
      entry: { ...entry, auth: { ...entry.auth, description: 'x' } },
    });
    await expect(verify(replace(third.replace(/"action":"[a-z_]+"/, '"action":"forged"')))).rejects.toMatchObject({
      index: 2,
    });
    await expect(verify(replace(rename))).rejects.toMatchObject({ problem: 'altered', index: 2 });
    await expect(verify(lines.toSpliced(3, 1))).rejects.toMatchObject({ problem: 'removed', index: 2 });
    await expect(verify(lines.toSpliced(3, 2, lines[4] ?? '', third))).rejects.toMatchObject({ problem: 'moved' });
    await expect(verify(lines.slice(0, -1))).rejects.toMatchObject({ problem: 'removed' });
  });

  it('leaves out entries that no checkpoint contains yet', async () => {
    await act(server, audited.workspace, 'lock');
    await waitForFollowers(server.store, 'audit_trail');
    const lines = await readLines();
    const before = await verify(lines);
    await signAll();
    const later = await readLines(`after=${parseEntry(lines.at(-1)).id}`);
    expect(later.slice(1).map((line) => parseEntry(line).resource.action)).toEqual(['lock']);
    expect(await verify(later)).toMatchObject({ first: before.checkpoint.size, entries: 1, absent: 0 });
  });

  it('is complete if an entry is signed while the export begins', async () => {
    const find = jest.spyOn(LogProofReader.prototype, 'findCheckpoint').mockImplementationOnce(async (organization) => {
      await act(server, audited.workspace, 'unlock');
      await signAll();
      return (await findNewestCheckpoint(server.database, organization)) ?? null;
    });
    const lines = await readLines();
    find.mockRestore();
    expect(parseEntry(lines.at(-1)).resource.action).toBe('unlock');
    await verify(lines);
  });

  it('stays valid, and withholds the values of a person, when the person is forgotten', async () => {
    const users = `/api/v2/teams/${audited.ownersTeam}/relationships/users`;
    expectStatus(await server.post(users, { data: [{ type: 'users', id: 'zoe' }] }), 204);
    expectStatus(await server.delete(`/api/v2/admin/users/${member.id}`), 204);
    await signAll();
    const lines = await readLines();
    const report = await verify(lines);
    expect(report.entries).toBe(report.checkpoint.size);
    expect(report.withheld).toBeGreaterThan(0);
    // An entry that has the id of the person elsewhere shows it; another one does not, because nothing would prove it.
    const metas = lines.slice(1).map((line) => parseEntry(line).resource.meta);
    expect(metas).toContainEqual(expect.objectContaining({ user: member.id, user_id: member.id }));
    expect(metas).toContainEqual({ user: null });
    expect(lines.join()).not.toContain('"zoe"');
  });

  it.each([
    ['format=ndjson&proofs=yes', 422, 'proofs: must be true or false'],
    ['format=cef&proofs=true', 400, 'proofs: needs format=ndjson without pages'],
    ['format=json&proofs=true', 400, 'proofs: needs format=ndjson without pages'],
    ['format=ndjson&proofs=true&page[size]=10', 400, 'proofs: needs format=ndjson without pages'],
  ])('is refused for %s', async (query, status, detail) => {
    const answer = await request(query);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(detail)]);
  });

  it('is refused for the trail of the site, and for a log without a checkpoint', async () => {
    const site = await request('format=ndjson&proofs=true', 'admin/audit-trail', server.adminToken);
    expect([site.status, await site.text()]).toEqual([
      422,
      expect.stringContaining('proofs: the audit trail of the site has no proofs; those of organizations have'),
    ]);
    const { token } = await createAuditedOrganization(server, 'unsigned');
    const unsigned = await request('format=ndjson&proofs=true', 'organizations/unsigned/audit-trail', token);
    expect([unsigned.status, unsigned.headers.get('retry-after')]).toEqual([503, '10']);
  });
});
