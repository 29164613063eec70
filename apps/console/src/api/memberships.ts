import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument, requireSuccess, requireUnchanging } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey, organizationListKey } from './organizations.js';
import { ONCE } from './once.js';
import { pagedQuery, readAllPages } from './pages.js';
import { useChange } from './use-change.js';

type MembershipPage = ApiResource<'OrganizationMembershipPageWithIncluded'>;

const SUGGESTIONS = 50;

/** Everything about the members of an organization has a key that begins with this one. */
const membersKey = (organization: string) => [...organizationKey(organization), 'members'] as const;

export type ListedMember = {
  /** The id of the membership. */
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly email: string;
  readonly isInvited: boolean;
  readonly since: string;
  /** Null: never. Undefined: the person may not see it. */
  readonly lastActive: string | null | undefined;
  /** Names of the teams that the person may see. */
  readonly teams: readonly string[];
};

const toMemberRow = (document: MembershipPage, membership: MembershipPage['data'][number]): ListedMember => {
  const { id, attributes, relationships } = membership;
  return {
    id,
    user: relationships.user.data.id,
    name: findIncluded(document, relationships.user.data)?.attributes.username ?? attributes.email,
    email: attributes.email,
    isInvited: attributes.status === 'invited',
    since: attributes['created-at'],
    lastActive: attributes['last-active-at'],
    teams: relationships.teams.data.flatMap((team) => findIncluded(document, team)?.attributes.name ?? []),
  };
};

const readMembers = async (
  organization: string,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
) => {
  const params = { path: { organization }, query: { ...query, include: ['user' as const, 'teams' as const] } };
  const document = await readDocument(
    api.GET('/api/v2/organizations/{organization}/organization-memberships', { params, signal }),
  );
  return { data: document.data.map((membership) => toMemberRow(document, membership)), meta: document.meta };
};

export type MemberSearch = { readonly name?: string; readonly status?: 'active' | 'invited' };

/** Members and invitations, page by page. */
export const membersQuery = (organization: string, { name, status }: MemberSearch) =>
  pagedQuery(
    [...membersKey(organization), 'list', name, status],
    (page, signal) => {
      const query = { ...page, ...(name ? { q: name } : {}), ...(status ? { 'filter[status]': status } : {}) };
      return readMembers(organization, query, signal);
    },
    ONCE,
  );

/** Active members with this text in their name, for suggestions. */
export const memberSuggestionsQuery = (organization: string, name: string) =>
  queryOptions({
    ...ONCE,
    queryKey: [...membersKey(organization), 'suggestions', name],
    queryFn: async ({ signal }) => {
      const query = { 'page[size]': SUGGESTIONS, 'filter[status]': 'active', ...(name === '' ? {} : { q: name }) };
      return (await readMembers(organization, query, signal)).data;
    },
  });

export const useInviteMember = (organization: string) =>
  useChange({
    mutationFn: ({ email, teams }: { readonly email: string; readonly teams: readonly string[] }) => {
      const params = { path: { organization } };
      const relationships = { teams: { data: teams.map((id) => ({ type: 'teams' as const, id })) } };
      const body = { data: { type: 'organization-memberships' as const, attributes: { email }, relationships } };
      return readDocument(api.POST('/api/v2/organizations/{organization}/organization-memberships', { params, body }));
    },
    rereads: organizationKey(organization),
  });

export const useRemoveMember = (organization: string) =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/organization-memberships/{id}', { params: { path: { id } } })),
    rereads: organizationKey(organization),
  });

const INVITATIONS_KEY = ['own-invitations'] as const;

export type OwnInvitation = {
  /** The id of the membership that the person can accept. */
  readonly id: string;
  /** The name of the organization. */
  readonly organization: string;
  readonly since: string;
};

/** The invitations of the signed-in person to all organizations. */
export const ownInvitationsQuery = queryOptions({
  queryKey: INVITATIONS_KEY,
  queryFn: async ({ signal }): Promise<readonly OwnInvitation[]> => {
    const pages = await readAllPages((query) =>
      readDocument(api.GET('/api/v2/organization-memberships', { params: { query }, signal })),
    );
    return pages
      .flatMap(({ data }) => data)
      .filter(({ attributes }) => attributes.status === 'invited')
      .map(({ id, attributes, relationships }) => ({
        id,
        organization: relationships.organization.data.id,
        since: attributes['created-at'],
      }));
  },
});

/** Reads again what an answer to an invitation changes. Also after a refusal, because the invitation may have ended. */
const useRefreshAfterAnswer = ({ organization }: OwnInvitation) => {
  const queries = useQueryClient();
  return () =>
    Promise.all(
      [INVITATIONS_KEY, organizationListKey, organizationKey(organization)].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
};

export const useAcceptInvitation = (invitation: OwnInvitation) => {
  const { id } = invitation;
  return useChange({
    mutationFn: () =>
      readDocument(api.POST('/api/v2/organization-memberships/{id}/actions/accept', { params: { path: { id } } })),
    onSettled: useRefreshAfterAnswer(invitation),
  });
};

/** Deletes the membership unless the person has accepted it, for example in another tab: that would end the membership. */
export const useDeclineInvitation = (invitation: OwnInvitation) => {
  const params = { path: { id: invitation.id } };
  return useChange({
    mutationFn: async (): Promise<'declined' | 'accepted before'> => {
      const present = await requireUnchanging(
        readDocument(api.GET('/api/v2/organization-memberships/{id}', { params })),
      );
      if (present.data.attributes.status !== 'invited') return 'accepted before';
      await requireSuccess(api.DELETE('/api/v2/organization-memberships/{id}', { params }));
      return 'declined';
    },
    onSettled: useRefreshAfterAnswer(invitation),
  });
};
