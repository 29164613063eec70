import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../../../../test/support/seeds.js';
import { readDatabase, recordLogLines } from '../../../../test/support/leaks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import {
  createVariableBody,
  patchVariableBody,
  makeSet,
  makeVariable,
  secretsOf,
  vaultOf,
} from '../../../../test/support/variables.js';

/** Values that only the vault may contain. */
const SECRETS = [
  'hunter2-created',
  'hunter2-changed',
  'hunter2-of-a-set',
  'hunter2-listed',
  'hunter2-refused',
] as const;
const ANY = /hunter2/;

let server: TestServer;
let organization: string;
let workspace: string;
const answers: ApiResponse[] = [];
let logged: readonly string[];

const recordAnswer = async (answer: Promise<ApiResponse>, status: number): Promise<ApiResponse> => {
  answers.push(await answer);
  return expectStatus(await answer, status);
};

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: { LOG_LEVEL: 'fatal' } });
  logged = recordLogLines(server);
  organization = (await makeOrganization(server, 'acme')).id;
  workspace = await makeWorkspace(server, 'acme', 'one');
});

afterAll(() => server.close());

describe('a secret', () => {
  it('is encrypted on every path that accepts one', async () => {
    const [created, replaced, ofSet, listed, refused] = SECRETS;
    const vars = `/api/v2/workspaces/${workspace}/vars`;
    const secret = (key: string, value: string) => createVariableBody({ key, value, sensitive: true });
    const one = (await recordAnswer(server.post(vars, secret('one', created)), 201)).body.data;
    const two = (await recordAnswer(server.post(vars, secret('two', 'x')), 201)).body.data;
    await recordAnswer(server.patch(`${vars}/${two.id}`, patchVariableBody({ value: replaced })), 200);
    const set = await makeSet(server, 'acme', 'shared');
    const three = await makeVariable(server, `/api/v2/varsets/${set.id}/relationships/vars`, {
      value: ofSet,
      sensitive: true,
    });
    const attributes = { key: 'four', value: listed, category: 'env', sensitive: true };
    const more = resource('varsets', { name: 'listed' }, { vars: { data: [{ type: 'vars', attributes }] } });
    const createdSet = (await recordAnswer(server.post('/api/v2/organizations/acme/varsets?include=vars', more), 201))
      .body;
    // Refused for another reason, and for the value itself.
    await recordAnswer(server.post(vars, secret('one', refused)), 422);
    await recordAnswer(server.post(vars, secret('', refused)), 422);
    await recordAnswer(
      server.post(vars, createVariableBody({ key: 'n', value: { of: refused }, sensitive: true })),
      422,
    );
    await recordAnswer(
      server.post(vars, createVariableBody({ key: 'n', value: `${refused}\0`, sensitive: true })),
      422,
    );
    await recordAnswer(server.post(vars, secret('n', refused.repeat(30_000))), 422);
    await recordAnswer(server.patch(`${vars}/${one.id}`, patchVariableBody({ value: refused, sensitive: false })), 422);
    await recordAnswer(server.patch(`${vars}/var-nothing`, patchVariableBody({ value: refused })), 404);
    await recordAnswer(server.post('/api/v2/workspaces/ws-nothing/vars', secret('n', refused)), 404);
    for (const path of [vars, `/api/v2/varsets/${set.id}?include=vars`, `/api/v2/workspaces/${workspace}/all-vars`]) {
      await recordAnswer(server.get(path), 200);
    }
    const vault = vaultOf(server);
    expect(
      await Promise.all([one.id, two.id, three.id, createdSet.included[0].id].map((id) => vault.open(id))),
    ).toEqual([created, replaced, ofSet, listed]);
    expect(await secretsOf(server, organization)).toHaveLength(4);
  });

  it('is not readable in any table, nor in the log, which goes to Kafka', async () => {
    const rows = await readDatabase(server);
    const tables = new Set(rows.map(({ table }) => table));
    expect([...tables]).toEqual(
      expect.arrayContaining(['event_store.events', 'event_store.streams', 'vault.secrets', 'views.variables']),
    );
    const hex = SECRETS.map((secret) => Buffer.from(secret).toString('hex'));
    const leaks = rows.filter(({ text }) => ANY.test(text) || hex.some((bytes) => text.includes(bytes)));
    expect(leaks).toEqual([]);
    expect(JSON.stringify(await readWholeLog(server.store))).not.toMatch(ANY);
  });

  it('is in no response and no log line, even if the vault fails', async () => {
    await server.database.rows(sql`alter table vault.secrets rename to away`);
    const body = createVariableBody({ key: 'failing', value: 'hunter2-failing', sensitive: true });
    await recordAnswer(server.post(`/api/v2/workspaces/${workspace}/vars`, body), 500);
    await server.database.rows(sql`alter table vault.away rename to secrets`);
    expect(logged.join('\n')).toContain('vault.secrets');
    expect(logged.join('\n')).not.toMatch(ANY);
    expect(answers.map(({ text }) => text).join('\n')).not.toMatch(ANY);
    // Without the secret, no event was appended.
    const { body: list } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/vars`), 200);
    expect(list.data.map(({ attributes }: any) => attributes.key)).toEqual(['one', 'two']);
  });

  it('that was readable before it became sensitive remains only in old events', async () => {
    const vars = `/api/v2/workspaces/${workspace}/vars`;
    const { id } = await makeVariable(server, vars, { key: 'late', value: 'shown-once' });
    expectStatus(await server.patch(`${vars}/${id}`, patchVariableBody({ sensitive: true })), 200);
    const tables = (await readDatabase(server))
      .filter(({ text }) => text.includes('shown-once'))
      .map(({ table }) => table);
    expect(tables).toEqual(['event_store.events']);
  });
});
