import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { costOf } from '../../../test/support/cost.js';
import { logLength } from '../../../test/support/event-log.js';
import { listNames } from '../../../test/support/responses.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
  refusalOf,
  resource,
  type SeededMember,
} from '../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { savedViewsDefinition } from './index.js';

const PATH = '/api/v2/organizations/acme/saved-views';

let server: TestServer;
let olga: SeededMember;
let mia: SeededMember;
let ned: SeededMember;
let ownersTeam: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ownersTeam } = await makeOrganization(server, 'acme'));
  await makeOrganization(server, 'other');
  olga = await makeMember(server, 'acme', 'olga', [ownersTeam]);
  mia = await makeMember(server, 'acme', 'mia');
  ned = await makeMember(server, 'acme', 'ned');
});

afterAll(() => server.close());

let count = 0;
const unique = (): string => `view ${(count += 1)}`;

const body = (attributes: object): object => resource('saved-views', attributes);

const save = async (api: ApiTestClient, attributes: object = {}): Promise<any> =>
  expectStatus(await api.post(PATH, body({ name: unique(), query: 'sort=-name', ...attributes })), 201).body.data;

const namesOf = async (api: ApiTestClient): Promise<readonly string[]> =>
  listNames(expectStatus(await api.get(`${PATH}?page[size]=100`), 200));

