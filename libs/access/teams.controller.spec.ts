import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unborn, writeOf, type EventStore } from '#event-store';
import { answered, makeOrganization, type SeededOrganization } from '../../test/support/seeds.js';
import { startTestServer, type Answer, type TestServer } from '../../test/support/server.js';
import { systemContext } from './actor.js';
import { NO_ORGANIZATION_ACCESS, team } from './team.js';

let server: TestServer;
let acme: SeededOrganization;

/** No route makes teams yet. */
const makeTeam = async (store: EventStore, name: string): Promise<string> => {
  const { ids } = server.house;
  const id = ids.next('team');
  const organizationAccess = { ...NO_ORGANIZATION_ACCESS, manageWorkspaces: true };
  const born = { type: 'CreateTeam', data: { name, visibility: 'organization', organizationAccess } } as const;
  await store.append([writeOf(team, unborn(id, team), acme.id, born)], systemContext('test', ids.uuid()));
  return id;
};

beforeAll(async () => {
  server = await startTestServer();
  acme = await makeOrganization(server, 'acme');
  for (const name of ['core', 'core-2']) await makeTeam(server.store, name);
});

afterAll(() => server.close());

const PATH = '/api/v2/organizations/acme/teams';

const namesIn = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);

describe('the teams of an organization', () => {
  it.each([
    ['', ['core', 'core-2', 'owners']],
    ['filter[names]=core', ['core']],
    ['filter[names]=core,owners,none', ['core', 'owners']],
    ['q=CORE', ['core', 'core-2']],
    ['q=none', []],
  ])('answer %s', async (query, expected) => {
    const answer = answered(await server.get(`${PATH}?${query}`), 200);
    expect(namesIn(answer)).toEqual(expected);
    expect(answer.body.meta.pagination['total-count']).toBe(expected.length);
  });

  it('are shown page by page', async () => {
    const answer = await server.get(`${PATH}?page[size]=2&page[number]=2`);
    expect(namesIn(answer)).toEqual(['owners']);
    expect(answer.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2, 'next-page': null });
  });

  it('are each shown as alone, with what they may do in the whole organization', async () => {
    const { body } = await server.get(`${PATH}?filter[names]=core`);
    const [core] = body.data;
    expect(core).toMatchObject({
      id: expect.stringMatching(/^team-\w{16}$/),
      type: 'teams',
      attributes: {
        name: 'core',
        visibility: 'organization',
        'users-count': 0,
        'organization-access': { 'manage-workspaces': true, 'manage-vcs-settings': false, 'read-projects': false },
      },
      relationships: { organization: { data: { type: 'organizations', id: 'acme' } }, users: { data: [] } },
    });
    expect((await server.get(`/api/v2/teams/${core.id}`)).body.data).toEqual(core);
  });

  it('are not there where the organization is not, nor by an id that is none', async () => {
    expect((await server.get('/api/v2/organizations/nowhere/teams')).status).toBe(404);
    expect((await server.get('/api/v2/teams/team-nowhere')).status).toBe(404);
  });
});
