import { sql, unprocessable, type Refusal, type Sql } from '#platform/kernel';
import { can, type Actor } from '#api/access';

/**
 * Selects whether workspaces of the project may use the connection of a token; null if the organization has none with this token.
 * Tokens of other organizations are null too, so nobody learns that they exist.
 */
export const selectConnectionUse = (token: Sql, organization: Sql, project: Sql): Sql => sql`
  (select c.organization_scoped or c.projects ? ${project} from oauth_clients c
    where c.token = ${token} and c.organization = ${organization})`;

/** Refuses a token that a workspace cannot use, and one whose connection the caller may not read, with the same text. */
export const refuseConnectionUse = (token: string): Refusal =>
  unprocessable(
    `OAuth token ${token} cannot be used for this workspace: it must be the token of a connection for the project of the workspace, and you need permission to read connections`,
    'vcs-repo/oauth-token-id',
  );

/**
 * Throws 422 unless the caller may let a workspace use the token. `isPermitted` is from `selectConnectionUse`. Unknown tokens are
 * refused like those of other projects.
 */
export const requireConnectionUse = (
  actor: Actor,
  organization: string,
  token: string,
  isPermitted: boolean | null,
): void => {
  if (isPermitted && can(actor, 'read-vcs-connections', { organization })) return;
  throw refuseConnectionUse(token);
};
