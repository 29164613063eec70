import { startIdentityProvider } from '../support/identity-provider.js';
import { expectStatus, resource } from '../support/seeds.js';
import {
  exchangeToken,
  makeWorkloadIdentity,
  workloadIdentityBody,
  WORKLOAD_SUBJECT,
} from '../support/workload-identities.js';
import type { AuditedAction, CatalogueWorld } from './audit-catalogue.actions.js';

const ofTeam = ({ team }: CatalogueWorld): string => `/api/v2/teams/${team}/workload-identities`;
const byId = (id: string): string => `/api/v2/workload-identities/${id}`;

const makeIdentity = async (world: CatalogueWorld, attributes: object = {}) => {
  const name = world.unique('identity');
  return { name, id: await makeWorkloadIdentity(world.owner, world.team, name, attributes) };
};

/** Actions for the rows of workload identities. The server must permit an issuer at `localhost`. */
export const WORKLOAD_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'workload_identity.create': async (world) => {
    const name = world.unique('identity');
    const answer = expectStatus(await world.owner.post(ofTeam(world), workloadIdentityBody(name)), 201);
    const { issuer } = answer.body.data.attributes;
    return { answer, id: answer.body.data.id as string, meta: { name, team: world.team, issuer } };
  },
  'workload_identity.update': async (world) => {
    const { id } = await makeIdentity(world);
    const body = resource('workload-identities', { 'token-minutes': 5, claims: { sub: ['repo:acme/*'] } });
    const answer = expectStatus(await world.owner.patch(byId(id), body), 200);
    return { answer, id, meta: { attributes: ['claims', 'token-minutes'] } };
  },
  'workload_identity.destroy': async (world) => {
    const { id, name } = await makeIdentity(world);
    return { answer: expectStatus(await world.owner.delete(byId(id)), 204), id, meta: { name, team: world.team } };
  },
  'workload_identity.issue_token': async (world) => {
    const { server } = world;
    const provider = await startIdentityProvider();
    const { issuer } = provider;
    const { id, name } = await makeIdentity(world, { issuer });
    const aud = server.runtime.settings.publicUrl;
    const answer = await exchangeToken(server, id, await provider.signToken({ aud, sub: WORKLOAD_SUBJECT }));
    await provider.close();
    expectStatus(answer, 200);
    const tokens = expectStatus(await world.owner.get(`/api/v2/teams/${world.team}/authentication-tokens`), 200).body
      .data;
    const { id: token } = tokens.find(({ attributes }: { attributes: { description: string } }) =>
      attributes.description.includes(name),
    );
    return { answer, id, accessor: id, meta: { token, issuer, subject: WORKLOAD_SUBJECT } };
  },
};
