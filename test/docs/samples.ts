import { makeOauthClient, openTestGitHost } from '../support/git-host.js';
import {
  expectStatus,
  flatTags,
  makeAgentPool,
  makeConfigurationVersion,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeOpaVersion,
  makeToolVersion,
  makeWorkspace,
  related,
  resource,
} from '../support/seeds.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import { makeWorkloadIdentity } from '../support/workload-identities.js';

/** Attributes and relationships of a request, with values that differ from the defaults. */
export type Sample = {
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, unknown>>;
  /** Expected members of the document that differ from those of the request. */
  readonly shows?: { readonly attributes?: object; readonly relationships?: object };
};

export type SampledRequest = {
  /** Resource and request, as in requests.ts. */
  readonly label: string;
  readonly send: (sample: Sample) => Promise<ApiResponse>;
  /** Together they have every member that the server supports or keeps, without those in `hidden`. */
  readonly samples: readonly Sample[];
  /** Members that no document shows, or not by this name. */
  readonly hidden?: readonly string[];
};

const ORGANIZATIONS = '/api/v2/organizations';
const ACME = `${ORGANIZATIONS}/acme`;

const one = (type: string, id: string) => ({ data: { type, id } });

const bindings = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] };

let names = 0;
const unique = (): string => `sample-${(names += 1)}`;

const without = (values: object, ...keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));

const workspaceSamples = (pool: string, project: string, oauthToken: string): Sample[] => [
  {
    attributes: {
      name: unique(),
      'allow-destroy-plan': false,
      'assessments-enabled': true,
      'auto-apply': true,
      'auto-apply-run-trigger': true,
      'auto-destroy-at': '2030-01-01T00:00:00.000Z',
      description: 'sent',
      'execution-mode': 'local',
      'file-triggers-enabled': false,
      'global-remote-state': true,
      'inherits-project-auto-destroy': false,
      'queue-all-runs': true,
      'setting-overwrites': { 'execution-mode': true, 'agent-pool': true },
      'speculative-enabled': false,
      'structured-run-output-enabled': false,
      'terraform-version': '1.9.0',
      'trigger-patterns': ['a/**'],
      'vcs-repo': {
        identifier: 'acme/net',
        'oauth-token-id': oauthToken,
        branch: 'main',
        'ingress-submodules': true,
        'tags-regex': 'v.*',
      },
      'working-directory': 'net',
    },
    relationships: {
      project: one('projects', project),
      'tag-bindings': bindings,
    },
    shows: { attributes: { 'tag-names': ['env'] }, relationships: { project: one('projects', project) } },
  },
  {
    attributes: {
      name: unique(),
      'auto-destroy-activity-duration': '14d',
      'iac-version': '1.9.1',
      operations: false,
      'project-remote-state': true,
      'trigger-prefixes': ['b'],
      'vcs-repo': { identifier: 'acme/net', 'vcs-app-installation-id': 'ghain-1' },
    },
    shows: { attributes: { 'execution-mode': 'local', 'vcs-repo': { 'github-app-installation-id': 'ghain-1' } } },
  },
  {
    attributes: {
      name: unique(),
      'agent-pool-id': pool,
      'execution-mode': 'agent',
      'vcs-repo': { identifier: 'acme/net', 'github-app-installation-id': 'ghain-2' },
    },
    shows: { relationships: { 'agent-pool': one('agent-pools', pool) } },
  },
  {
    attributes: { name: unique(), 'execution-mode': 'agent' },
    relationships: { 'agent-pool': one('agent-pools', pool) },
  },
];

const workspaceRequests = (api: ApiTestClient, pool: string, project: string, oauthToken: string): SampledRequest[] => {
  const onlyAtFirst: Sample = {
    attributes: { name: unique(), 'source-name': 'shop', 'source-url': 'https://shop.test' },
    relationships: { tags: flatTags('flat') },
    shows: { attributes: { 'tag-names': ['flat'] }, relationships: {} },
  };
  return [
    {
      label: 'workspaces, create',
      send: (sample) => api.post(`${ACME}/workspaces`, { data: { type: 'workspaces', ...sample } }),
      samples: [onlyAtFirst, ...workspaceSamples(pool, project, oauthToken)],
      hidden: ['agent-pool-id'],
    },
    {
      label: 'workspaces, update',
      send: async (sample) =>
        api.patch(`/api/v2/workspaces/${await makeWorkspace(api, 'acme', unique())}`, {
          data: { type: 'workspaces', ...sample },
        }),
      samples: workspaceSamples(pool, project, oauthToken),
      hidden: ['agent-pool-id'],
    },
  ];
};

