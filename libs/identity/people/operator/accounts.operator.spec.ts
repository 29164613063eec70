import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  type SeededMember,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { RandomIds } from '#platform/host';
import { listTokensOf, listUsers, previewForget, revokeToken } from './accounts.operator.js';

let server: TestServer;
let ada: SeededMember;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  ada = await makeMember(server, 'acme', 'ada');
});
afterAll(() => server.close());

it('lists users with their organizations', async () => {
  const users = await listUsers(server.store);
  expect(users).toContainEqual(
    expect.objectContaining({ username: ada.username, siteAdmin: false, organizations: ['acme'], tokens: 1 }),
  );
});

it('lists the tokens of the site, and those of one user', async () => {
  await makeOrganizationToken(server, 'acme');
  const owners = (await listTokensOf(server.store, null)).map(({ owner }) => owner);
  expect(owners).toEqual(expect.arrayContaining([ada.username, 'acme']));
  expect(await listTokensOf(server.store, ada.username)).toMatchObject([{ kind: 'user', owner: ada.username }]);
  await expect(listTokensOf(server.store, 'bo')).rejects.toThrow('There is no user named bo');
});

it('shows what the end of an account would end', async () => {
  expect(await previewForget(server.store, ada.username)).toMatchObject({ memberships: [{}], tokens: [{}] });
});

it('revokes a token', async () => {
  const [{ id } = { id: '' }] = await listTokensOf(server.store, ada.username);
  await revokeToken(server.store, new RandomIds(), id);
  expect((await server.as(ada.token).get('/api/v2/account/details')).status).toBe(401);
  await expect(revokeToken(server.store, new RandomIds(), id)).rejects.toThrow(`There is no token with the id ${id}`);
});
