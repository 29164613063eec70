import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery, readAllPages } from './pages.js';
import { useChange } from './use-change.js';

/** A connection of the organization to a Git host. */
export type Connection = ApiResource<'OAuthClient'>;

const TYPE = 'oauth-clients';
const CONNECTIONS = '/api/v2/organizations/{organization}/oauth-clients';
const CONNECTION = '/api/v2/oauth-clients/{id}';
const SUGGESTIONS = 50;

/** Leaves the console for the Git host, on which the person authorizes the connection. */
export const authorizeConnection = ({ attributes }: Connection): void => {
  if (attributes['connect-path'] !== null) window.location.assign(attributes['connect-path']);
};

const connectionsKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

/** Returns the name of a connection, which can have none. */
export const nameConnection = ({ attributes }: Connection): string =>
  attributes.name ?? attributes['http-url'].replace(/^https?:\/\//, '');

/** The connections of an organization, page by page. */
export const connectionsQuery = (organization: string) =>
  pagedQuery([...connectionsKey(organization), 'list'], (page, signal) =>
    readDocument(api.GET(CONNECTIONS, { params: { path: { organization }, query: page }, signal })),
  );

type ConnectionChoice = { readonly token: string; readonly name: string };

/** The connections with which a workspace can read a repository, by their tokens. */
export const connectionChoicesQuery = (organization: string) =>
  queryOptions({
    queryKey: [...connectionsKey(organization), 'choices'],
    queryFn: async (): Promise<readonly ConnectionChoice[]> => {
      const pages = await readAllPages((query) =>
        readDocument(api.GET(CONNECTIONS, { params: { path: { organization }, query } })),
      );
      return pages.flatMap(({ data }) =>
        data.flatMap((connection) =>
          connection.relationships['oauth-tokens'].data.map(({ id }) => ({
            token: id,
            name: nameConnection(connection),
          })),
        ),
      );
    },
  });

/** Names of repositories with this text in their name, for suggestions. The Git host answers. */
export const repositorySuggestionsQuery = (organization: string, token: string, name: string) =>
  queryOptions({
    queryKey: [...connectionsKey(organization), 'repositories', token, name],
    queryFn: async ({ signal }): Promise<readonly string[]> => {
      const query = { 'page[size]': SUGGESTIONS, ...(name === '' ? {} : { q: name }) };
      const path = '/api/v2/oauth-tokens/{id}/authorized-repos';
      const repositories = await readData(api.GET(path, { params: { path: { id: token }, query }, signal }));
      return repositories.map(({ id }) => id);
    },
    // The answer of a Git host that refuses the token stays the same.
    retry: false,
  });

/** Ids of the projects whose workspaces may use a connection. */
type ConnectionProjects = { readonly projects: readonly string[] };

const toRelationships = ({ projects }: ConnectionProjects) => ({
  projects: { data: projects.map((id) => ({ type: 'projects' as const, id })) },
});

export const useCreateConnection = (organization: string) =>
  useChange({
    mutationFn: ({
      projects,
      ...attributes
    }: RequestResource<'createOAuthClient'>['attributes'] & ConnectionProjects) => {
      const body = { data: { type: TYPE, attributes, relationships: toRelationships({ projects }) } } as const;
      return readData(api.POST(CONNECTIONS, { params: { path: { organization } }, body }));
    },
    // The request has the token, or a secret.
    gcTime: 0,
    rereads: connectionsKey(organization),
  });

export const useChangeConnection = (organization: string, id: string) =>
  useChange({
    mutationFn: ({
      projects,
      ...attributes
    }: NonNullable<RequestResource<'updateOAuthClient'>['attributes']> & ConnectionProjects) => {
      const body = { data: { type: TYPE, attributes, relationships: toRelationships({ projects }) } } as const;
      return requireSuccess(api.PATCH(CONNECTION, { params: { path: { id } }, body }));
    },
    gcTime: 0,
    rereads: connectionsKey(organization),
  });

export const useDeleteConnection = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE(CONNECTION, { params: { path: { id } } })),
    rereads: connectionsKey(organization),
  });