const projectSamples = (pool: string): Sample[] => [
  {
    attributes: {
      name: unique(),
      description: 'sent',
      'auto-destroy-activity-duration': '14d',
      'default-execution-mode': 'agent',
      'default-agent-pool-id': pool,
      'stacks-default-execution-mode': 'remote',
      'setting-overwrites': { 'default-execution-mode': true, 'default-agent-pool': true },
    },
    shows: { relationships: { 'default-agent-pool': one('agent-pools', pool) } },
  },
  {
    attributes: {
      name: unique(),
      'default-execution-mode': 'agent',
      'setting-overwrites': { 'execution-mode': true, 'agent-pool': true },
    },
    relationships: { 'default-agent-pool': one('agent-pools', pool) },
    shows: {
      attributes: { 'setting-overwrites': { 'default-execution-mode': true, 'default-agent-pool': true } },
    },
  },
];

const projectRequests = (api: ApiTestClient, pool: string): SampledRequest[] => [
  {
    label: 'projects, create',
    send: (sample) => api.post(`${ACME}/projects`, { data: { type: 'projects', ...sample } }),
    samples: projectSamples(pool),
    hidden: ['default-agent-pool-id', 'relationships.tag-bindings'],
  },
  {
    label: 'projects, update',
    send: async (sample) =>
      api.patch(`/api/v2/projects/${await makeProject(api, 'acme', unique())}`, {
        data: { type: 'projects', ...sample },
      }),
    samples: projectSamples(pool),
    hidden: ['default-agent-pool-id', 'relationships.tag-bindings'],
  },
];

const organizationSample = (): Sample => ({
  attributes: {
    name: unique(),
    email: 'sent@acme.test',
    'aggregated-commit-status-enabled': false,
    'allow-force-delete-workspaces': false,
    'assessments-enforced': true,
    'collaborator-auth-policy': 'two_factor_mandatory',
    'commit-statuses-enabled': false,
    'cost-estimation-enabled': true,
    'default-execution-mode': 'local',
    'global-module-sharing': true,
    'max-ttl-enabled': true,
    'owners-team-saml-role-id': 'saml-1',
    'public-provider-curation-enabled': false,
    'pull-request-comments-enabled': false,
    'registry-monorepo-support-enabled': true,
    'send-passing-statuses-for-untriggered-speculative-plans': true,
    'session-remember': 9,
    'session-timeout': 8,
    'site-executors-enabled': false,
    'speculative-plan-management-enabled': false,
    'stacks-default-execution-mode': 'agent',
    'stacks-enabled': true,
    'user-tokens-enabled': false,
  },
});

const newOrganization = async (api: ApiTestClient): Promise<{ readonly path: string; readonly pool: string }> => {
  const name = unique();
  expectStatus(await api.post(ORGANIZATIONS, resource('organizations', { name, email: 'ops@acme.test' })), 201);
  return { path: `${ORGANIZATIONS}/${name}`, pool: await makeAgentPool(api, name, 'pool') };
};

const organizationRequests = async (api: ApiTestClient): Promise<SampledRequest[]> => {
  const { path, pool } = await newOrganization(api);
  const inMode = { 'default-execution-mode': 'agent' };
  const ofPool = { 'default-agent-pool': one('agent-pools', pool) };
  return [
    {
      label: 'organizations, create',
      send: (sample) => api.post(ORGANIZATIONS, { data: { type: 'organizations', ...sample } }),
      samples: [organizationSample()],
      // A new organization has no agent pools.
      hidden: ['default-agent-pool-id', 'relationships.default-agent-pool'],
    },
    {
      label: 'organizations, update',
      send: (sample) => api.patch(path, { data: { type: 'organizations', ...sample } }),
      samples: [
        { attributes: { ...inMode, 'default-agent-pool-id': pool }, shows: { relationships: ofPool } },
        { attributes: inMode, relationships: ofPool },
        organizationSample(),
      ],
      hidden: ['default-agent-pool-id'],
    },
    {
      label: 'organizations, update as site administrator',
      send: async (sample) => {
        const name = unique();
        expectStatus(await api.post(ORGANIZATIONS, resource('organizations', { name, email: 'ops@acme.test' })), 201);
        return api.patch(`/api/v2/admin/organizations/${name}`, { data: { type: '', ...sample } });
      },
      samples: [
        {
          attributes: {
            'access-beta-tools': true,
            'global-module-sharing': true,
            'plan-timeout': '1h',
            'apply-timeout': '2h',
            'terraform-build-worker-plan-timeout': '1h',
            'terraform-build-worker-apply-timeout': '2h',
          },
        },
      ],
    },
  ];
};

