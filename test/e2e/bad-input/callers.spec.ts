import { describe, it } from '@jest/globals';
import { resource } from '../../support/seeds.js';
import { describeRefusals, WORKSPACES, type BadRequestCase } from './bad-requests.js';

const { expectRefusal } = describeRefusals();

describe('a caller without permission', () => {
  const routes: readonly BadRequestCase['send'][] = [
    'GET /api/v2/organizations/acme',
    `GET ${WORKSPACES}`,
    `POST ${WORKSPACES}`,
    `GET ${WORKSPACES}/one`,
    'GET /api/v2/workspaces/{workspace}',
    'PATCH /api/v2/workspaces/{workspace}',
    'DELETE /api/v2/workspaces/{workspace}',
    'POST /api/v2/workspaces/{workspace}/actions/lock',
    'POST /api/v2/workspaces/{locked}/actions/unlock',
    'POST /api/v2/workspaces/{locked}/actions/force-unlock',
    'POST /api/v2/workspaces/{workspace}/actions/safe-delete',
    'GET /api/v2/workspaces/{workspace}/tag-bindings',
    'GET /api/v2/projects/{project}',
    'PATCH /api/v2/projects/{project}',
    'DELETE /api/v2/projects/{full}',
    'GET /api/v2/teams/{team}',
    'POST /api/v2/teams/{team}/authentication-token',
    'GET /api/v2/organizations/acme/authentication-token',
    'DELETE /api/v2/organizations/acme',
  ];
  const body = (line: string): object =>
    line.startsWith('GET') ? {} : { body: resource(line.includes('projects') ? 'projects' : '', { name: 'mine' }) };

  it.each(
    routes.map((line): BadRequestCase => ({
      title: 'another organization',
      send: line,
      ...body(line),
      as: '{otherToken}',
      status: 404,
    })),
  )('gets 404 for a resource of $title: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each(
    routes.map((line): BadRequestCase => ({ title: 'no token', send: line, ...body(line), as: null, status: 401 })),
  )('gets 401 for a request without a token: $send', async (bad) => {
    await expectRefusal(bad);
  });

  it.each<BadRequestCase>([
    { title: 'an unknown token', send: 'GET /api/v2/account/details', as: 'x.atlasv1.y', status: 401 },
    { title: 'an empty bearer token', send: 'GET /api/v2/account/details', as: '', status: 401 },
    {
      title: 'another scheme',
      send: 'GET /api/v2/account/details',
      headers: { authorization: 'Basic YTpi' },
      as: null,
      status: 401,
    },
    {
      title: 'a token of another organization by its id',
      send: 'DELETE /api/v2/authentication-tokens/{otherTokenId}',
      as: '{acmeToken}',
      status: 404,
    },
  ])('is refused with $title', async (bad) => {
    await expectRefusal(bad);
  });
});

describe('a request that conflicts with the state of a resource', () => {
  it.each<BadRequestCase>([
    {
      title: 'an existing lock',
      send: 'POST /api/v2/workspaces/{locked}/actions/lock',
      status: 409,
      problems: [
        [null, /^Unable to lock workspace\. The workspace is already locked by User admin since [0-9T:.-]+Z$/],
      ],
    },
    {
      title: 'a lock of another user',
      send: 'POST /api/v2/workspaces/{locked}/actions/unlock',
      as: '{acmeToken}',
      status: 409,
      problems: [[null, /is locked by User admin/]],
    },
    {
      title: 'a missing lock',
      send: 'POST /api/v2/workspaces/{workspace}/actions/unlock',
      status: 409,
      problems: [[null, /^(?!.*is locked by)/]],
    },
    {
      title: 'a lock during a safe deletion',
      send: 'POST /api/v2/workspaces/{locked}/actions/safe-delete',
      status: 409,
      problems: [[null, /locked/]],
    },
    { title: 'workspaces in a project', send: 'DELETE /api/v2/projects/{full}', status: 422 },
    { title: 'the role as default project', send: 'DELETE /api/v2/projects/{project}', status: 422 },
  ])('is refused because of $title: $send', async (bad) => {
    await expectRefusal(bad);
  });
});
