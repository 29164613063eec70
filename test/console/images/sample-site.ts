import { createHash } from 'node:crypto';
import { RandomIds } from '#platform/host';
import { createJobRecorder, readLogEnd, recordVerification } from '#operations/site';
import { collectSiteFacts } from '../../../apps/gateway/src/site-facts.js';
import { FixedClock } from '../../support/clocks.js';
import { makePlannedChange, makeProviderSchemas } from '../../support/plan-documents.js';
import { makeProvider, publishVersion } from '../../support/registry.js';
import { addGpgKey, makeSigner } from '../../support/releases.js';
import {
  bindTags,
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeProject,
  makeRemotePool,
  makeReservedTagKey,
  makeRun,
  makeTeam,
  makeWorkspace,
  related,
  reportBody,
  resource,
  type SeededMember,
} from '../../support/seeds.js';
import { makeNotificationConfiguration } from '../../support/notification-receiver.js';
import type { ApiTestClient, TestServer } from '../../support/server.js';
import { newStateVersion, stateFile } from '../../support/state-file.js';
import { makeSet, makeVariable } from '../../support/variables.js';

/* The organization that the images of the documentation show. It is the same each time, so that images change only with screens. */

/** Ids that are the same in each run. */
export class SampleIds extends RandomIds {
  private count = 0;

  override next(prefix: string): string {
    this.count += 1;
    return `${prefix}-${createHash('sha256').update(String(this.count)).digest('hex').slice(0, 16)}`;
  }
}

const LINEAGE = '6f1d2a34-9c1b-4a57-8f0e-2b7c3d4e5f60';
const OTHERS = ['billing', 'cache', 'certificates', 'database', 'dns', 'identity', 'ledger', 'mail', 'monitoring'];

type Site = { readonly server: TestServer; readonly clock: FixedClock; readonly person: SeededMember };

const upload = async (api: ApiTestClient, workspace: string, serial: number, names: readonly string[]) => {
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const outputs = {
    cidr: { value: `10.${serial}.0.0/16`, type: 'string' },
    password: { value: `secret-${serial}`, type: 'string', sensitive: true },
  };
  const body = newStateVersion(
    stateFile({ serial, lineage: LINEAGE, outputs, names, makeId: (name) => `${name}-${serial}` }),
    { inline: true },
  );
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201);
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

const addVariables = async ({ person }: Site, workspace: string): Promise<void> => {
  const path = `/api/v2/workspaces/${workspace}/vars`;
  await makeVariable(person, path, { key: 'region', value: 'eu-central-1', description: 'Where the networks are' });
  await makeVariable(person, path, { key: 'cidr', value: '10.0.0.0/16' });
  await makeVariable(person, path, { key: 'TOKEN', value: 'a-secret', category: 'env', sensitive: true });
  const targets = { workspaces: { data: [{ type: 'workspaces', id: workspace }] } };
  const set = await makeSet(person, 'acme', 'Company rules', { priority: true }, targets);
  await makeVariable(person, `/api/v2/varsets/${set.id}/relationships/vars`, { value: 'eu-west-3' });
};

/** The workspace `network` with a history, states, variables and runs. */
const addNetwork = async (site: Site): Promise<void> => {
  const { server, clock, person } = site;
  const network = await makeWorkspace(person, 'acme', 'network', { description: 'Networks of all regions' });
  clock.pass({ minutes: 45 });
  await bindTags(person, `workspaces/${network}`, { env: 'prod', team: 'platform' });
  await upload(person, network, 1, ['vpc', 'gateway']);
  clock.pass({ days: 1 });
  await addVariables(site, network);
  const change = resource('workspaces', { description: 'Networks of Europe', 'auto-apply': true });
  expectStatus(await person.patch(`/api/v2/workspaces/${network}`, change), 200);
  clock.pass({ days: 1, minutes: 20 });
  await upload(person, network, 2, ['vpc', 'subnet', 'firewall']);
  clock.pass({ minutes: 30 });
  const pool = await makeRemotePool(server, 'acme', 'executors');
  const executor = server.as(await makeAgentToken(server, pool));
  await makeConfigurationVersion(person, network);
  const settings = resource('workspaces', { 'auto-apply': false });
  expectStatus(await person.patch(`/api/v2/workspaces/${network}`, settings), 200);
  const run = await makeRun(person, network, { message: 'Add a subnet for the ledger' });
  clock.pass({ minutes: 2 });
  const progress = `/api/v2/runs/${run}/progress`;
  expectStatus(await executor.post(progress, reportBody('planning')), 200);
  await uploadPlan(executor, run);
  const counts = { 'resource-additions': 2, 'resource-changes': 1 };
  expectStatus(await executor.post(progress, reportBody('planned', counts)), 200);
};