const teamSample = (): Sample => ({
  attributes: {
    name: unique(),
    'allow-member-token-management': false,
    'organization-access': Object.fromEntries(
      [
        'access-secret-teams',
        'delegate-policy-overrides',
        'manage-agent-pools',
        'manage-membership',
        'manage-modules',
        'manage-organization-access',
        'manage-policies',
        'manage-policy-overrides',
        'manage-projects',
        'manage-providers',
        'manage-run-tasks',
        'manage-teams',
        'manage-vcs-settings',
        'manage-workspaces',
        'read-projects',
        'read-workspaces',
      ].map((right) => [right, true]),
    ),
    'sso-team-id': 'sso-1',
    visibility: 'organization',
  },
});

const teamRequests = (api: ApiTestClient): SampledRequest[] => [
  {
    label: 'teams, create',
    send: (sample) => api.post(`${ACME}/teams`, { data: { type: 'teams', ...sample } }),
    samples: [teamSample()],
  },
  {
    label: 'teams, update',
    send: async (sample) =>
      api.patch(`/api/v2/teams/${await makeTeam(api, 'acme', unique())}`, { data: { type: 'teams', ...sample } }),
    samples: [teamSample()],
  },
];

const ON_WORKSPACE = {
  access: 'custom',
  'policy-overrides': true,
  'run-tasks': true,
  runs: 'plan',
  'sentinel-mocks': 'read',
  'state-versions': 'read-outputs',
  variables: 'write',
  'workspace-locking': true,
};

const ON_PROJECT = {
  access: 'custom',
  'project-access': { settings: 'update', teams: 'read', 'variable-sets': 'write' },
  'workspace-access': {
    ...without(ON_WORKSPACE, 'access', 'workspace-locking'),
    create: true,
    delete: true,
    locking: true,
    move: true,
  },
};

/** Returns the requests for the access of teams to a workspace or a project. */
const accessRequests = (
  api: ApiTestClient,
  owners: 'projects' | 'workspaces',
  makeOwner: () => Promise<string>,
  attributes: Readonly<Record<string, unknown>>,
): SampledRequest[] => {
  const type = `team-${owners}`;
  const related = async () => ({
    team: one('teams', await makeTeam(api, 'acme', unique())),
    [owners.slice(0, -1)]: one(owners, await makeOwner()),
  });
  const create = async (sample: Sample) =>
    api.post(`/api/v2/${type}`, { data: { type, relationships: await related(), ...sample } });
  return [
    {
      label: `${type}, create`,
      send: create,
      samples: [{ attributes }],
      // The document is about these two resources and shows them under other names.
      hidden: ['relationships.team', `relationships.${owners.slice(0, -1)}`],
    },
    {
      label: `${type}, update`,
      send: async (sample) => {
        const { id } = expectStatus(await create({ attributes: { access: 'read' } }), 201).body.data;
        return api.patch(`/api/v2/${type}/${id}`, { data: { type, ...sample } });
      },
      samples: [{ attributes }],
    },
  ];
};

const agentPoolRequests = (api: ApiTestClient, workspaces: readonly string[], project: string): SampledRequest[] => {
  const [allowed = '', excluded = ''] = workspaces;
  const sample = (): Sample => ({
    attributes: { name: unique(), 'organization-scoped': false, 'remote-runs-enabled': true },
    relationships: {
      'allowed-projects': related('projects', project),
      'allowed-workspaces': related('workspaces', allowed),
      'excluded-workspaces': related('workspaces', excluded),
    },
  });
  return [
    {
      label: 'agent-pools, create',
      send: (sent) => api.post(`${ACME}/agent-pools`, { data: { type: 'agent-pools', ...sent } }),
      samples: [sample()],
    },
    {
      label: 'agent-pools, update',
      send: async (sent) =>
        api.patch(`/api/v2/agent-pools/${await makeAgentPool(api, 'acme', unique())}`, {
          data: { type: 'agent-pools', ...sent },
        }),
      samples: [sample()],
    },
  ];
};

