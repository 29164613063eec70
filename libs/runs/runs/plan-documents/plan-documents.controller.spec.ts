import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectStatus, grantWorkspaceAccess, makeRun, makeTeam, makeToken } from '../../../../test/support/seeds.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { type ApiResponse, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let agents: ApiTestClient;

beforeAll(async () => {
  ({ server, agents } = await startRunSite());
});

afterAll(() => server.close());

const { aWorkspace, report, reported } = runRequests(() => ({ server, agents }));

const planOf = (run: string): string => run.replace('run-', 'plan-');

const SCHEMAS = {
  format_version: '1.0',
  provider_schemas: { 'example.org/a/b': { resource_schemas: { b_thing: { version: 0, block: {} } } } },
};

const PLAN = {
  format_version: '1.2',
  variables: { secret: { value: 'hush' } },
  resource_changes: [
    {
      address: 'b_thing.one',
      mode: 'managed',
      type: 'b_thing',
      name: 'one',
      provider_name: 'example.org/a/b',
      change: { actions: ['create'], before: null, after: { a: 'hush', big: 1 }, after_sensitive: { a: true } },
    },
  ],
};

const upload = (run: string, kind: string, body: unknown, api = agents): Promise<ApiResponse> =>
  api.put(`/api/v2/plans/${planOf(run)}/${kind}`, body);

const get = (run: string, kind: string, api: ApiTestClient = server): Promise<ApiResponse> =>
  api.get(`/api/v2/plans/${planOf(run)}/${kind}`);

const read = async (run: string, kind: string): Promise<any> => {
  const { headers } = expectStatus(await get(run, kind), 307);
  return expectStatus(await server.as(null).get(headers.get('location') ?? ''), 200).body;
};

const aRun = async (...statuses: readonly string[]): Promise<string> => {
  const run = await makeRun(server, await aWorkspace());
  await reported(run, ...statuses);
  return run;
};

const KINDS = ['json-output', 'json-output-redacted', 'json-schema'];

describe('the documents of a plan', () => {
  it('are what the executor uploaded, and a plan without sensitive values', async () => {
    const run = await aRun('planning');
    expectStatus(await upload(run, 'json-schema', SCHEMAS), 204);
    expectStatus(await upload(run, 'json-output', PLAN), 204);
    for (const kind of KINDS) expectStatus(await get(run, kind), 204);
    await reported(run, 'planned');
    expect(await read(run, 'json-output')).toEqual(PLAN);
    expect(await read(run, 'json-schema')).toEqual(SCHEMAS);
    const redacted = await read(run, 'json-output-redacted');
    expect(redacted).toMatchObject({ plan_format_version: '1.2', provider_schemas: SCHEMAS.provider_schemas });
    expect(JSON.stringify(redacted)).not.toContain('hush');
    for (const kind of KINDS) {
      const { headers } = expectStatus(await server.get(`/api/v2/runs/${run}/plan/${kind}`), 307);
      expect(headers.get('location')).toContain('/api/v2/plan-documents/');
    }
  });

  it('can be compressed and larger than what the event loop reads', async () => {
    const run = await aRun('planning');
    const large = { ...PLAN, comment: 'x'.repeat(200_000) };
    expectStatus(await upload(run, 'json-schema', gzipSync(JSON.stringify(SCHEMAS))), 204);
    expectStatus(await upload(run, 'json-output', gzipSync(JSON.stringify(large))), 204);
    await reported(run, 'planned');
    expect(await read(run, 'json-output')).toEqual(large);
    expect(await read(run, 'json-output-redacted')).not.toHaveProperty('comment');
  });

  it('are 404 if the executor has uploaded none', async () => {
    const run = await aRun('planning');
    expectStatus(await report(run, 'errored'), 200);
    for (const kind of KINDS) expectStatus(await get(run, kind), 404);
  });

  it('are removed with the workspace', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    await reported(run, 'planning');
    expectStatus(await upload(run, 'json-schema', SCHEMAS), 204);
    expectStatus(await upload(run, 'json-output', PLAN), 204);
    await reported(run, 'planned');
    const { headers } = expectStatus(await get(run, 'json-output'), 307);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expectStatus(await server.as(null).get(headers.get('location') ?? ''), 404);
  });

  it('need admin access, except the redacted plan', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace);
    await reported(run, 'planning');
    expectStatus(await upload(run, 'json-schema', SCHEMAS), 204);
    expectStatus(await upload(run, 'json-output', PLAN), 204);
    await reported(run, 'planned');
    const team = await makeTeam(server, 'acme', 'writers');
    await grantWorkspaceAccess(server, team, workspace, 'write');
    const api = server.as(await makeToken(server, `/api/v2/teams/${team}/authentication-token`));
    expectStatus(await get(run, 'json-output-redacted', api), 307);
    for (const kind of ['json-output', 'json-schema']) expectStatus(await get(run, kind, api), 403);
  });
});

describe('an upload', () => {
  it('is accepted again, and no other one', async () => {
    const run = await aRun('planning');
    for (let round = 0; round < 2; round += 1) {
      expectStatus(await upload(run, 'json-schema', SCHEMAS), 204);
      expectStatus(await upload(run, 'json-output', PLAN), 204);
    }
    expectStatus(await upload(run, 'json-output', { ...PLAN, resource_changes: [] }), 409);
  });

  it('is refused before and after the plan, and without the schemas', async () => {
    const run = await makeRun(server, await aWorkspace());
    expectStatus(await upload(run, 'json-schema', SCHEMAS), 409);
    await reported(run, 'planning');
    const { errors } = expectStatus(await upload(run, 'json-output', PLAN), 409).body;
    expect(errors[0].detail).toContain('Upload json-schema first');
    await reported(run, 'planned');
    expectStatus(await upload(run, 'json-schema', SCHEMAS), 409);
  });

  it.each([
    ['text', 'no JSON'],
    ['a list', []],
    ['null', 'null'],
    ['a broken gzip file', Buffer.from([0x1f, 0x8b, 1, 2])],
    ['a gzip file of a huge text', gzipSync(Buffer.alloc(65 * 1024 * 1024, ' '))],
    ['an object without a version', {}],
  ])('is refused if it is %s', async (_, body) => {
    const run = await aRun('planning');
    const isSchema = JSON.stringify(body) !== '{}';
    if (!isSchema) expectStatus(await upload(run, 'json-schema', SCHEMAS), 204);
    expectStatus(await upload(run, isSchema ? 'json-schema' : 'json-output', body), 422);
    await reported(run, 'planned');
    for (const kind of ['json-output', 'json-output-redacted']) expectStatus(await get(run, kind), 404);
  });

  it('needs the token of a pool that executes the run', async () => {
    const run = await aRun('planning');
    const token = await makeToken(agents, `/api/v2/runs/${run}/authentication-tokens`);
    for (const api of [server, server.as(token)]) {
      expectStatus(await upload(run, 'json-schema', SCHEMAS, api), 404);
      expectStatus(await upload(run, 'json-output', PLAN, api), 404);
    }
  });
});
