import { createServiceKey } from '../../libs/identity/identity-providers/saml/certificates.crypto.js';
import { createScimGroup, createScimUser, makeScimClient } from '../support/scim.js';
import { expectStatus, makeOpaVersion, makeToolVersion, OPA_PROGRAM, resource } from '../support/seeds.js';
import type { ApiResponse, TestServer } from '../support/server.js';
import { FormClient } from '../support/sign-in.js';
import type { CatalogueWorld } from './audit-catalogue.actions.js';

/** The answer of the request that adds an entry to the trail of the site, and what the entry says about the resource. */
type SiteActionResult = { readonly answer: ApiResponse; readonly id: string; readonly meta: object | null };
type SiteAction = (world: CatalogueWorld) => Promise<SiteActionResult>;

const VERSIONS = '/api/v2/admin/terraform-versions';
const OPA_VERSIONS = '/api/v2/admin/opa-versions';
const TRAIL_LOG_SETTINGS = '/api/v2/admin/audit-trail-log-settings/actions';
const TRAIL_LOG_KEYS_STREAM = 'tlogkey-site';
const PROVIDERS = '/api/v2/admin/identity-providers';

const makeProvider = async ({ server, unique }: CatalogueWorld) => {
  const name = unique('provider');
  const issuer = 'https://issuer.example.test';
  const attributes = { name, issuer, 'client-id': name, 'client-secret': 'secret', enabled: false };
  const answer = expectStatus(await server.post(PROVIDERS, resource('identity-providers', attributes)), 201);
  return { answer, id: answer.body.data.id as string, name, issuer };
};

/** Creates a provider with SAML, and sends these changes one after the other. Returns the last answer. */
const makeSamlProvider = async ({ server, unique }: CatalogueWorld, ...changes: readonly object[]) => {
  const name = unique('saml');
  const { certificate } = await createServiceKey(new Date());
  const attributes = {
    name,
    protocol: 'saml',
    issuer: `urn:${name}`,
    'sign-in-url': 'https://id.example.test/sso',
    certificates: [certificate],
  };
  let answer = expectStatus(await server.post(PROVIDERS, resource('identity-providers', attributes)), 201);
  const id = answer.body.data.id as string;
  for (const change of changes)
    answer = expectStatus(await server.patch(`${PROVIDERS}/${id}`, resource('identity-providers', change)), 200);
  return { answer, id, name };
};

/** Returns the ids of the seeds that sign checkpoints, oldest first. */
const listSeeds = async ({ store }: TestServer): Promise<readonly string[]> => {
  const events = await store.log.stream(TRAIL_LOG_KEYS_STREAM);
  const trimmed = events.flatMap(({ data }) => (data as { readonly seeds?: readonly string[] }).seeds ?? []);
  return events
    .flatMap(({ data }) => (data as { readonly seed?: string }).seed ?? [])
    .filter((seed) => !trimmed.includes(seed));
};

const makeGroup = async ({ server, unique }: CatalogueWorld) => {
  const [scim, name] = [await makeScimClient(server), unique('group')];
  const { id } = await createScimGroup(scim, name);
  return { scim, id, name, url: `/scim/v2/Groups/${id}` };
};

const provisionUser = async ({ server, unique }: CatalogueWorld) => {
  const [scim, userName] = [await makeScimClient(server), `${unique('employee')}@people.test`];
  return { scim, userName };
};

/** Makes a user an administrator of the site, or an ordinary user again. */
const administer = async (world: CatalogueWorld, action: 'grant_admin' | 'revoke_admin'): Promise<SiteActionResult> => {
  const { scim, userName } = await provisionUser(world);
  const { id } = await createScimUser(scim, userName);
  const path = `/api/v2/admin/users/${id}/actions`;
  const granted = expectStatus(await world.server.post(`${path}/grant_admin`), 200);
  const answer =
    action === 'grant_admin' ? granted : expectStatus(await world.server.post(`${path}/revoke_admin`), 200);
  return { answer, id, meta: null };
};

