import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Sql } from '#platform/kernel';
import { planFor, countScans } from '../support/plans.js';
import { makeProvider, makeVersion, pathOfProvider, pathOfProviders, pathOfVersion } from '../support/registry.js';

import { makeAgentPool, makeMember, makeOrganization, makeTeam, makeWorkspace } from '../support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let stranger: ApiTestClient;
let workspace: string;
let pool: string;
let team: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  await makeOrganization(server, 'other');
  workspace = await makeWorkspace(server, 'acme', 'one');
  await makeWorkspace(server, 'acme', 'beside');
  pool = await makeAgentPool(server, 'acme', 'edge');
  team = await makeTeam(server, 'acme', 'crew');
  await makeProvider(server, 'acme', 'aws');
  await makeVersion(server, 'acme', 'aws', '1.0.0');
  stranger = await makeMember(server, 'other', 'stranger');
});

afterAll(() => server.close());

/** Returns the status, and whether the last slow statement of a request reads the table. */
const visits = async (table: string, request: () => Promise<{ readonly status: number }>): Promise<object> => {
  const sent = jest.spyOn(server.database, 'slowRows');
  const { status } = await request();
  const statement = sent.mock.calls.at(-1)?.[1] as Sql;
  sent.mockRestore();
  return { status, isRead: countScans(await planFor(server.database, statement), [table]) > 0 };
};

describe('a list of a caller without the permission', () => {
  const inWorkspace = (list: string) => () => `/api/v2/workspaces/${workspace}/${list}`;
  const inOrganization = (list: string) => () => `/api/v2/organizations/acme/${list}`;

  it.each([
    ['variables of a workspace', 'variables', inWorkspace('vars')],
    ['effective variables', 'variables', inWorkspace('all-vars')],
    ['variable sets of a workspace', 'variable_sets', inWorkspace('varsets')],
    ['states', 'state_versions', inWorkspace('state-versions')],
    ['runs', 'runs', inWorkspace('runs')],
    ['configuration versions', 'configuration_versions', inWorkspace('configuration-versions')],
    ['flat tags of a workspace', 'workspace_tags', inWorkspace('relationships/tags')],
    ['remote state consumers', 'remote_state_consumers', inWorkspace('relationships/remote-state-consumers')],
    ['remote state sources', 'remote_state_consumers', inWorkspace('relationships/remote-state-sources')],
    ['access of teams', 'team_workspaces', () => `/api/v2/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${workspace}`],
    ['agent pools', 'agent_pools', inOrganization('agent-pools')],
    ['agents', 'agents', () => `/api/v2/agent-pools/${pool}/agents`],
    ['tokens of an agent pool', 'authentication_tokens', () => `/api/v2/agent-pools/${pool}/authentication-tokens`],
    ['workload identities', 'workload_identities', () => `/api/v2/teams/${team}/workload-identities`],
    ['tokens of a team', 'authentication_tokens', () => `/api/v2/teams/${team}/authentication-tokens`],
    [
      'memberships of a team',
      'organization_memberships',
      () => `/api/v2/teams/${team}/relationships/organization-memberships`,
    ],
    ['tags', 'workspace_tags', inOrganization('tags')],
    ['reserved tag keys', 'reserved_tag_keys', inOrganization('reserved-tag-keys')],
    ['SSH keys', 'ssh_keys', inOrganization('ssh-keys')],
    ['OAuth clients', 'oauth_clients', inOrganization('oauth-clients')],
    ['OAuth tokens', 'oauth_clients', inOrganization('oauth-tokens')],
    ['VCS events', 'vcs_events', inOrganization('vcs-events')],
    ['notifications of a workspace', 'notification_configurations', inWorkspace('notification-configurations')],
    ['notifications of an organization', 'notification_configurations', inOrganization('notification-configurations')],
    [
      'notifications of a team',
      'notification_configurations',
      () => `/api/v2/teams/${team}/notification-configurations`,
    ],
    ['run triggers of a workspace', 'run_triggers', inWorkspace('run-triggers?filter[run-trigger][type]=inbound')],
    ['run triggers', 'run_triggers', inOrganization('run-triggers')],
    ['run tasks', 'run_tasks', inOrganization('tasks')],
    ['run tasks of a workspace', 'workspace_tasks', inWorkspace('tasks')],
    ['policies', 'policies', inOrganization('policies')],
    ['policy sets', 'policy_sets', inOrganization('policy-sets')],
    ['saved views', 'saved_views', inOrganization('saved-views')],
    ['IP allowlists', 'ip_allowlists', inOrganization('cidr-range-lists')],
    ['audit fact sources', 'audit_fact_sources', inOrganization('audit-fact-sources')],
    ['providers', 'registry_providers', () => pathOfProviders('acme')],
    ['versions of a provider', 'registry_provider_versions', () => `${pathOfProvider('acme', 'aws')}/versions`],
    ['platforms', 'registry_provider_platforms', () => `${pathOfVersion('acme', 'aws', '1.0.0')}/platforms`],
  ])('returns 404 without reading the table: %s', async (_, table, path) => {
    expect(await visits(table, () => server.get(path()))).toEqual({ status: 200, isRead: true });
    expect(await visits(table, () => stranger.get(path()))).toEqual({ status: 404, isRead: false });
  });
});
