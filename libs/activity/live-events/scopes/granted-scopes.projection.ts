import { sql, type Message, type OrganizationDeleted, type Projection, type Sql } from '#platform/kernel';

type AccessAdded =
  | Message<'TeamWorkspaceAdded', { readonly team: string; readonly workspace: string }>
  | Message<'TeamProjectAdded', { readonly team: string; readonly project: string }>;
type AccessRemoved = Message<'TeamWorkspaceRemoved' | 'TeamProjectRemoved' | 'TeamDeleted'>;

const insertScope = (id: string, organization: string | null, team: string, scope: string): Sql => sql`
  insert into granted_scopes (id, organization, team, scope) values (${id}, ${organization}, ${team}, ${scope})`;

const deleteScope = (_: unknown, { stream }: { readonly stream: string }): Sql =>
  sql`delete from granted_scopes where id = ${stream}`;

/**
 * The workspaces and projects that teams have access to. The rows of deleted workspaces and projects stay, so that members
 * of these teams learn of the deletion.
 */
export const grantedScopes: Projection<AccessAdded | AccessRemoved | OrganizationDeleted> = {
  name: 'granted_scopes',
  version: 1,
  tables: ['granted_scopes'],
  on: {
    TeamWorkspaceAdded: ({ team, workspace }, { stream, organization }) =>
      insertScope(stream, organization, team, workspace),
    TeamProjectAdded: ({ team, project }, { stream, organization }) => insertScope(stream, organization, team, project),
    TeamWorkspaceRemoved: deleteScope,
    TeamProjectRemoved: deleteScope,
    TeamDeleted: (_, { stream }) => sql`delete from granted_scopes where team = ${stream}`,
    OrganizationDeleted: (_, { organization }) => sql`
      delete from granted_scopes where organization = ${organization}`,
  },
};