/** Actions that only the trail of the site records. */
export const SITE_ACTIONS: Readonly<Record<string, SiteAction>> = {
  'user.create': async (world) => {
    const { scim, userName } = await provisionUser(world);
    const answer = expectStatus(await scim.post('/scim/v2/Users', { userName }), 201);
    const { id } = answer.body as { readonly id: string };
    const { attributes } = expectStatus(await world.server.get(`/api/v2/users/${id}`), 200).body.data;
    return { answer, id, meta: { user: attributes.username, site_admin: false } };
  },
  'user.update': async ({ owner, unique }) => {
    const attributes = { username: unique('renamed') };
    const answer = expectStatus(await owner.patch('/api/v2/account/details', resource('users', attributes)), 200);
    return { answer, id: owner.id, meta: { attributes: ['username'] } };
  },
  'user.confirm': async (world) => {
    const { scim, userName } = await provisionUser(world);
    const invitation = resource('organization-memberships', { email: userName });
    const path = `/api/v2/organizations/${world.name}/organization-memberships`;
    expectStatus(await world.owner.post(path, invitation), 201);
    const answer = expectStatus(await scim.post('/scim/v2/Users', { userName }), 201);
    return { answer, id: (answer.body as { readonly id: string }).id, meta: null };
  },
  'user.forget': async (world) => {
    const { scim, userName } = await provisionUser(world);
    const { id } = await createScimUser(scim, userName);
    const answer = expectStatus(await world.server.delete(`/api/v2/admin/users/${id}`), 204);
    return { answer, id, meta: null };
  },
  'user.grant_admin': async (world) => administer(world, 'grant_admin'),
  'user.revoke_admin': async (world) => administer(world, 'revoke_admin'),
  'identity_provider.create': async (world) => {
    const { answer, id, name, issuer } = await makeProvider(world);
    return { answer, id, meta: { name, issuer } };
  },
  'identity_provider.update': async (world) => {
    const { id } = await makeProvider(world);
    const body = resource('identity-providers', { name: world.unique('renamed'), 'client-secret': 'another secret' });
    const answer = expectStatus(await world.server.patch(`${PROVIDERS}/${id}`, body), 200);
    return { answer, id, meta: { attributes: ['name'], secret_replaced: true } };
  },
  'identity_provider.destroy': async (world) => {
    const { id, name } = await makeProvider(world);
    return { answer: expectStatus(await world.server.delete(`${PROVIDERS}/${id}`), 204), id, meta: { name } };
  },
  'saml_configuration.create': async (world) => {
    const { answer, id, name } = await makeSamlProvider(world);
    return { answer, id, meta: { name, issuer: `urn:${name}` } };
  },
  'saml_configuration.update': async (world) => {
    const { id } = await makeSamlProvider(world);
    const body = resource('identity-providers', { name: world.unique('renamed') });
    const answer = expectStatus(await world.server.patch(`${PROVIDERS}/${id}`, body), 200);
    return { answer, id, meta: { attributes: ['name'] } };
  },
  'saml_configuration.enable': async (world) => {
    const { answer, id, name } = await makeSamlProvider(world, { enabled: true });
    return { answer, id, meta: { name } };
  },
  'saml_configuration.disable': async (world) => {
    const { answer, id, name } = await makeSamlProvider(world, { enabled: true }, { enabled: false });
    return { answer, id, meta: { name } };
  },
  'saml_configuration.destroy': async (world) => {
    const { id, name } = await makeSamlProvider(world);
    return { answer: expectStatus(await world.server.delete(`${PROVIDERS}/${id}`), 204), id, meta: { name } };
  },
  'oidc_key.rotate': async ({ server }) => {
    const answer = expectStatus(await server.post('/api/v2/admin/oidc-settings/actions/rotate-key'), 204);
    const { keys } = expectStatus(await server.get('/.well-known/jwks'), 200).body;
    return { answer, id: 'oidc-site', meta: { kid: keys[0].kid } };
  },
  'oidc_key.trim': async ({ server }) => {
    expectStatus(await server.post('/api/v2/admin/oidc-settings/actions/rotate-key'), 204);
    const [, ...earlier] = expectStatus(await server.get('/.well-known/jwks'), 200).body.keys as { kid: string }[];
    const answer = expectStatus(await server.post('/api/v2/admin/oidc-settings/actions/trim-key'), 204);
    return { answer, id: 'oidc-site', meta: { kids: earlier.map(({ kid }) => kid).toReversed() } };
  },
  'general_settings.update': async ({ server }) => {
    const path = '/api/v2/admin/general-settings';
    const answer = expectStatus(await server.patch(path, resource('general-settings', { 'plan-timeout': '75m' })), 200);
    return { answer, id: 'gset-site', meta: { attributes: { 'plan-timeout': '75m' } } };
  },
  'terraform_version.create': async ({ server, unique }) => {
    const version = `9.1.0-${unique('added')}`;
    const answer = expectStatus(await server.post(VERSIONS, resource('terraform-versions', { version })), 201);
    return { answer, id: answer.body.data.id, meta: { version } };
  },
  'terraform_version.update': async ({ server, unique }) => {
    const version = `9.1.0-${unique('changed')}`;
    const id = await makeToolVersion(server, version);
    const body = resource('terraform-versions', { enabled: false });
    const answer = expectStatus(await server.patch(`${VERSIONS}/${id}`, body), 200);
    return { answer, id, meta: { version, attributes: ['enabled'] } };
  },
  'terraform_version.destroy': async ({ server, unique }) => {
    const version = `9.1.0-${unique('deleted')}`;
    const id = await makeToolVersion(server, version);
    return { answer: expectStatus(await server.delete(`${VERSIONS}/${id}`), 204), id, meta: { version } };
  },
  'opa_version.create': async ({ server, unique }) => {
    const version = `9.1.0-${unique('added')}`;
    const answer = expectStatus(
      await server.post(OPA_VERSIONS, resource('opa-versions', { version, ...OPA_PROGRAM })),
      201,
    );
    return { answer, id: answer.body.data.id, meta: { version } };
  },
  'opa_version.update': async ({ server, unique }) => {
    const version = `9.1.0-${unique('changed')}`;
    const id = await makeOpaVersion(server, version);
    const body = resource('opa-versions', { enabled: false });
    const answer = expectStatus(await server.patch(`${OPA_VERSIONS}/${id}`, body), 200);
    return { answer, id, meta: { version, attributes: ['enabled'] } };
  },
  'opa_version.destroy': async ({ server, unique }) => {
    const version = `9.1.0-${unique('deleted')}`;
    const id = await makeOpaVersion(server, version);
    return { answer: expectStatus(await server.delete(`${OPA_VERSIONS}/${id}`), 204), id, meta: { version } };
  },
  'audit_trail_log_key.rotate': async ({ server }) => {
    const answer = expectStatus(await server.post(`${TRAIL_LOG_SETTINGS}/rotate-key`), 204);
    return { answer, id: TRAIL_LOG_KEYS_STREAM, meta: { seed: (await listSeeds(server)).at(-1) } };
  },
  'audit_trail_log_key.trim': async ({ server }) => {
    for (let n = 0; n < 2; n += 1) expectStatus(await server.post(`${TRAIL_LOG_SETTINGS}/rotate-key`), 204);
    const seeds = (await listSeeds(server)).slice(0, -1);
    const answer = expectStatus(await server.post(`${TRAIL_LOG_SETTINGS}/trim-key`), 204);
    return { answer, id: TRAIL_LOG_KEYS_STREAM, meta: { seeds } };
  },
  'scim_group.create': async ({ server, unique }) => {
    const [scim, displayName] = [await makeScimClient(server), unique('group')];
    const answer = expectStatus(await scim.post('/scim/v2/Groups', { displayName }), 201);
    const { id } = answer.body as { readonly id: string };
    return { answer, id, meta: { name: displayName, identity_provider: 'site' } };
  },
  'scim_group.update': async (world) => {
    const { scim, id, url } = await makeGroup(world);
    const Operations = [{ op: 'replace', path: 'displayName', value: world.unique('renamed') }];
    const answer = expectStatus(await scim.patch(url, { Operations }), 200);
    return { answer, id, meta: { attributes: ['display-name'] } };
  },
  'scim_group.update_members': async (world) => {
    const { scim, id, url } = await makeGroup(world);
    const user = await createScimUser(scim, `${world.unique('employee')}@people.test`);
    const Operations = [{ op: 'add', path: 'members', value: [{ value: user.id }] }];
    return { answer: expectStatus(await scim.patch(url, { Operations }), 200), id, meta: { added: 1, removed: 0 } };
  },
  'scim_group.destroy': async (world) => {
    const { scim, id, url } = await makeGroup(world);
    return { answer: expectStatus(await scim.delete(url), 204), id, meta: null };
  },
  'sign_in.refuse': async ({ server }) => {
    const client = new FormClient(server.url, server.runtime.settings.publicUrl);
    const { status, headers } = await client.post('/sign-in/link', { secret: 'unknown' });
    const about = { user_id: null, identity_provider: null, name_fingerprint: null, omitted: 0 };
    return {
      answer: { status, headers, body: null, text: '' },
      id: 'sign-ins',
      meta: { reason: 'ended-link', ...about },
    };
  },
};