const variableSample = (): Sample => ({
  attributes: {
    key: unique(),
    value: '{}',
    description: 'sent',
    category: 'terraform',
    hcl: true,
    sensitive: false,
  },
});

const variableRequests = (api: ApiTestClient, workspace: string): SampledRequest[] => {
  const path = `/api/v2/workspaces/${workspace}/vars`;
  const create = (sample: Sample) => api.post(path, { data: { type: 'vars', ...sample } });
  const secret = { attributes: { sensitive: true, value: 'hidden' }, shows: { attributes: { value: null } } };
  return [
    { label: 'vars, create', send: create, samples: [variableSample()] },
    {
      label: 'vars, update',
      send: async (sample) => {
        const { id } = expectStatus(await create({ attributes: { key: unique(), category: 'env' } }), 201).body.data;
        return api.patch(`${path}/${id}`, { data: { type: 'vars', ...sample } });
      },
      samples: [variableSample(), secret],
    },
  ];
};

const variableSetRequests = (api: ApiTestClient, workspace: string, project: string): SampledRequest[] => {
  const create = (sample: Sample) => api.post(`${ACME}/varsets`, { data: { type: 'varsets', ...sample } });
  const parent = one('projects', project);
  const applied = {
    workspaces: related('workspaces', workspace),
    projects: related('projects', project),
  };
  const vars = { data: [{ type: 'vars', attributes: { key: 'region', value: 'eu', category: 'env' } }] };
  const allAttributes = (): Sample => ({
    attributes: { name: unique(), description: 'sent', global: true, priority: true },
  });
  return [
    {
      label: 'varsets, create',
      send: create,
      samples: [
        allAttributes(),
        {
          attributes: { name: unique() },
          relationships: { ...applied, vars },
          shows: { attributes: { 'var-count': 1 }, relationships: applied },
        },
        { attributes: { name: unique() }, relationships: { parent } },
      ],
    },
    {
      label: 'varsets, update',
      send: async (sample) => {
        const { id } = expectStatus(await create({ attributes: { name: unique() } }), 201).body.data;
        return api.patch(`/api/v2/varsets/${id}`, { data: { type: 'varsets', ...sample } });
      },
      samples: [allAttributes(), { relationships: { ...applied, vars }, shows: { relationships: applied } }],
      // The parent of a set cannot change.
      hidden: ['relationships.parent'],
    },
  ];
};

const TOKEN = { description: 'sent', 'expired-at': '2030-01-01T00:00:00.000Z' };

const tokenRequests = async (api: ApiTestClient, pool: string): Promise<SampledRequest[]> => {
  const team = await makeTeam(api, 'acme', unique());
  const { id: person } = (await api.get('/api/v2/account/details')).body.data;
  const request = (
    name: string,
    path: string,
    attributes: NonNullable<Sample['attributes']>,
    relationships: Pick<Sample, 'relationships'> = {},
  ): SampledRequest => ({
    label: `authentication-tokens, ${name}`,
    send: (sample) => api.post(`/api/v2/${path}`, { data: { type: 'authentication-tokens', ...sample } }),
    samples: [{ attributes, ...relationships }],
  });
  const inAcme = { relationships: { organization: { data: { type: 'organizations', id: 'acme' } } } };
  return [
    request('of a user', `users/${person}/authentication-tokens`, { ...TOKEN, access: 'read-only' }, inAcme),
    request('of an organization', 'organizations/acme/authentication-token', TOKEN),
    request('legacy, of a team', `teams/${team}/authentication-token`, without(TOKEN, 'description')),
    request('of a team', `teams/${team}/authentication-tokens`, TOKEN),
    request('of an agent pool', `agent-pools/${pool}/authentication-tokens`, TOKEN),
  ];
};

