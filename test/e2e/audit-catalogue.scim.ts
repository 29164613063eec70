import { waitForFollowers } from '../support/event-log.js';
import { createScimGroup, createScimUser } from '../support/scim.js';
import { expectStatus, makeTeam, resource } from '../support/seeds.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import type { AuditedAction, CatalogueWorld } from './audit-catalogue.actions.js';

type Provisioning = {
  readonly scim: ApiTestClient;
  readonly token: string;
  readonly id: string;
  readonly userName: string;
};

/** Provisions a user who is a member of the organization. */
const provisionMember = async (world: CatalogueWorld): Promise<Provisioning> => {
  const { server, name } = world;
  const body = resource('authentication-tokens', { description: 'identity provider' });
  const { id: token, attributes } = expectStatus(await server.post('/api/v2/admin/scim-tokens', body), 201).body.data;
  const scim = server.as(attributes.token as string);
  const userName = `${world.unique('provisioned')}@people.test`;
  const { id } = await createScimUser(scim, userName);
  const group = world.unique('group');
  await makeTeam(server, name, group, { 'sso-team-id': group });
  await createScimGroup(scim, group, [id]);
  return { scim, token, id, userName };
};

const actOn =
  (act: (provisioning: Provisioning, url: string) => Promise<ApiResponse>, meta: object | null = null): AuditedAction =>
  async (world) => {
    const provisioning = await provisionMember(world);
    const answer = await act(provisioning, `/scim/v2/Users/${provisioning.id}`);
    // Reads of a trail do not wait for events of the site.
    await waitForFollowers(world.server.store, 'audit_trail');
    return { answer, id: provisioning.id, meta, accessor: provisioning.token };
  };

/** Actions of an identity provider on a member. */
export const SCIM_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'user.provision': actOn(async ({ scim, userName }, url) => {
    expectStatus(await scim.delete(url), 204);
    return expectStatus(await scim.post('/scim/v2/Users', { userName }), 201);
  }),
  'user.update_provisioning': actOn(
    async ({ scim }, url) => {
      const Operations = [{ op: 'replace', path: 'externalId', value: '7' }];
      return expectStatus(await scim.patch(url, { Operations }), 200);
    },
    { attributes: ['external-id'] },
  ),
  'user.deprovision': actOn(async ({ scim }, url) => expectStatus(await scim.delete(url), 204)),
};
