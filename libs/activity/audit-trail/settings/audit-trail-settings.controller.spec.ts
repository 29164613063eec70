import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { rebuildView, verifyView, verifySnapshots, listViews, type RebuildableView } from '#storage/event-store';
import { waitForFollowers } from '../../../../test/support/event-log.js';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeTeam,
  refusalOf,
  resource,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { runBetween } from '../../../../test/support/interleaving.js';
import { createPruningJob } from '../retention/pruning.job.js';
import { auditTrailSettingsDefinition, createAuditTrailDefinition } from '../audit-trail.module.js';
import { listActions, DAY_MS, readTrail } from '../spec.js';

let server: TestServer;
// Tests only move this clock forwards, because pruned entries never return.
const clock = new AdjustableClock();
let number = 0;

beforeAll(async () => {
  // Some tests read entries after years with their first token.
  server = await startTestServer({ followers: true, clock, env: { CADASTRE_TOKEN_LIFETIME: 'off' } });
});
afterAll(() => server.close());

const newName = (): string => `kept-${(number += 1)}`;
const newOrganization = (): Promise<SeededOrganization> => makeOrganization(server, newName());

const path = (organization: string): string => `/api/v2/organizations/${organization}/audit-trail-settings`;
const settingsBody = (days: unknown): object => resource('audit-trail-settings', { 'retention-days': days });

const set = async (organization: string, days: number | null, by: ApiTestClient = server): Promise<void> => {
  const { body } = expectStatus(await by.patch(path(organization), settingsBody(days)), 200);
  expect(body.data.attributes).toEqual({ 'retention-days': days });
};

const prune = () => runJobOnce(createPruningJob(server.database, clock));

const views = (): readonly RebuildableView[] =>
  listViews([auditTrailSettingsDefinition, createAuditTrailDefinition(server.store.kinds)]);

/** Expects that the live views equal those rebuilt from the log. */
const expectTrue = async (): Promise<void> => {
  await waitForFollowers(server.store, 'audit_trail');
  for (const view of views()) expect(await verifyView(server.store, view, clock.now())).toEqual([]);
};