/** Uploads what the plan of a run changes. */
const uploadPlan = async (executor: ApiTestClient, run: string): Promise<void> => {
  const path = `/api/v2/plans/${run.replace('run-', 'plan-')}`;
  const rule = { type: 'ingress', from_port: 5432, to_port: 5432, cidr_blocks: ['10.8.0.0/16'] };
  const subnet = { cidr_block: '10.8.4.0/24', availability_zone: 'eu-west-1a', tags: { team: 'ledger' } };
  const changes = [
    makePlannedChange('aws_subnet.ledger', { actions: ['create'], after: subnet, after_unknown: { id: true } }),
    makePlannedChange('aws_route_table_association.ledger', { actions: ['create'], after_unknown: { id: true } }),
    makePlannedChange('aws_security_group_rule.database', {
      actions: ['update'],
      before: rule,
      after: { ...rule, cidr_blocks: ['10.8.0.0/16', '10.8.4.0/24'] },
    }),
  ];
  const schemas = makeProviderSchemas('aws_subnet', 'aws_route_table_association', 'aws_security_group_rule');
  expectStatus(await executor.put(`${path}/json-schema`, schemas), 204);
  expectStatus(await executor.put(`${path}/json-output`, { format_version: '1.2', resource_changes: changes }), 204);
};

const addOthers = async ({ clock, person }: Site): Promise<void> => {
  const shops = await makeProject(person, 'acme', 'Shops');
  const ids = new Map<string, string>();
  for (const name of OTHERS) {
    ids.set(name, await makeWorkspace(person, 'acme', name));
    clock.pass({ minutes: 50 });
  }
  const get = (name: string): string => ids.get(name) ?? '';
  for (const name of ['billing', 'ledger']) {
    const path = `/api/v2/projects/${shops}/relationships/workspaces`;
    expectStatus(await person.post(path, related('workspaces', get(name))), 204);
  }
  for (const name of ['database', 'dns', 'identity'])
    await bindTags(person, `workspaces/${get(name)}`, { env: 'prod' });
  await makeConfigurationVersion(person, get('cache'));
  const canceled = await makeRun(person, get('cache'), { message: 'Resize the cache' });
  expectStatus(await person.post(`/api/v2/runs/${canceled}/actions/cancel`), 202);
  clock.pass({ minutes: 15 });
  const reason = { reason: 'Upgrade of the database' };
  expectStatus(await person.post(`/api/v2/workspaces/${get('database')}/actions/lock`, reason), 200);
};

