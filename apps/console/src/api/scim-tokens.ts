import { readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

const SCIM_TOKENS_KEY = ['scim-tokens'] as const;

/** The id of an identity provider, or null for tokens that belong to none. */
export type ScimSource = string | null;

/** The tokens with which an identity provider manages users and groups, the newest first. */
export const scimTokensQuery = (source: ScimSource) =>
  pagedQuery([...SCIM_TOKENS_KEY, source], (query, signal) => {
    if (source === null) return readDocument(api.GET('/api/v2/admin/scim-tokens', { params: { query }, signal }));
    const params = { path: { id: source }, query };
    return readDocument(api.GET('/api/v2/admin/identity-providers/{id}/scim-tokens', { params, signal }));
  });

type RequestedScimToken = {
  readonly source: ScimSource;
  readonly description: string;
  /** An ISO 8601 time, or null for the limit of the site. */
  readonly expiredAt: string | null;
};

const createScimToken = async ({ source, description, expiredAt }: RequestedScimToken): Promise<string> => {
  const attributes = { description, ...(expiredAt === null ? {} : { 'expired-at': expiredAt }) };
  const body = { data: { type: 'authentication-tokens' as const, attributes } };
  const path = '/api/v2/admin/identity-providers/{id}/scim-tokens';
  const { data } = await readDocument(
    source === null
      ? api.POST('/api/v2/admin/scim-tokens', { body })
      : api.POST(path, { params: { path: { id: source } }, body }),
  );
  return data.attributes.token ?? '';
};

/** Creates a token and returns its secret, which nothing keeps. */
export const useCreateScimToken = () =>
  useChange({
    mutationFn: createScimToken,
    // The result has the secret.
    gcTime: 0,
    rereads: SCIM_TOKENS_KEY,
  });

export const useRevokeScimToken = () =>
  useChange({
    mutationFn: (id: string) =>
      requireSuccess(api.DELETE('/api/v2/authentication-tokens/{id}', { params: { path: { id } } })),
    rereads: SCIM_TOKENS_KEY,
  });