const workloadIdentityRequests = async (api: ApiTestClient): Promise<SampledRequest[]> => {
  const team = await makeTeam(api, 'acme', unique());
  const sample = (): Sample => ({
    attributes: {
      name: unique(),
      audience: 'https://cadastre.example.com',
      claims: { sub: ['repo:acme/app:*'] },
      description: 'sent',
      enabled: false,
      issuer: 'https://gitlab.example.com',
      'token-minutes': 5,
    },
  });
  return [
    {
      label: 'workload-identities, create',
      send: (sent) =>
        api.post(`/api/v2/teams/${team}/workload-identities`, { data: { type: 'workload-identities', ...sent } }),
      samples: [sample()],
    },
    {
      label: 'workload-identities, update',
      send: async (sent) =>
        api.patch(`/api/v2/workload-identities/${await makeWorkloadIdentity(api, team, unique())}`, {
          data: { type: 'workload-identities', ...sent },
        }),
      samples: [sample()],
    },
  ];
};

const RUN = {
  message: 'sent',
  'allow-config-generation': true,
  'allow-empty-apply': true,
  'auto-apply': true,
  'debugging-mode': true,
  'invoke-action-addrs': ['action.a.b'],
  'is-destroy': true,
  'policy-paths': ['./policies'],
  refresh: false,
  'replace-addrs': ['aws_c.d[0]'],
  'target-addrs': ['aws_a.b'],
  variables: [{ key: 'region', value: '"eu"' }],
};

const runRequests = async (api: ApiTestClient, workspace: string): Promise<SampledRequest[]> => {
  const configuration = await makeConfigurationVersion(api, workspace);
  return [
    {
      label: 'configuration-versions, create',
      send: (sample) =>
        api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, {
          data: { type: 'configuration-versions', ...sample },
        }),
      samples: [{ attributes: { 'auto-queue-runs': false, speculative: true, provisional: true } }],
    },
    {
      label: 'runs, create',
      send: ({ attributes, relationships }) =>
        api.post('/api/v2/runs', {
          data: {
            type: 'runs',
            attributes,
            relationships: { workspace: one('workspaces', workspace), ...relationships },
          },
        }),
      samples: [
        { attributes: RUN, relationships: { 'configuration-version': one('configuration-versions', configuration) } },
        {
          attributes: { 'plan-only': true, 'terraform-version': '1.13.4' },
          relationships: { workspace: one('workspaces', workspace) },
        },
        { attributes: { 'refresh-only': true } },
        { attributes: { 'save-plan': true } },
      ],
    },
  ];
};

const registryRequests = (api: ApiTestClient): SampledRequest[] => {
  const providers = `${ACME}/registry-providers`;
  const identity = (): Record<string, string> => ({ name: unique(), namespace: 'acme', 'registry-name': 'private' });
  return [
    {
      label: 'registry-providers, create',
      send: (sample) => api.post(providers, { data: { type: 'registry-providers', ...sample } }),
      samples: [{ attributes: identity() }],
    },
    {
      label: 'reserved-tag-keys, create',
      send: (sample) => api.post(`${ACME}/reserved-tag-keys`, { data: { type: 'reserved-tag-keys', ...sample } }),
      samples: [{ attributes: { key: unique(), 'disable-overrides': true } }],
    },
    {
      label: 'reserved-tag-keys, update',
      send: async (sample) =>
        api.patch(`/api/v2/reserved-tag-keys/${await makeReservedTagKey(api, 'acme', unique())}`, {
          data: { type: 'reserved-tag-keys', ...sample },
        }),
      samples: [{ attributes: { key: unique(), 'disable-overrides': true } }],
    },
  ];
};

const IDENTITY_PROVIDER = {
  issuer: 'https://id.example.com',
  'client-id': 'cadastre',
  'client-secret': 'of-the-client',
  scopes: ['openid', 'groups'],
  enabled: false,
  'creates-users': true,
  'allowed-domains': ['example.com'],
  'allowed-groups': ['cadastre-users'],
  'groups-claim': 'roles',
  'username-claim': 'nickname',
  'external-id-claim': 'oid',
  'maps-groups': false,
  'mapped-groups': ['acme-*'],
  'proves-two-factor': true,
};

const SAML_PROVIDER = {
  protocol: 'saml',
  'sign-in-url': 'https://id.example.com/sso',
  'sign-out-url': 'https://id.example.com/slo',
  'proves-emails': true,
  certificates: [],
};