/** Teams with members, access and a token, and a reserved key. */
const addTeams = async ({ server, clock, person }: Site): Promise<void> => {
  const make = (name: string, access: object = {}) =>
    makeTeam(person, 'acme', name, { visibility: 'organization', 'organization-access': access });
  const [platform, shops, auditors] = [
    await make('platform', { 'manage-workspaces': true, 'manage-providers': true }),
    await make('shops'),
    await make('auditors'),
  ];
  const list = expectStatus(await person.get('/api/v2/organizations/acme/projects'), 200).body.data;
  const project = list.find(({ attributes }: { attributes: { name: string } }) => attributes.name === 'Shops').id;
  await grantProjectAccess(person, shops, project as string, 'write');
  await grantProjectAccess(person, auditors, project as string, 'read');
  const network = expectStatus(await person.get('/api/v2/organizations/acme/workspaces/network'), 200).body.data.id;
  await grantWorkspaceAccess(person, shops, network as string, 'plan');
  for (const [name, team] of [
    ['paul', platform],
    ['maria', platform],
    ['sven', shops],
    ['aiko', auditors],
  ] as const) {
    clock.pass({ minutes: 7 });
    await makeMember(server, 'acme', name, [team]);
  }
  const end = new Date(clock.now().getTime() + 9 * 24 * 60 * 60_000).toISOString();
  const token = resource('authentication-tokens', { description: 'Pipeline of the shops', 'expired-at': end });
  expectStatus(await person.post(`/api/v2/teams/${shops}/authentication-tokens`, token), 201);
  await makeReservedTagKey(person, 'acme', 'cost-center');
  await bindTags(person, `projects/${project as string}`, { 'cost-center': '1207' });
};

/** States that workspaces share. */
const shareStates = async ({ person }: Site): Promise<void> => {
  const get = async (name: string): Promise<string> =>
    expectStatus(await person.get(`/api/v2/organizations/acme/workspaces/${name}`), 200).body.data.id as string;
  const share = async (source: string, ...consumers: readonly string[]) => {
    const ids = await Promise.all(consumers.map(get));
    const path = `/api/v2/workspaces/${await get(source)}/relationships/remote-state-consumers`;
    expectStatus(await person.post(path, related('workspaces', ...ids)), 204);
  };
  await share('network', 'billing', 'database', 'ledger', 'monitoring');
  await share('dns', 'network');
  const shared = resource('workspaces', { 'global-remote-state': true });
  expectStatus(await person.patch(`/api/v2/workspaces/${await get('identity')}`, shared), 200);
};

/** A provider with two versions. */
const addProvider = async ({ server, clock }: Site): Promise<void> => {
  const signer = await makeSigner({ now: clock.now() });
  await addGpgKey(server, 'acme', signer);
  await makeProvider(server, 'acme', 'example');
  for (const version of ['1.0.0', '1.1.0']) {
    clock.pass({ minutes: 25 });
    await publishVersion(server, 'acme', 'example', version, signer);
  }
};

/** Adds disabled configurations, because the server would test the destinations of enabled ones. */
const addNotifications = async ({ person }: Site): Promise<void> => {
  const { body } = expectStatus(await person.get('/api/v2/organizations/acme/workspaces/network'), 200);
  const owner = `workspaces/${body.data.id as string}`;
  const triggers = ['run:needs_attention', 'run:errored'];
  const url = 'https://hooks.slack.com/services/T000';
  await makeNotificationConfiguration(person, owner, 'Channel of the platform', {
    'destination-type': 'slack',
    url,
    triggers,
  });
  await makeNotificationConfiguration(person, owner, 'Inventory', { triggers: ['run:completed', 'workspace:locked'] });
};

/** Records a run of each scheduled job, and a verification. Administrators see both. */
const recordJobs = async ({ server, clock }: Site): Promise<void> => {
  const record = createJobRecorder(server.database, clock);
  for (const { name } of collectSiteFacts(server.runtime).jobs) await record(name, true);
  await recordVerification(server.database, clock, { end: await readLogEnd(server.database), isClean: true });
};

/** Fills the server. Returns the id of the person who looks at the screens. */
export const fillSampleSite = async (server: TestServer, clock: FixedClock): Promise<string> => {
  const { ownersTeam } = await makeOrganization(server, 'acme');
  const person = await makeMember(server, 'acme', 'olga', [ownersTeam]);
  // A person owns the organizations that the person creates.
  await makeOrganization(person, 'sandbox');
  const site = { server, clock, person };
  await addOthers(site);
  await addNetwork(site);
  await addTeams(site);
  await shareStates(site);
  await addProvider(site);
  await addNotifications(site);
  await recordJobs(site);
  clock.pass({ minutes: 3 });
  return person.id;
};
