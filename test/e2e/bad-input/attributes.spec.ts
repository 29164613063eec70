import { describe, it } from '@jest/globals';
import { resource } from '../../support/seeds.js';
import { describeRefusals, workspace, WORKSPACES, type BadRequestCase } from './bad-requests.js';

const { expectRefusal } = describeRefusals();

const NAME = '/data/attributes/name';

describe('a request with wrong attributes', () => {
  it.each<BadRequestCase>([
    { title: 'no body', send: `POST ${WORKSPACES}`, status: 422, problems: [['/data', /can't be blank/]] },
    { title: 'an empty object', send: `POST ${WORKSPACES}`, body: {}, status: 422, problems: [['/data']] },
    { title: 'null', send: `POST ${WORKSPACES}`, body: 'null', status: 422, problems: [['/data']] },
    { title: 'a list', send: `POST ${WORKSPACES}`, body: [], status: 422 },
    { title: 'a text', send: `POST ${WORKSPACES}`, body: '"workspaces"', status: 422 },
    { title: 'a number', send: `POST ${WORKSPACES}`, body: '7', status: 422 },
    {
      title: 'data that is a list',
      send: `POST ${WORKSPACES}`,
      body: { data: [] },
      status: 422,
      problems: [['/data']],
    },
    {
      title: 'data that is null',
      send: `POST ${WORKSPACES}`,
      body: { data: null },
      status: 422,
      problems: [['/data']],
    },
    {
      title: 'no attributes',
      send: `POST ${WORKSPACES}`,
      body: { data: { type: 'workspaces' } },
      status: 422,
      problems: [['/data/attributes', "Attributes can't be blank"]],
    },
    {
      title: 'another type',
      send: `POST ${WORKSPACES}`,
      body: resource('projects', { name: 'x' }),
      status: 422,
      problems: [['/data/type', 'Type must be workspaces']],
    },
    {
      title: 'no name',
      send: `POST ${WORKSPACES}`,
      body: workspace({}),
      status: 422,
      problems: [[NAME, "Name can't be blank"]],
    },
    {
      title: 'an empty name',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: '' }),
      status: 422,
      problems: [[NAME, "Name can't be blank"]],
    },
    {
      title: 'a name that is a number',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 7 }),
      status: 422,
      problems: [[NAME, 'Name must be a string']],
    },
    {
      title: 'a name of null',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: null }),
      status: 422,
      problems: [[NAME]],
    },
    ...['with space', 'slash/ed', 'dot.ted', 'ümlaut', 'line\nbreak', '../up', '工作', '%00', "quote'd", 'x;--'].map(
      (name): BadRequestCase => ({
        title: `the name ${JSON.stringify(name)}`,
        send: `POST ${WORKSPACES}`,
        body: workspace({ name }),
        status: 422,
        problems: [[NAME, /^Name may only contain/]],
      }),
    ),
    {
      title: 'a name of 91 characters',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'x'.repeat(91) }),
      status: 422,
      problems: [[NAME]],
    },
    {
      title: 'a name with a NUL, which Postgres cannot store',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'nul\u0000' }),
      status: 422,
      problems: [[NAME]],
    },
    {
      title: 'a name that is taken',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'one' }),
      status: 422,
      problems: [[NAME, 'Name has already been taken']],
    },
    {
      title: 'several wrong types, each reported',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 1, 'auto-apply': 'yes', 'trigger-prefixes': 'x', 'vcs-repo': [] }),
      status: 422,
      problems: [
        [NAME],
        ['/data/attributes/auto-apply', 'Auto apply must be true or false'],
        ['/data/attributes/trigger-prefixes', 'Trigger prefixes must be a list'],
        ['/data/attributes/vcs-repo'],
      ],
    },
    {
      title: 'an unknown permission of a team, beside one of a wrong type',
      send: 'POST /api/v2/organizations/acme/teams',
      body: resource('teams', { name: 'x', 'organization-access': { 'manage-all': true, 'manage-teams': 'yes' } }),
      status: 422,
      problems: [
        ['/data/attributes/organization-access/manage-teams', 'Manage teams must be true or false'],
        [
          '/data/attributes/organization-access/manage-all',
          /^Manage all is not known here; accepted are manage-workspaces, manage-projects, .*access-secret-teams$/,
        ],
      ],
    },
    {
      title: 'unknown members of the access to a project',
      send: 'POST /api/v2/team-projects',
      body: resource(
        'team-projects',
        { access: 'custom', 'project-access': { constructor: 'read' }, 'workspace-access': { run: 'read' } },
        { team: { data: { type: 'teams', id: '{team}' } }, project: { data: { type: 'projects', id: '{project}' } } },
      ),
      status: 422,
      problems: [
        [
          '/data/attributes/project-access/constructor',
          'Constructor is not known here; accepted are settings, teams, variable-sets',
        ],
        ['/data/attributes/workspace-access/run', /^Run is not known here; accepted are runs, variables, /],
      ],
    },
    {
      title: 'an unknown setting-overwrite of a workspace',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'setting-overwrites': { 'auto-apply': true } }),
      status: 422,
      problems: [
        [
          '/data/attributes/setting-overwrites/auto-apply',
          'Auto apply is not known here; accepted are execution-mode, agent-pool',
        ],
      ],
    },
    {
      title: 'an unknown setting-overwrite of a project',
      send: 'PATCH /api/v2/projects/{project}',
      body: resource('projects', { 'setting-overwrites': { mode: true } }),
      status: 422,
      problems: [['/data/attributes/setting-overwrites/mode', /^Mode is not known here; accepted are default-/]],
    },
    {
      title: 'an unknown execution mode',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'execution-mode': 'nowhere' }),
      status: 422,
      problems: [['/data/attributes/execution-mode']],
    },
    {
      title: 'agent mode without a pool',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'execution-mode': 'agent' }),
      status: 422,
      problems: [['/data/attributes/agent-pool-id', /must be specified when using 'agent' execution mode/]],
    },
    {
      title: 'a pool without agent mode',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'agent-pool-id': 'apool-1' }),
      status: 422,
      problems: [['/data/attributes/agent-pool-id', /must not be specified unless using 'agent' execution mode/]],
    },
    {
      title: 'a duration in weeks',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-activity-duration': '2w' }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-activity-duration', /up to 4 numeric digits and 1 unit/]],
    },
    {
      title: 'a time that is not valid',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-at': 'tomorrow' }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-at']],
    },
    {
      title: 'a date that does not exist',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-at': '2025-02-30T00:00:00Z' }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-at']],
    },
    ...['9999-12-31T23:59:59-23:00', '0000-01-01T00:00:00+23:00'].map((time): BadRequestCase => ({
      title: `the time ${time}, whose year in UTC clients cannot parse`,
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'auto-destroy-at': time }),
      status: 422,
      problems: [['/data/attributes/auto-destroy-at', 'Auto destroy at must be an ISO 8601 time']],
    })),
    ...[
      '1.0.0-01',
      '~> 1.0.0-rc.00',
      '>= 1.0.0-0, != 1.5.0-007',
      '99.0.0',
      '~> 99',
      `1.0.0-${'1'.repeat(249)}`,
      '',
      ' ',
    ].map((version): BadRequestCase => ({
      title: `the version ${JSON.stringify(version.slice(0, 30))} of the tool`,
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'terraform-version': version }),
      status: 422,
      problems: [['/data/attributes/terraform-version', /^Terraform version /]],
    })),
    {
      title: 'a version of the tool that is a number',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'iac-version': 1.5 }),
      status: 422,
      problems: [['/data/attributes/iac-version', 'Iac version must be a string']],
    },
    {
      title: 'a version of the tool that is too long',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'terraform-version': '>=1,'.repeat(100) }),
      status: 422,
      problems: [['/data/attributes/terraform-version', /too long/]],
    },
    {
      title: 'two versions of one tool',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'terraform-version': '1.5.7', 'iac-version': '1.5.6' }),
      status: 422,
      problems: [['/data/attributes/iac-version', /must not differ/]],
    },
    {
      title: 'both ways to share state',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'global-remote-state': true, 'project-remote-state': true }),
      status: 422,
      problems: [['/data/attributes/project-remote-state', /cannot be enabled when global/]],
    },
    {
      title: 'a repository without a name',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ 'vcs-repo': { 'oauth-token-id': 'ot-1' } }),
      status: 422,
      problems: [['/data/attributes/vcs-repo/identifier']],
    },
    {
      title: 'a description with a NUL',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ description: 'a\u0000b' }),
      status: 422,
      problems: [['/data/attributes/description']],
    },
    {
      title: 'half of a surrogate pair',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: String.raw`{"data":{"type":"workspaces","attributes":{"description":"\ud83d"}}}`,
      status: 422,
      problems: [['/data/attributes/description']],
    },
    {
      title: 'an unknown project',
      send: `POST ${WORKSPACES}`,
      body: workspace({ name: 'x' }, { project: { data: { type: 'projects', id: 'prj-nowhere' } } }),
      status: 422,
      problems: [['/data/relationships/project/data/id', 'Project does not exist']],
    },
    {
      title: 'a project of another organization',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({}, { project: { data: { type: 'projects', id: '{foreignProject}' } } }),
      status: 422,
      problems: [['/data/relationships/project/data/id', 'Project does not exist']],
    },
    {
      title: 'a lock whose reason is a list',
      send: 'POST /api/v2/workspaces/{workspace}/actions/lock',
      body: { reason: ['x'] },
      status: 422,
      problems: [['/reason']],
    },
    {
      title: 'a lock whose reason has a NUL',
      send: 'POST /api/v2/workspaces/{workspace}/actions/lock',
      body: { reason: 'a\u0000b' },
      status: 422,
      problems: [['/reason']],
    },
    {
      title: 'an organization without an address',
      send: 'POST /api/v2/organizations',
      body: resource('organizations', { name: 'third' }),
      status: 422,
      problems: [['/data/attributes/email', "Email can't be blank"]],
    },
    {
      title: 'an organization with a name of two letters',
      send: 'POST /api/v2/organizations',
      body: resource('organizations', { name: 'ab', email: 'a@b.test' }),
      status: 422,
      problems: [[NAME]],
    },
    {
      title: 'an organization with a name that is taken',
      send: 'POST /api/v2/organizations',
      body: resource('organizations', { name: 'acme', email: 'a@b.test' }),
      status: 422,
      problems: [[NAME, 'Name has already been taken']],
    },
    {
      title: 'a session timeout that is too large',
      send: 'PATCH /api/v2/organizations/acme',
      body: resource('organizations', { 'session-timeout': 1e300 }),
      status: 422,
      problems: [['/data/attributes/session-timeout']],
    },
    {
      title: 'a project without a name',
      send: 'POST /api/v2/organizations/acme/projects',
      body: resource('projects', { description: 'x' }),
      status: 422,
      problems: [[NAME]],
    },
    {
      title: 'a project with a name that is taken',
      send: 'POST /api/v2/organizations/acme/projects',
      body: resource('projects', { name: 'full' }),
      status: 422,
      problems: [[NAME, 'Name has already been taken']],
    },
    {
      title: 'a token with an invalid expiry',
      send: 'POST /api/v2/organizations/acme/authentication-token',
      body: resource('authentication-tokens', { 'expired-at': 'some day' }),
      status: 422,
      problems: [['/data/attributes/expired-at']],
    },
    {
      title: 'an unknown feature set',
      send: 'POST /api/v2/admin/organizations/acme/subscription',
      body: {
        data: {
          type: 'subscriptions',
          relationships: { 'feature-set': { data: { type: 'feature-sets', id: 'fs-gold' } } },
        },
      },
      status: 422,
      problems: [['/data/relationships/feature-set']],
    },
  ])('is refused for $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});

const ATTRIBUTE = '/data/attributes';
const READ_ONLY = /is read-only when access level is 'read'/;

describe('a body with several errors', () => {
  it.each<BadRequestCase>([
    {
      title: 'a wrong type, and values of a workspace that its rules refuse',
      send: `POST ${WORKSPACES}`,
      body: workspace({
        name: 'with space',
        'auto-apply': 'yes',
        'auto-destroy-activity-duration': 'soon',
        'execution-mode': 'local',
        operations: true,
        'trigger-patterns': ['a'],
        'trigger-prefixes': ['b'],
      }),
      status: 422,
      problems: [
        [`${ATTRIBUTE}/auto-apply`, 'Auto apply must be true or false'],
        [NAME, /^Name may only contain/],
        [`${ATTRIBUTE}/auto-destroy-activity-duration`],
        [`${ATTRIBUTE}/operations`],
        [`${ATTRIBUTE}/trigger-patterns`],
      ],
    },
    {
      title: 'attributes of a workspace that exclude each other, beside a wrong name',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({ name: 'with space', 'execution-mode': 'local', operations: true }),
      status: 422,
      problems: [[`${ATTRIBUTE}/operations`], [NAME, /^Name may only contain/]],
    },
    {
      title: 'execution settings and a repository that are not complete, beside a wrong name',
      send: 'PATCH /api/v2/workspaces/{workspace}',
      body: workspace({
        name: 'with space',
        'setting-overwrites': { 'execution-mode': true },
        'vcs-repo': { branch: 'main' },
      }),
      status: 422,
      problems: [[`${ATTRIBUTE}/execution-mode`], [`${ATTRIBUTE}/vcs-repo/identifier`], [NAME]],
    },
    {
      title: 'an unknown visibility of a team, beside a wrong name',
      send: 'POST /api/v2/organizations/acme/teams',
      body: resource('teams', { name: '', visibility: 'public' }),
      status: 422,
      problems: [[`${ATTRIBUTE}/visibility`], [NAME, "Name can't be blank"]],
    },
    {
      title: 'two changes that the owners team refuses',
      send: 'PATCH /api/v2/teams/{team}',
      body: resource('teams', { name: 'bosses', visibility: 'secret' }),
      status: 422,
      problems: [
        [NAME, 'The owners team cannot be renamed'],
        [`${ATTRIBUTE}/visibility`, 'The owners team cannot be made secret'],
      ],
    },
    {
      title: 'an unknown value of team access, beside a field that the level does not allow',
      send: 'POST /api/v2/team-workspaces',
      body: resource(
        'team-workspaces',
        { access: 'read', runs: 'everything', variables: 'read', 'policy-overrides': false },
        {
          team: { data: { type: 'teams', id: '{team}' } },
          workspace: { data: { type: 'workspaces', id: '{workspace}' } },
        },
      ),
      status: 422,
      problems: [
        [`${ATTRIBUTE}/runs`],
        [`${ATTRIBUTE}/variables`, READ_ONLY],
        [`${ATTRIBUTE}/policy-overrides`, READ_ONLY],
      ],
    },
    {
      title: 'access to a project for the owners, with a field that the level does not allow',
      send: 'POST /api/v2/team-projects',
      body: resource(
        'team-projects',
        { access: 'read', 'workspace-access': { runs: 'read' } },
        { team: { data: { type: 'teams', id: '{team}' } }, project: { data: { type: 'projects', id: '{project}' } } },
      ),
      status: 422,
      problems: [
        ['/data/relationships/team/data/id', /^The owners team has access/],
        [`${ATTRIBUTE}/workspace-access/runs`, READ_ONLY],
      ],
    },
    {
      title: 'a description of a token that is too long, beside an end in the past',
      send: 'POST /api/v2/organizations/acme/authentication-token',
      body: resource('authentication-tokens', { description: 'x'.repeat(1_001), 'expired-at': '2001-01-01T00:00:00Z' }),
      status: 422,
      problems: [[`${ATTRIBUTE}/description`], [`${ATTRIBUTE}/expired-at`, 'Expired at must be in the future']],
    },
    {
      title: 'a wrong type in a variable, beside a key and a description that its rules refuse',
      send: 'POST /api/v2/workspaces/{workspace}/vars',
      body: resource('vars', { key: 'with space', category: 'env', hcl: 'no', description: 'x'.repeat(513) }),
      status: 422,
      problems: [[`${ATTRIBUTE}/hcl`], [`${ATTRIBUTE}/key`, /^Key is invalid/], [`${ATTRIBUTE}/description`]],
    },
    {
      title: 'a wrong type in a variable set, beside a name and a description that its rules refuse',
      send: 'POST /api/v2/organizations/acme/varsets',
      body: resource('varsets', { name: '', global: 'no', description: 'x'.repeat(513) }),
      status: 422,
      problems: [[`${ATTRIBUTE}/global`], [NAME, "Name can't be blank"], [`${ATTRIBUTE}/description`]],
    },
  ])('gets one error for each: $title', async (bad) => {
    await expectRefusal(bad);
  });
});
