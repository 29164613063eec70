import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rebuildView, verifyView, listViews } from '#storage/event-store';
import { createAuditTrailDefinition } from '#activity/audit-trail';
import { expectStatus, makeOrganization, makeOrganizationToken, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { factsDefinition } from '../facts.module.js';
import { registerSource, SOURCE } from '../spec.js';

let server: TestServer;
let number = 0;

beforeAll(async () => {
  server = await startTestServer({ followers: true });
});
afterAll(() => server.close());

const makeOrganizationWithPath = async () => {
  const { name, id } = await makeOrganization(server, `owner-${(number += 1)}`);
  return { name, id, path: `/api/v2/organizations/${name}/audit-fact-sources` };
};

describe('sources of facts', () => {
  it('are registered, shown, listed by source and removed', async () => {
    const { name, path } = await makeOrganizationWithPath();
    const { data } = (await registerSource(server, name)).body;
    expect(data).toEqual({
      id: expect.stringMatching(/^afs-/),
      type: 'audit-fact-sources',
      attributes: { source: SOURCE, description: 'Policies', 'created-at': expect.any(String) },
      links: { self: `/api/v2/audit-fact-sources/${data.id}` },
    });
    expect(expectStatus(await server.get(data.links.self), 200).body.data).toEqual(data);
    await registerSource(server, name, 'https://a.example');
    const { body } = expectStatus(await server.get(path), 200);
    expect(body.data.map(({ attributes }: { attributes: { source: string } }) => attributes.source)).toEqual([
      'https://a.example',
      SOURCE,
    ]);
    expect(body.meta.pagination['total-count']).toBe(2);
    expectStatus(await server.delete(data.links.self), 204);
    expectStatus(await server.get(data.links.self), 404);
    expectStatus(await server.delete(data.links.self), 404);
    expect(expectStatus(await server.get(path), 200).body.data).toHaveLength(1);
  });

  it('refuse a source that is registered already, in the same organization only', async () => {
    const [here, there] = [await makeOrganizationWithPath(), await makeOrganizationWithPath()];
    await registerSource(server, here.name);
    const response = expectStatus(
      await server.post(here.path, resource('audit-fact-sources', { source: SOURCE })),
      422,
    );
    expect(response.body.errors).toMatchObject([
      { detail: 'Source has already been taken', source: { pointer: '/data/attributes/source' } },
    ]);
    const { attributes } = (await registerSource(server, there.name)).body.data;
    expect(attributes.source).toBe(SOURCE);
  });

  it.each([
    [{}, '/data/attributes/source'],
    [{ source: 7 }, '/data/attributes/source'],
    [{ source: 'two words' }, '/data/attributes/source'],
    [{ source: SOURCE, description: 'x'.repeat(501) }, '/data/attributes/description'],
  ])('refuse %j and name the attribute', async (attributes, pointer) => {
    const { path } = await makeOrganizationWithPath();
    const { body } = expectStatus(await server.post(path, resource('audit-fact-sources', attributes)), 422);
    expect(body.errors).toMatchObject([{ source: { pointer } }]);
    expect(expectStatus(await server.get(path), 200).body.data).toEqual([]);
  });

  it('are limited to a hundred in an organization', async () => {
    const { name, path } = await makeOrganizationWithPath();
    const another = (n: number) =>
      server.post(path, resource('audit-fact-sources', { source: `https://${n}.example` }));
    await Promise.all(Array.from({ length: 99 }, (_, n) => another(n)));
    await registerSource(server, name);
    const { body } = expectStatus(await another(100), 422);
    expect(body.errors).toMatchObject([{ detail: expect.stringMatching(/^There are too many sources \(at most 100/) }]);
    expect(expectStatus(await server.get(path), 200).body.meta.pagination['total-count']).toBe(100);
  });

  it('are recorded in the audit trail as updates of the organization', async () => {
    const { name, id } = await makeOrganizationWithPath();
    const auditor = server.as(await makeOrganizationToken(server, name));
    const source = (await registerSource(server, name)).body.data;
    expectStatus(await server.delete(source.links.self), 204);
    const { body } = expectStatus(await auditor.get('/api/v2/organization/audit-trail'), 200);
    const updates = body.data
      .map((entry: { resource: object }) => entry.resource)
      .filter(({ action }: { action: string }) => action === 'update');
    expect(updates).toEqual([
      { id, type: 'organization', action: 'update', meta: { audit_fact_source_removed: SOURCE } },
      { id, type: 'organization', action: 'update', meta: { audit_fact_source_registered: SOURCE } },
    ]);
  });

  it('are deleted with their organization, and views show the same after a rebuild', async () => {
    const [here, deleted] = [await makeOrganizationWithPath(), await makeOrganizationWithPath()];
    await registerSource(server, here.name);
    const { data } = (await registerSource(server, deleted.name)).body;
    expectStatus(await server.delete(`/api/v2/organizations/${deleted.name}`), 204);
    expectStatus(await server.get(data.links.self), 404);
    const before = expectStatus(await server.get(here.path), 200).body;
    const views = listViews([factsDefinition, createAuditTrailDefinition(server.store.kinds)]);
    for (const view of views) await rebuildView(server.store, view, { now: new Date() });
    for (const view of views) expect(await verifyView(server.store, view, new Date())).toEqual([]);
    expect(expectStatus(await server.get(here.path), 200).body).toEqual(before);
  });
});
