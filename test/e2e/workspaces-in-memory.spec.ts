import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cacheMetrics } from '#api/document-cache';
import { countAnswersFromMemory } from '../support/kept-documents.js';
import {
  expectStatus,
  flatTags,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import {
  startAnotherGateway,
  startTestServer,
  type ApiTestClient,
  type TestGateway,
  type TestServer,
} from '../support/server.js';

// The first gateway makes its responses of workspaces in memory. The third keeps nothing, and writes go through the second.

let first: TestServer;
let second: TestGateway;
let plain: TestGateway;

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)] as T;

const LIST = '/api/v2/organizations/acme/workspaces';

beforeAll(async () => {
  first = await startTestServer();
  second = await startAnotherGateway(first);
  plain = await startAnotherGateway(first, { documentCacheBytes: null });
});

afterAll(async () => {
  await second.close();
  await plain.close();
  await first.close();
});

const countNames = async (): Promise<number> => (await cacheMetrics.names.get()).values[0]?.value ?? 0;

/** Requests lists of an organization until the gateway has its names in memory. A change meanwhile makes it begin again. */
const keepNames = async (gateway: ApiTestClient, list: string): Promise<void> => {
  const before = await countNames();
  for (let n = 1; (await countNames()) === before; n += 1)
    await gateway.get(`${list}?page%5Bsize%5D=1&page%5Bnumber%5D=${n}`);
};

describe('responses that are made of workspaces in memory', () => {
  it('are the same bytes as those of a gateway without memory, for random writes, callers, pages and searches', async () => {
    const { defaultProject } = await makeOrganization(second, 'acme');
    const project = await makeProject(second, 'acme', 'granted');
    const names = new Map<string, string>();
    let created = 0;
    const create = async (): Promise<void> => {
      const name = `${pick(['App', 'app', 'net', 'db_'])}-${(created += 1)}`;
      const relationships = { project: { data: { type: 'projects', id: pick([defaultProject, project]) } } };
      names.set(
        await makeWorkspace(second, 'acme', name, { description: pick(['', 'é "quoted"', '日本']) }, relationships),
        name,
      );
    };
    for (let n = 0; n < 40; n += 1) await create();
    const team = await makeTeam(second, 'acme', 'granted');
    await grantWorkspaceAccess(second, team, pick([...names.keys()]), 'write');
    await grantProjectAccess(second, team, project, 'read');
    const readers = await makeTeam(second, 'acme', 'readers', { 'organization-access': { 'read-workspaces': true } });
    const tokens = [
      (await makeMember(second, 'acme', 'granted', [team])).token,
      (await makeMember(second, 'acme', 'reader', [readers])).token,
    ];
    const clientsOf = (gateway: ApiTestClient) => [gateway, ...tokens.map((token) => gateway.as(token))];
    await keepNames(first, LIST);

    const at = (id: string) => `/api/v2/workspaces/${id}`;
    const write = async (): Promise<void> => {
      const id = pick([...names.keys()]);
      const actions: readonly (() => Promise<unknown>)[] = [
        create,
        async () => {
          const name = `renamed-${(created += 1)}`;
          await second.patch(at(id), resource('workspaces', { name }));
          names.set(id, name);
        },
        () =>
          second.patch(
            at(id),
            resource('workspaces', { 'auto-apply': randomInt(2) === 0, 'trigger-prefixes': ['/a\n"b'] }),
          ),
        () => second.post(`${at(id)}/actions/${pick(['lock', 'unlock'])}`),
        () => second.post(`${at(id)}/relationships/tags`, flatTags(pick(['blue', 'green']))),
        () => second.post(`${at(id)}/vars`, resource('vars', { key: `k${(created += 1)}`, category: 'env' })),
        async () => {
          await second.delete(at(id));
          names.delete(id);
        },
      ];
      await pick(actions)();
    };
    const choosePath = (): string => {
      const [id, name] = pick([...names]);
      const query = new URLSearchParams({
        'page[size]': pick(['1', '7', '20']),
        'page[number]': pick(['1', '2', '3', '99']),
      });
      if (randomInt(2) === 0) query.set('sort', pick(['name', '-name']));
      if (randomInt(2) === 0) query.set('search[name]', pick(['AP', 'e', 'b_-1', '-', 'zz', '%', name.slice(1, 4)]));
      return pick([
        at(id),
        `${LIST}/${name}`,
        `${LIST}?${String(query)}`,
        `${LIST}?${String(query)}`,
        at('ws-doesnotexist1'),
      ]);
    };

    const answers = await countAnswersFromMemory(async () => {
      for (let step = 0; step < 150; step += 1) {
        if (step % 3 === 0) await write();
        const path = choosePath();
        const caller = randomInt(3);
        const [cached, read] = [clientsOf(first)[caller], clientsOf(plain)[caller]] as [ApiTestClient, ApiTestClient];
        const [{ status, text }, expected] = [await cached.get(path), await read.get(path)];
        expect([step, path, caller, status, text]).toEqual([
          step,
          path,
          caller,
          expected.status,
          expected.text.replaceAll(plain.url, first.url),
        ]);
      }
    });
    expect(answers).toBeGreaterThan(30);
  });
});

describe('responses of workspaces in an edition', () => {
  it.each(['hosted', 'self-hosted'] as const)(
    '%s: are the same bytes from memory as from the handler',
    async (edition) => {
      const organization = `of-${edition}`;
      await makeOrganization(second, organization);
      const id = await makeWorkspace(second, organization, 'one', { 'assessments-enabled': true });
      const policy = resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 30 });
      expectStatus(await second.post(`/api/v2/workspaces/${id}/relationships/data-retention-policy`, policy), 200);
      const list = `/api/v2/organizations/${organization}/workspaces`;
      const memory = await startAnotherGateway(first, { edition });
      const handler = await startAnotherGateway(first, { edition, documentCacheBytes: null });
      await keepNames(memory, list);
      const paths = [`/api/v2/workspaces/${id}`, `${list}/one`, `${list}?page%5Bsize%5D=7`];
      const answers = await countAnswersFromMemory(async () => {
        for (const path of paths) {
          const expected = expectStatus(await handler.get(path), 200).text.replaceAll(handler.url, memory.url);
          expect((await memory.get(path)).text).toBe(expected);
          expect(expected).not.toBe((await plain.get(path)).text.replaceAll(plain.url, memory.url));
        }
      });
      await memory.close();
      await handler.close();
      expect(answers).toBe(paths.length);
    },
  );
});