describe('the settings of an audit trail', () => {
  it('keep entries for fourteen days until an owner changes that', async () => {
    const { name, id } = await newOrganization();
    const settings = (days: number | null) => ({
      data: {
        id: id.replace('org-', 'atrail-'),
        type: 'audit-trail-settings',
        attributes: { 'retention-days': days },
        relationships: { organization: { data: { type: 'organizations', id: name } } },
      },
    });
    expect(expectStatus(await server.get(path(name)), 200).body).toEqual(settings(14));
    for (const days of [30, null, 1]) {
      expect(expectStatus(await server.patch(path(name), settingsBody(days)), 200).body).toEqual(settings(days));
      expect(expectStatus(await server.get(path(name)), 200).body).toEqual(settings(days));
    }
    expect(expectStatus(await server.patch(path(name), resource('audit-trail-settings')), 200).body).toEqual(
      settings(1),
    );
  });

  it.each([
    [0, 'Retention days must be greater than 0'],
    [2.5, 'Retention days must be a whole number'],
    [36_501, 'Retention days must be at most 36500, or null'],
    ['14', 'Retention days must be a number'],
  ])('refuse %j days', async (days, detail) => {
    const { name } = await newOrganization();
    expect(refusalOf(await server.patch(path(name), settingsBody(days)))).toEqual([
      '/data/attributes/retention-days',
      detail,
    ]);
  });

  it('are recorded in the audit trail when they change', async () => {
    const { name, id } = await newOrganization();
    const reader = server.as(await makeOrganizationToken(server, name));
    await set(name, 30);
    await set(name, 30);
    const [entry, before] = (await readTrail(reader)).data;
    expect(entry?.resource).toEqual({
      id,
      type: 'organization',
      action: 'update',
      meta: { audit_trail_retention_days: 30 },
    });
    expect(before?.resource.action).not.toBe('update');
  });

  it('are visible to owners only, and other callers do not learn what is wrong with a request', async () => {
    const { name, ownersTeam } = await newOrganization();
    const owner = await makeMember(server, name, `olga-${number}`, [ownersTeam]);
    const member = await makeMember(server, name, `mia-${number}`, [await makeTeam(server, name, 'plain')]);
    const machine = server.as(await makeOrganizationToken(server, name));
    await set(name, 30, owner);
    const answers = [];
    for (const api of [member, machine])
      answers.push(await api.get(path(name)), await api.patch(path(name), settingsBody(0)));
    answers.push(await server.get(path('nowhere')), await server.patch(path('nowhere'), settingsBody(30)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(404));
    expectStatus(await server.as(null).get(path(name)), 401);
  });

  it('cannot be created in an organization that is deleted during the request', async () => {
    const { name, id } = await newOrganization();
    runBetween(server.store, () => server.delete(`/api/v2/organizations/${name}`));
    expectStatus(await server.patch(path(name), settingsBody(30)), 404);
    expect(await server.database.rows(sql`select 1 from audit_trail_settings where organization = ${id}`)).toEqual([]);
  });

  it('are changed one after the other by simultaneous requests', async () => {
    const { name } = await newOrganization();
    const answers = await Promise.all([20, 30, 40].map((days) => server.patch(path(name), settingsBody(days))));
    for (const answer of answers) expectStatus(answer, 200);
    expect([20, 30, 40]).toContain(
      expectStatus(await server.get(path(name)), 200).body.data.attributes['retention-days'],
    );
    expect(await verifySnapshots(server.store, [auditTrailSettingsDefinition])).toEqual([]);
  });
});

describe('the audit configuration', () => {
  const at = (organization: string, rest = ''): string =>
    `/api/v2/organizations/${organization}/audit-configuration${rest}`;
  const configuration = (attributes: object): object => resource('audit-configurations', attributes);
  const enable = (name: string, enabled: boolean, by: ApiTestClient = server) =>
    by.patch(at(name), configuration({ 'audit-trails': { enabled } }));
  const streaming = 'hcp-audit-log-streaming';
  const off = { enabled: false, 'organization-id': '', 'use-default-organization': false };

  it('has recording enabled until an owner disables it, and shows the time of the change', async () => {
    const { name, id } = await newOrganization();
    await waitForFollowers(server.store, 'audit_trail');
    const { data } = expectStatus(await server.get(at(name)), 200).body;
    expect(data).toEqual({
      id: id.replace('org-', 'atrail-'),
      type: 'audit-configurations',
      attributes: {
        'audit-trails': { enabled: true },
        [streaming]: { enabled: false, 'organization-id': null, 'use-default-organization': false },
        permissions: {
          'can-enable-hcp-audit-log-streaming': false,
          'can-set-hcp-audit-log-streaming-organization-id': false,
          'can-use-default-audit-log-streaming-organization': false,
        },
        timestamps: {
          'audit-trails-enabled-at': null,
          'audit-trails-disabled-at': null,
          'audit-trails-last-success': expect.stringMatching(/Z$/),
          'audit-trails-last-failure': null,
          [`${streaming}-enabled-at`]: null,
          [`${streaming}-disabled-at`]: null,
          [`${streaming}-last-success`]: null,
          [`${streaming}-last-failure`]: null,
        },
        'updated-at': expect.stringMatching(/Z$/),
      },
      relationships: { organization: { data: { type: 'organizations', id: name } } },
    });
    const disabled = expectStatus(await enable(name, false), 200).body.data.attributes;
    expect(disabled['audit-trails']).toEqual({ enabled: false });
    expect(disabled.timestamps['audit-trails-disabled-at']).toBe(disabled['updated-at']);
    const enabled = expectStatus(await enable(name, true), 200).body.data.attributes;
    expect(enabled.timestamps['audit-trails-enabled-at']).toBe(enabled['updated-at']);
    const nothing = { 'audit-trails': null, [streaming]: off };
    expect(expectStatus(await server.patch(at(name), configuration(nothing)), 200).body.data.attributes).toMatchObject({
      'audit-trails': { enabled: true },
      'updated-at': enabled['updated-at'],
    });
  });

  it('stops recording, keeps existing entries, and still records changes of the settings', async () => {
    const { name, workspace, reader } = await createAuditedOrganization(server, newName());
    const before = listActions(await readTrail(reader));
    expectStatus(await enable(name, false), 200);
    await act(server, workspace, 'lock');
    await set(name, 30);
    expect((await readTrail(reader)).data.map(({ resource: { meta } }) => meta).slice(0, 2)).toEqual([
      { audit_trail_retention_days: 30 },
      { audit_trails_enabled: false },
    ]);
    expectStatus(await enable(name, true), 200);
    await act(server, workspace, 'unlock');
    expect(listActions(await readTrail(reader))).toEqual([
      'workspace unlock',
      'organization update',
      'organization update',
      'organization update',
      ...before,
    ]);
    await expectTrue();
  });

  it('can be tested with an entry whose request id is returned', async () => {
    const { name, id, reader } = await createAuditedOrganization(server, newName());
    const answer = expectStatus(await server.post(at(name, '/test')), 200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const [entry] = (await readTrail(reader)).data;
    expect(entry).toMatchObject({
      request: { id: answer.body['request-id'] },
      resource: { id: id.replace('org-', 'atrail-'), type: 'audit_configuration', action: 'test', meta: null },
    });
    expectStatus(await enable(name, false), 200);
    expect(expectStatus(await server.post(at(name, '/test')), 409).body.errors[0].detail).toContain('is disabled');
    expectStatus(await enable(name, true), 200);
    const free = resource('subscriptions', {}, { 'feature-set': { data: { type: 'feature-sets', id: 'fs-free' } } });
    expectStatus(await server.post(`/api/v2/admin/organizations/${name}/subscription`, free), 200);
    expect(expectStatus(await server.post(at(name, '/test')), 409).body.errors[0].detail).toContain('not entitled');
  });

  it.each([
    [{ 'audit-trails': { enabled: 'no' } }, '/audit-trails/enabled', /must be/],
    [{ [streaming]: { enabled: true } }, `/${streaming}/enabled`, /is not supported: HCP is a service of the vendor/],
    [
      { [streaming]: { 'organization-id': 'hcp-1' } },
      `/${streaming}/organization-id`,
      /is not supported: HCP is a service of the vendor/,
    ],
    [
      { [streaming]: { 'use-default-organization': true } },
      `/${streaming}/use-default-organization`,
      /is not supported: HCP is a service of the vendor/,
    ],
  ])('refuses %j', async (attributes, pointer, detail) => {
    const { name } = await newOrganization();
    const refused = await server.patch(at(name), configuration({ 'audit-trails': { enabled: false }, ...attributes }));
    expect(refusalOf(refused)).toEqual([`/data/attributes${pointer}`, expect.stringMatching(detail)]);
    expect((await server.get(at(name))).body.data.attributes['audit-trails']).toEqual({ enabled: true });
  });

  it('is visible to owners only', async () => {
    const { name, ownersTeam } = await newOrganization();
    const owner = await makeMember(server, name, `otto-${number}`, [ownersTeam]);
    const member = await makeMember(server, name, `mona-${number}`, [await makeTeam(server, name, 'plain')]);
    const machine = server.as(await makeOrganizationToken(server, name));
    expectStatus(await owner.get(at(name)), 200);
    for (const api of [member, machine]) {
      const answers = [await api.get(at(name)), await enable(name, false, api), await api.post(at(name, '/test'))];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
  });
});

describe('retention of entries', () => {
  const newAuditedOrganization = (): Promise<AuditedOrganization> => createAuditedOrganization(server, newName());
  const count = async (reader: ApiTestClient): Promise<number> => (await readTrail(reader)).pagination.total_count;

  it('can be longer, or unlimited, before and after pruning', async () => {
    const { name, reader } = await newAuditedOrganization();
    await set(name, 30);
    const all = await count(reader);
    for (const [days, expected] of [
      [29, all],
      [2, 0],
    ] as const) {
      clock.offsetMs += days * DAY_MS;
      expect(await count(reader)).toBe(expected);
      await prune();
      expect(await count(reader)).toBe(expected);
      await expectTrue();
    }
    const unlimited = await newAuditedOrganization();
    await set(unlimited.name, null);
    const total = await count(unlimited.reader);
    clock.offsetMs += 4_000 * DAY_MS;
    await prune();
    expect(await count(unlimited.reader)).toBe(total);
    await expectTrue();
  });

  it('can be shorter, from the next request on', async () => {
    const { name, workspace, reader } = await newAuditedOrganization();
    clock.offsetMs += 2 * DAY_MS;
    await act(server, workspace, 'lock');
    expect(await count(reader)).toBeGreaterThan(1);
    await set(name, 1);
    expect(listActions(await readTrail(reader))).toEqual(['organization update', 'workspace lock']);
    await prune();
    expect(listActions(await readTrail(reader))).toEqual(['organization update', 'workspace lock']);
    await expectTrue();
  });

  it('can be extended only for entries that have not expired, even after a rebuild', async () => {
    const { name, workspace, reader } = await newAuditedOrganization();
    clock.offsetMs += 20 * DAY_MS;
    await act(server, workspace, 'lock');
    await set(name, null);
    const remaining = ['organization update', 'workspace lock'];
    expect(listActions(await readTrail(reader))).toEqual(remaining);
    await prune();
    await expectTrue();
    for (const view of views()) await rebuildView(server.store, view, { now: new Date() });
    expect(listActions(await readTrail(reader))).toEqual(remaining);
    await prune();
    await expectTrue();
  });

  it('is fourteen days after the organization is deleted, whatever its settings were', async () => {
    const { name, id } = await newOrganization();
    await set(name, null);
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
    await waitForFollowers(server.store, 'audit_trail');
    const countStored = async () =>
      (await server.database.rows(sql`select 1 from audit_trail_entries where organization = ${id}`)).length;
    clock.offsetMs += 13 * DAY_MS;
    await prune();
    expect(await countStored()).toBeGreaterThan(3);
    clock.offsetMs += 2 * DAY_MS;
    await prune();
    expect(await countStored()).toBe(1);
    await expectTrue();
  });

  it('is separate for each organization', async () => {
    const [long, short] = [await newAuditedOrganization(), await newAuditedOrganization()];
    await set(long.name, 90);
    await set(short.name, 2);
    const all = await count(long.reader);
    clock.offsetMs += 30 * DAY_MS;
    await prune();
    expect([await count(long.reader), await count(short.reader)]).toEqual([all, 0]);
  });
});
