import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { logLength, readWholeLog } from '../../../test/support/event-log.js';
import { expectStatus, makeMember, makeOrganization, refusalOf, resource } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { generalSettingsDefinition } from './general-settings.module.js';

const PATH = '/api/v2/admin/general-settings';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({
    env: { CADASTRE_RATE_LIMIT: '200', CADASTRE_GLOBAL_REMOTE_STATE: 'true', CADASTRE_MAX_ORGANIZATIONS_PER_USER: '7' },
  });
  await makeOrganization(server, 'acme');
});
afterAll(() => server.close());

const update = (attributes: object) => server.patch(PATH, resource('general-settings', attributes));
const read = async () => expectStatus(await server.get(PATH), 200).body.data.attributes;

const DEFAULTS = {
  'allow-speculative-plans-on-pull-requests-from-forks': false,
  'api-rate-limit': 200,
  'api-rate-limiting-enabled': true,
  'apply-timeout': '24h',
  'default-organizations-per-user-ceiling': 7,
  'default-remote-state-access': true,
  'default-workspaces-per-organization-ceiling': null,
  'fair-run-queuing-enabled': true,
  'limit-organizations-per-user': true,
  'limit-user-organization-creation': false,
  'limit-workspaces-per-organization': false,
  'plan-timeout': '2h',
  'require-two-factor-for-admins': false,
  'send-passing-statuses-for-untriggered-speculative-plans': false,
  'terraform-build-worker-apply-timeout': '24h',
  'terraform-build-worker-plan-timeout': '2h',
};

describe('the general settings of the site', () => {
  it('are those of the configuration until an administrator changes them', async () => {
    expect(expectStatus(await server.get(PATH), 200).body.data).toEqual({
      id: 'general-settings',
      type: 'general-settings',
      attributes: DEFAULTS,
      links: { self: PATH },
    });
  });

  it('change one by one, with an event for each change, and an empty text restores the default time', async () => {
    const before = await logLength(server.store);
    const changed = { 'api-rate-limit': 5_000, 'fair-run-queuing-enabled': false, 'plan-timeout': '1h30m' };
    const { attributes } = expectStatus(await update(changed), 200).body.data;
    expect(attributes).toEqual({ ...DEFAULTS, ...changed, 'terraform-build-worker-plan-timeout': '1h30m' });
    expect(await read()).toEqual(attributes);
    expectStatus(await update(changed), 200);
    expectStatus(await server.patch(PATH, { data: { type: 'general-settings' } }), 200);
    expect(await logLength(server.store)).toBe(before + 1);
    const [event] = (await readWholeLog(server.store)).slice(-1);
    expect(event).toMatchObject({
      type: 'GeneralSettingsChanged',
      organization: null,
      data: { changed: ['apiRateLimit', 'planTimeout', 'fairRunQueuingEnabled'] },
    });
    // go-tfe sends null for times that the caller does not name.
    const unnamed = { 'apply-timeout': null, 'plan-timeout': null };
    expectStatus(await update({ ...unnamed, 'api-rate-limit': null, 'fair-run-queuing-enabled': true }), 200);
    expect(await read()).toEqual({
      ...DEFAULTS,
      'plan-timeout': '1h30m',
      'terraform-build-worker-plan-timeout': '1h30m',
    });
    expectStatus(await update({ ...unnamed, 'terraform-build-worker-plan-timeout': '45m' }), 200);
    expect(await read()).toMatchObject({ 'plan-timeout': '45m', 'apply-timeout': '24h' });
    expectStatus(await update({ 'plan-timeout': '' }), 200);
    expect(await read()).toEqual(DEFAULTS);
  });

  it('can all be sent back as they are', async () => {
    const before = await read();
    expectStatus(await update(before), 200);
    expect(await read()).toEqual(before);
    expectStatus(await update({ 'api-rate-limit': null, 'api-rate-limiting-enabled': null }), 200);
    expectStatus(await update({ 'apply-timeout': '', 'plan-timeout': '' }), 200);
  });

  it.each([
    ['api-rate-limit', 29, 'Api rate limit: must be at least 30 requests per second'],
    ['api-rate-limit', 100_001, 'Api rate limit: must be at most 100000 requests per second'],
    ['api-rate-limit', '60', 'Api rate limit must be a number'],
    ['plan-timeout', '30s', 'Plan timeout must be a time from 1m to 24h, such as 90m or 1h30m'],
    ['apply-timeout', '2 hours', 'Apply timeout must be a time from 1m to 24h, such as 90m or 1h30m'],
    ['fair-run-queuing-enabled', null, 'Fair run queuing enabled must be true or false'],
    [
      'allow-speculative-plans-on-pull-requests-from-forks',
      true,
      'Allow speculative plans on pull requests from forks is not supported: plans run any code, so pull requests from forks start none',
    ],
    [
      'limit-workspaces-per-organization',
      true,
      'Limit workspaces per organization is not supported: organizations can have any number of workspaces',
    ],
    [
      'default-remote-state-access',
      false,
      'Default remote state access is true: only the setting CADASTRE_GLOBAL_REMOTE_STATE of the server changes it',
    ],
    [
      'default-organizations-per-user-ceiling',
      8,
      'Default organizations per user ceiling is 7: only the setting CADASTRE_MAX_ORGANIZATIONS_PER_USER of the server changes it',
    ],
  ])('refuse %s %j, and keep what they have', async (name, value, detail) => {
    const before = await logLength(server.store);
    expect(refusalOf(await update({ 'api-rate-limit': 4_000, [name]: value }))).toEqual([
      `/data/attributes/${name}`,
      detail,
    ]);
    expect(await logLength(server.store)).toBe(before);
  });

  it('are hidden from people who do not administer the site', async () => {
    const member = await makeMember(server, 'acme', 'mallory');
    expectStatus(await member.get(PATH), 404);
    expectStatus(await member.patch(PATH, resource('general-settings', { 'api-rate-limit': 30 })), 404);
    expect(await read()).toEqual(DEFAULTS);
  });

  it('have a view that equals a view computed from the log', async () => {
    await expectViewsMatchLog(server, [generalSettingsDefinition]);
  });
});
