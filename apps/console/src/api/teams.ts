import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { ONCE } from './once.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type Team = ApiResource<'Team'>;

const SUGGESTIONS = 50;

/** Everything about the teams of an organization has a key that begins with this one. */
const teamsKey = (organization: string) => [...organizationKey(organization), 'teams'] as const;

/** The teams that the person may see, page by page. */
export const teamsQuery = (organization: string) =>
  pagedQuery([...teamsKey(organization), 'list'], (page, signal) => {
    const params = { path: { organization }, query: page };
    return readDocument(api.GET('/api/v2/organizations/{organization}/teams', { params, signal }));
  });

/** Teams with this text in their name, for suggestions. */
export const teamSuggestionsQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...teamsKey(organization), 'suggestions', name],
    queryFn: ({ signal }) => {
      const query = { 'page[size]': SUGGESTIONS, ...(name === '' ? {} : { q: name }) };
      const params = { path: { organization }, query };
      return readData(api.GET('/api/v2/organizations/{organization}/teams', { params, signal }));
    },
  });

export const teamQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...teamsKey(organization), 'one', id],
    queryFn: ({ signal }) => readData(api.GET('/api/v2/teams/{id}', { params: { path: { id } }, signal })),
  });

export type TeamMemberRow = {
  /** The id of the membership. */
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly email: string;
  readonly isInvited: boolean;
};

/** The members of a team, page by page. The server records this read in the audit trail. */
export const teamMembersQuery = (organization: string, id: string) =>
  pagedQuery(
    [...teamsKey(organization), 'members', id],
    async (page, signal) => {
      const params = { path: { id }, query: { ...page, include: ['user' as const] } };
      const document = await readDocument(
        api.GET('/api/v2/teams/{id}/relationships/organization-memberships', { params, signal }),
      );
      const data = document.data.map(
        ({ id: membership, attributes: { email, status }, relationships }): TeamMemberRow => ({
          id: membership,
          user: relationships.user.data.id,
          email,
          isInvited: status === 'invited',
          name: findIncluded(document, relationships.user.data)?.attributes.username ?? email,
        }),
      );
      return { data, meta: document.meta };
    },
    ONCE,
  );

export const useCreateTeam = (organization: string) =>
  useChange({
    mutationFn: (attributes: RequestResource<'createTeam'>['attributes']) => {
      const params = { path: { organization } };
      const body = { data: { type: 'teams' as const, attributes } };
      return readData(api.POST('/api/v2/organizations/{organization}/teams', { params, body }));
    },
    rereads: teamsKey(organization),
  });

type TeamChange = RequestResource<'updateTeam'>['attributes'];

export const useChangeTeam = (organization: string, id: string) =>
  useChange({
    mutationFn: (attributes: TeamChange) => {
      const body = { data: { type: 'teams' as const, attributes } };
      return readData(api.PATCH('/api/v2/teams/{id}', { params: { path: { id } }, body }));
    },
    rereads: organizationKey(organization),
  });

/** Deletes a team. Its own screen is not read again, because it is left. */
export const useDeleteTeam = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE('/api/v2/teams/{id}', { params: { path: { id } } })),
    rereads: [...teamsKey(organization), 'list'],
  });

type MemberChange = { readonly action: 'add' | 'remove'; readonly memberships: readonly string[] };

/** Adds members of the organization to a team, or removes them from it. */
export const useChangeTeamMembers = (organization: string, id: string) =>
  useChange({
    mutationFn: ({ action, memberships }: MemberChange) => {
      const params = { path: { id } };
      const data = memberships.map((membership) => ({ type: 'organization-memberships' as const, id: membership }));
      const path = '/api/v2/teams/{id}/relationships/organization-memberships';
      return requireSuccess(
        action === 'add' ? api.POST(path, { params, body: { data } }) : api.DELETE(path, { params, body: { data } }),
      );
    },
    rereads: organizationKey(organization),
  });
