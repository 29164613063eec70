import { linkTo, toMany, toOne, type Resource } from '#api/json-api';
import { SERVICE_PROVIDERS, type ServiceProvider } from '#vcs/git-hosts';
import type { OauthClientRow } from './oauth-clients.view.js';

export const renderOauthClient = (row: OauthClientRow): Resource => {
  const self = `/api/v2/oauth-clients/${row.id}`;
  return {
    id: row.id,
    type: 'oauth-clients',
    attributes: {
      name: row.name,
      'api-url': row.apiUrl,
      'callback-url': null,
      'connect-path': null,
      'created-at': row.createdAt,
      'http-url': row.httpUrl,
      key: null,
      'organization-scoped': row.organizationScoped,
      'rsa-public-key': null,
      secret: null,
      'service-provider': row.serviceProvider,
      'service-provider-display-name': SERVICE_PROVIDERS[row.serviceProvider as ServiceProvider] ?? row.serviceProvider,
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