const identityProviderRequests = (api: ApiTestClient): SampledRequest[] => {
  const path = '/api/v2/admin/identity-providers';
  const sample = (): Sample => ({ attributes: { name: unique(), ...IDENTITY_PROVIDER } });
  const samlSample = (): Sample => ({ attributes: { name: unique(), ...SAML_PROVIDER, issuer: `urn:${unique()}` } });
  const toBody = (attributes: object) => ({ data: { type: 'identity-providers', ...attributes } });
  return [
    {
      label: 'identity-providers, create',
      send: (sent) => api.post(path, toBody(sent)),
      samples: [sample(), samlSample()],
      hidden: ['client-secret', 'metadata', 'metadata-url'],
    },
    {
      label: 'identity-providers, update',
      send: async (sent) => {
        const first = sent.attributes?.['protocol'] === 'saml' ? samlSample() : sample();
        const created = expectStatus(await api.post(path, toBody(first)), 201);
        return api.patch(`${path}/${created.body.data.id}`, toBody(sent));
      },
      samples: [sample(), samlSample()],
      hidden: ['client-secret', 'metadata', 'metadata-url'],
    },
  ];
};

const generalSettingsRequests = (api: ApiTestClient): SampledRequest[] => [
  {
    label: 'general-settings, update',
    send: (sent) => api.patch('/api/v2/admin/general-settings', { data: { type: 'general-settings', ...sent } }),
    samples: [
      {
        attributes: {
          'api-rate-limit': 60_000,
          'api-rate-limiting-enabled': true,
          'apply-timeout': '10h',
          'fair-run-queuing-enabled': false,
          'plan-timeout': '1h30m',
          'terraform-build-worker-apply-timeout': '10h',
          'terraform-build-worker-plan-timeout': '1h30m',
        },
      },
    ],
  },
];

const toolVersionRequests = (api: ApiTestClient, type: 'terraform-versions' | 'opa-versions'): SampledRequest[] => {
  const path = `/api/v2/admin/${type}`;
  const make = type === 'opa-versions' ? makeOpaVersion : makeToolVersion;
  const [url, sha] = ['https://tools.example.com/terraform.zip', 'ab'.repeat(32)];
  const archive = { url, sha, os: 'linux', arch: 'amd64' };
  const set = { official: true, enabled: false, beta: true, deprecated: true, 'deprecated-reason': 'old' };
  const version = () => `9.3.0-${unique()}`;
  const samples = (): Sample[] => [
    { attributes: { version: version(), ...set, url, sha }, shows: { attributes: { archs: [archive] } } },
    { attributes: { version: version(), archs: [{ ...archive, arch: 'arm64' }] } },
  ];
  return [
    {
      label: `${type}, create`,
      send: (sent) => api.post(path, { data: { type, ...sent } }),
      samples: samples(),
    },
    {
      label: `${type}, update`,
      send: async (sent) => api.patch(`${path}/${await make(api, version())}`, { data: { type, ...sent } }),
      samples: samples(),
    },
  ];
};

/** Returns requests with every member that their schemas support or keep, for a server with the organization `acme`. */
export const sampledRequests = async (api: ApiTestClient): Promise<SampledRequest[]> => {
  const { token: oauthToken } = await makeOauthClient(api, 'acme', await openTestGitHost());
  const pool = await makeAgentPool(api, 'acme', 'pool');
  const project = await makeProject(api, 'acme', 'Samples');
  const ofAcme = () => makeWorkspace(api, 'acme', unique());
  return [
    ...agentPoolRequests(api, [await ofAcme(), await ofAcme()], project),
    ...identityProviderRequests(api),
    ...(await organizationRequests(api)),
    ...(await workloadIdentityRequests(api)),
    ...projectRequests(api, pool),
    ...accessRequests(api, 'projects', () => makeProject(api, 'acme', unique()), ON_PROJECT),
    ...accessRequests(api, 'workspaces', ofAcme, ON_WORKSPACE),
    ...registryRequests(api),
    ...(await runRequests(api, await ofAcme())),
    ...teamRequests(api),
    ...generalSettingsRequests(api),
    ...toolVersionRequests(api, 'opa-versions'),
    ...toolVersionRequests(api, 'terraform-versions'),
    ...(await tokenRequests(api, pool)),
    ...variableRequests(api, await ofAcme()),
    ...variableSetRequests(api, await ofAcme(), project),
    ...workspaceRequests(api, pool, project, oauthToken),
  ];
};
