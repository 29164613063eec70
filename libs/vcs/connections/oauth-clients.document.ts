import { linkTo, toMany, toOne, type Resource } from '#api/json-api';
import { SERVICE_PROVIDERS, type ServiceProvider } from '#vcs/git-hosts';
import type { OauthClientRow } from './oauth-clients.view.js';

/** Returns the path to which a Git host sends browsers back. Each host has its own, so that no host gets the code of another. */
export const getCallbackPath = ({ httpUrl }: Pick<OauthClientRow, 'httpUrl'>): string =>
  `/auth/vcs/callback/${new URL(httpUrl).host}`;

/** `publicUrl`: the address of the server, or of any of its pages. */
export const renderOauthClient = (row: OauthClientRow, publicUrl: string): Resource => {
  const self = `/api/v2/oauth-clients/${row.id}`;
  return {
    id: row.id,
    type: 'oauth-clients',
    attributes: {
      name: row.name,
      'api-url': row.apiUrl,
      'callback-url': row.key === null ? null : new URL(getCallbackPath(row), publicUrl).href,
      'connect-path': row.key === null ? null : `/auth/vcs/${row.id}`,
      'created-at': row.createdAt,
      'http-url': row.httpUrl,
      key: row.key,
      'organization-scoped': row.organizationScoped,
      'rsa-public-key': null,
      secret: null,
      'service-provider': row.serviceProvider,
      'service-provider-display-name': SERVICE_PROVIDERS[row.serviceProvider as ServiceProvider] ?? row.serviceProvider,
      'token-refused-at': row.tokenRefusedAt,
      'updated-at': row.updatedAt,
    },
    relationships: {
      organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
      projects: toMany('projects', row.projects),
      'oauth-tokens': {
        ...toMany('oauth-tokens', row.token === null ? [] : [row.token]),
        ...linkTo(`${self}/oauth-tokens`),
      },
      'agent-pool': toOne('agent-pools', null),
    },
    links: { self },
  };
};

/** Renders the token of a client without its text, which is in no response. */
export const renderOauthToken = (row: OauthClientRow & { readonly token: string }): Resource => ({
  id: row.token,
  type: 'oauth-tokens',
  attributes: {
    'created-at': row.tokenCreatedAt,
    'has-ssh-key': row.tokenHasSshKey,
    'service-provider-user': row.tokenUser,
    uid: row.token,
  },
  relationships: { 'oauth-client': toOne('oauth-clients', row.id, `/api/v2/oauth-clients/${row.id}`) },
  links: { self: `/api/v2/oauth-tokens/${row.token}` },
});

export const hasToken = (row: OauthClientRow): row is OauthClientRow & { readonly token: string } => row.token !== null;
