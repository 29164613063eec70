import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type OwnToken = ApiResource<'AuthenticationToken'>;

const OWN_TOKENS_KEY = ['own-tokens'] as const;

/** The tokens of a user, the newest first. */
export const ownTokensQuery = (user: string) =>
  pagedQuery([...OWN_TOKENS_KEY, user], (query, signal) =>
    readDocument(
      api.GET('/api/v2/users/{id}/authentication-tokens', { params: { path: { id: user }, query }, signal }),
    ),
  );

type CreatedToken = RequestResource<'createUserToken'>;
export type OwnTokenAccess = NonNullable<NonNullable<CreatedToken['attributes']>['access']>;

/** `expiredAt`: an ISO 8601 time, or null for no end. `organization`: the only one, or null for all of them. */
type RequestedOwnToken = {
  readonly description: string;
  readonly access: OwnTokenAccess;
  readonly organization: string | null;
  readonly expiredAt: string | null;
};

/** Creates a token and returns its secret, which nothing keeps. */
export const useCreateOwnToken = (user: string) =>
  useChange({
    mutationFn: async ({ description, access, organization, expiredAt }: RequestedOwnToken): Promise<string> => {
      const only = { organization: { data: { type: 'organizations' as const, id: organization ?? '' } } };
      const body = {
        data: {
          type: 'authentication-tokens' as const,
          attributes: { description, access, ...(expiredAt === null ? {} : { 'expired-at': expiredAt }) },
          ...(organization === null ? {} : { relationships: only }),
        },
      };
      const params = { path: { id: user } };
      const { data } = await readDocument(api.POST('/api/v2/users/{id}/authentication-tokens', { params, body }));
      return data.attributes.token ?? '';
    },
    // The result has the secret.
    gcTime: 0,
    rereads: OWN_TOKENS_KEY,
  });

export const useRevokeOwnToken = () =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/authentication-tokens/{id}', { params: { path: { id } } })),
    rereads: OWN_TOKENS_KEY,
  });