describe('a saved view', () => {
  it('is private unless it is shared, and one document everywhere', async () => {
    const name = unique();
    const view = await save(mia, { name });
    expect(view).toMatchObject({
      id: expect.stringMatching(/^sview-/),
      type: 'saved-views',
      attributes: {
        name,
        query: 'sort=-name',
        shared: false,
        permissions: { 'can-update': true, 'can-destroy': true },
      },
      relationships: { 'created-by': { data: { type: 'users', id: mia.id } } },
      links: { self: `/api/v2/saved-views/${view.id}` },
    });
    expect(expectStatus(await mia.get(view.links.self), 200).body.data).toEqual(view);
    const { data } = expectStatus(await mia.get(PATH), 200).body;
    expect(data.find(({ id }: any) => id === view.id)).toEqual(view);
    for (const other of [ned, olga, server]) {
      expect(await namesOf(other)).not.toContain(name);
      expectStatus(await other.get(view.links.self), 404);
      expectStatus(await other.patch(view.links.self, body({ shared: true })), 404);
      expectStatus(await other.delete(view.links.self), 404);
    }
    expect(await namesOf(mia)).toContain(name);
  });

  it('is read by all members if it is shared, changed by its person, and deleted by owners too', async () => {
    const view = await save(mia, { shared: true });
    const document = expectStatus(await ned.get(view.links.self), 200).body.data;
    expect(document.attributes.permissions).toEqual({ 'can-update': false, 'can-destroy': false });
    const refused = expectStatus(await ned.patch(view.links.self, body({ name: 'mine' })), 403);
    expect(refused.body.errors[0].detail).toBe(
      'Only people can save views, and only the person who saved a view can change it',
    );
    expectStatus(await ned.delete(view.links.self), 403);
    expectStatus(await olga.patch(view.links.self, body({ name: 'mine' })), 403);
    const changed = expectStatus(await mia.patch(view.links.self, body({ query: 'name=a', name: unique() })), 200);
    expect(changed.body.data.attributes).toMatchObject({ query: 'name=a', shared: true });
    expectStatus(await olga.delete(view.links.self), 204);
    expectStatus(await mia.get(view.links.self), 404);
  });

  it('is hidden again when its person no longer shares it', async () => {
    const view = await save(mia, { shared: true });
    expectStatus(await mia.patch(view.links.self, body({ shared: false })), 200);
    expectStatus(await ned.get(view.links.self), 404);
  });

  it('belongs to a person, not to a team or an organization', async () => {
    const team = server.as(await makeToken(server, `/api/v2/teams/${ownersTeam}/authentication-token`));
    const organization = server.as(await makeOrganizationToken(server, 'acme'));
    for (const api of [team, organization]) {
      expectStatus(await api.post(PATH, body({ name: 'x', query: '' })), 403);
      expectStatus(await api.get(PATH), 200);
    }
  });

  it('has a name that is unique among the views of its person', async () => {
    const name = unique();
    await save(mia, { name });
    await save(ned, { name, shared: true });
    const refusal = ['/data/attributes/name', 'Name has already been taken'];
    expect(refusalOf(await mia.post(PATH, body({ name, query: '' })))).toEqual(refusal);
    const other = await save(mia);
    expect(refusalOf(await mia.patch(other.links.self, body({ name })))).toEqual(refusal);
    expect(expectStatus(await mia.get(other.links.self), 200).body.data).toEqual(other);
  });

  it.each([
    [{}, ['/data/attributes/name', '/data/attributes/query']],
    [{ name: 'a', query: 1 }, ['/data/attributes/query']],
    [{ name: ' ', query: 'a b' }, ['/data/attributes/name', '/data/attributes/query']],
    [{ name: 'a', query: '', shared: 'yes' }, ['/data/attributes/shared']],
  ])('refuses %j and changes nothing', async (attributes, pointers) => {
    const length = await logLength(server.store);
    const { errors } = expectStatus(await mia.post(PATH, body(attributes)), 422).body;
    expect(errors.map(({ source }: any) => source.pointer)).toEqual(pointers);
    expect(await logLength(server.store)).toBe(length);
  });

  it('adds no event if nothing changes', async () => {
    const view = await save(mia);
    const length = await logLength(server.store);
    expectStatus(await mia.patch(view.links.self, body({ name: view.attributes.name })), 200);
    expectStatus(await mia.patch(view.links.self, body({})), 200);
    expect(await logLength(server.store)).toBe(length);
  });

  it('is one of a hundred at most', async () => {
    const { id, ...paul } = await makeMember(server, 'acme', 'paul');
    for (let n = 0; n < 100; n += 1) await save(paul);
    const { errors } = expectStatus(await paul.post(PATH, body({ name: unique(), query: '' })), 422).body;
    expect(errors[0].detail).toBe('You can save at most 100 views in an organization. Delete one');
    expect(id).not.toBe('');
  });

  it('costs two round trips', async () => {
    const cost = await costOf(server, () => server.post(PATH, body({ name: unique(), query: '' })));
    expect(cost).toMatchObject({ status: 201, roundTrips: 2 });
  });

  it('is not found in other organizations, nor by strangers', async () => {
    const stranger = await makeMember(server, 'other', 'sam');
    const view = await save(mia, { shared: true });
    for (const path of [PATH, view.links.self]) expectStatus(await stranger.get(path), 404);
    expectStatus(await stranger.post(PATH, body({ name: 'x', query: '' })), 404);
    expectStatus(await stranger.delete(view.links.self), 404);
    expectStatus(await mia.get('/api/v2/saved-views/sview-unknown'), 404);
  });

  it('is deleted with its organization, and if it is private also with its person', async () => {
    await makeOrganization(server, 'doomed');
    const path = '/api/v2/organizations/doomed/saved-views';
    const doomed = expectStatus(await server.post(path, body({ name: 'x', query: '', shared: true })), 201).body.data;
    expectStatus(await server.delete('/api/v2/organizations/doomed'), 204);
    expectStatus(await server.get(doomed.links.self), 404);
    const fay = await makeMember(server, 'acme', 'fay');
    const [own, shared] = [await save(fay), await save(fay, { shared: true })];
    expectStatus(await server.delete(`/api/v2/admin/users/${fay.id}`), 204);
    expectStatus(await mia.get(shared.links.self), 200);
    const rows = await server.database.rows<{ id: string }>(sql`select id from saved_views where id = ${own.id}`);
    expect(rows).toEqual([]);
    await expectViewsMatchLog(server, [savedViewsDefinition]);
  });
});
