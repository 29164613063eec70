import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { ApiError, readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type AuthenticationToken = ApiResource<'AuthenticationToken'>;

const tokensKey = (organization: string) => [...organizationKey(organization), 'tokens'] as const;

/** The tokens of teams that the person may manage, those that expire first at the top. */
export const teamTokensQuery = (organization: string) =>
  pagedQuery([...tokensKey(organization), 'teams'], (page, signal) => {
    const query = { ...page, sort: 'expired-at' as const };
    const params = { path: { organization }, query };
    return readDocument(api.GET('/api/v2/organizations/{organization}/team-tokens', { params, signal }));
  });

/** The tokens of one team, page by page. */
export const tokensOfTeamQuery = (organization: string, id: string) =>
  pagedQuery([...tokensKey(organization), 'team', id], (page, signal) => {
    const params = { path: { id }, query: page };
    return readDocument(api.GET('/api/v2/teams/{id}/authentication-tokens', { params, signal }));
  });

/** The tokens of an agent pool, page by page. */
export const tokensOfPoolQuery = (organization: string, id: string) =>
  pagedQuery([...tokensKey(organization), 'agent-pool', id], (page, signal) => {
    const params = { path: { id }, query: page };
    return readDocument(api.GET('/api/v2/agent-pools/{id}/authentication-tokens', { params, signal }));
  });

type OrganizationTokenKind = 'organization' | 'audit-trails';

/** The token of the organization, or the one that reads its audit trail only. Null if there is none. */
export const organizationTokenQuery = (organization: string, kind: OrganizationTokenKind) =>
  queryOptions({
    queryKey: [...tokensKey(organization), kind],
    queryFn: async ({ signal }) => {
      const query = kind === 'audit-trails' ? { token: kind } : {};
      const params = { path: { organization }, query };
      const path = '/api/v2/organizations/{organization}/authentication-token';
      try {
        return await readData(api.GET(path, { params, signal }));
      } catch (error) {
        if (error instanceof ApiError && error.isNotFound) return null;
        throw error;
      }
    },
  });

/** `expiredAt`: an ISO 8601 time, or null for no end. */
export type RequestedToken = {
  readonly owner:
    { readonly team: string } | { readonly agentPool: string } | { readonly organization: OrganizationTokenKind };
  readonly description: string;
  readonly expiredAt: string | null;
};

const createToken = async (
  organization: string,
  { owner, description, expiredAt }: RequestedToken,
): Promise<string> => {
  const end = expiredAt === null ? {} : { 'expired-at': expiredAt };
  const type = 'authentication-tokens' as const;
  if ('team' in owner) {
    const params = { path: { id: owner.team } };
    const body = { data: { type, attributes: { description, ...end } } };
    const { data } = await readDocument(api.POST('/api/v2/teams/{id}/authentication-tokens', { params, body }));
    return data.attributes.token ?? '';
  }
  if ('agentPool' in owner) {
    const params = { path: { id: owner.agentPool } };
    const body = { data: { type, attributes: { description, ...end } } };
    const { data } = await readDocument(api.POST('/api/v2/agent-pools/{id}/authentication-tokens', { params, body }));
    return data.attributes.token ?? '';
  }
  const query = owner.organization === 'audit-trails' ? { token: owner.organization } : {};
  const params = { path: { organization }, query };
  const body = { data: { type, attributes: { ...(description === '' ? {} : { description }), ...end } } };
  const path = '/api/v2/organizations/{organization}/authentication-token';
  const { data } = await readDocument(api.POST(path, { params, body }));
  return data.attributes.token ?? '';
};

/** Creates a token and returns its secret, which nothing keeps. */
export const useCreateToken = (organization: string) =>
  useChange({
    mutationFn: (token: RequestedToken) => createToken(organization, token),
    // The result has the secret.
    gcTime: 0,
    rereads: tokensKey(organization),
  });

export const useRevokeToken = (organization: string) =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/authentication-tokens/{id}', { params: { path: { id } } })),
    rereads: tokensKey(organization),
  });
