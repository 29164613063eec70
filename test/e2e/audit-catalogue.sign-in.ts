import { waitForFollowers } from '../support/event-log.js';
import { startIdentityProvider } from '../support/identity-provider.js';
import { addIdentityProvider } from '../support/identity-providers.js';
import { OidcVisitor } from '../support/oidc-visitor.js';
import { expectStatus, makeMember, type SeededMember } from '../support/seeds.js';
import type { ApiResponse } from '../support/server.js';
import { FormClient, makeLink, PASSWORD } from '../support/sign-in.js';
import type { ActionResult, CatalogueWorld } from './audit-catalogue.actions.js';

type Visitor = { readonly client: FormClient; readonly member: SeededMember; readonly signedIn: Response };

/** Signs a new member in with a link. */
const signInMember = async (world: CatalogueWorld): Promise<Visitor> => {
  const { server, name } = world;
  const member = await makeMember(server, name, world.unique('visitor'), []);
  const client = new FormClient(server.url, server.runtime.settings.publicUrl);
  const signedIn = await client.post('/sign-in/link', { secret: await makeLink(server, member.id) });
  return { client, member, signedIn };
};

const toAnswer = ({ status, headers }: Response): ApiResponse => ({ status, headers, body: null, text: '' });

const describeMember = ({ id, username }: SeededMember) => ({ user: username, user_id: id });

const findSessionId = async ({ server }: CatalogueWorld, { id }: SeededMember): Promise<string> =>
  expectStatus(await server.get(`/api/v2/users/${id}/sessions`), 200).body.data[0].id as string;

const toMethodsResult = (member: SeededMember, answer: Response, meta: object): ActionResult => ({
  answer: toAnswer(answer),
  id: member.id.replace('user-', 'sim-'),
  accessor: member.id,
  meta: { ...describeMember(member), ...meta },
});

/** Links a new member with an account at a new provider. */
const linkMember = async (world: CatalogueWorld) => {
  const { server } = world;
  const provider = await startIdentityProvider();
  try {
    const { client, member } = await signInMember(world);
    const clientId = world.unique('client');
    const id = await addIdentityProvider(server, provider, { name: clientId, 'client-id': clientId });
    const page = await (await client.get('/account')).text();
    const [, path = ''] = new RegExp(`href="(/account/identity-providers/${id}/link[^"]+)"`).exec(page) ?? [];
    provider.putPerson(member.username);
    const { headers } = await client.get(path);
    const callback = await new OidcVisitor(server, client).authenticate(
      provider,
      headers.get('location') ?? '',
      member.username,
    );
    return { client, member, id, issuer: provider.issuer, answer: await client.get(callback) };
  } finally {
    await provider.close();
  }
};

type SignInAction = (world: CatalogueWorld) => Promise<ActionResult>;

const ACTIONS: Readonly<Record<string, SignInAction>> = {
  'session.create': async (world) => {
    const { member, signedIn } = await signInMember(world);
    const meta = { ...describeMember(member), method: 'link', assurance: 'password' };
    return { answer: toAnswer(signedIn), id: await findSessionId(world, member), accessor: member.id, meta };
  },
  'session.destroy': async (world) => {
    const { member, client } = await signInMember(world);
    const id = await findSessionId(world, member);
    const answer = toAnswer(await client.post('/sign-out'));
    return { answer, id, accessor: member.id, meta: { ...describeMember(member), reason: 'signed-out' } };
  },
  'sign_in_methods.update': async (world) => {
    const { member, client } = await signInMember(world);
    const answer = await client.post('/account/password', { password: PASSWORD });
    return toMethodsResult(member, answer, { change: 'password_set' });
  },
  'sign_in_methods.link_identity': async (world) => {
    const { member, id, issuer, answer } = await linkMember(world);
    return toMethodsResult(member, answer, { identity_provider: id, issuer });
  },
  'sign_in_methods.unlink_identity': async (world) => {
    const { client, member, id } = await linkMember(world);
    await client.post('/account/password', { password: PASSWORD });
    const page = await (await client.get('/account')).text();
    const [, path = ''] = /action="(\/account\/identities\/[^"]+)"/.exec(page) ?? [];
    return toMethodsResult(member, await client.post(path), { identity_provider: id });
  },
  'sign_in_methods.sign_in_failed': async (world) => {
    const { member, client } = await signInMember(world);
    const answer = await client.post('/sign-in', { login: member.username, password: 'four other words' });
    return toMethodsResult(member, answer, { method: 'password' });
  },
};

/** Reads of a trail wait for events of the organization, and not for events of its members. */
const afterFollowers =
  (action: SignInAction): SignInAction =>
  async (world) => {
    const result = await action(world);
    await waitForFollowers(world.server.store, 'audit_trail');
    return result;
  };

/** Actions on the pages for browsers. */
export const SIGN_IN_ACTIONS: typeof ACTIONS = Object.fromEntries(
  Object.entries(ACTIONS).map(([row, action]) => [row, afterFollowers(action)]),
);
