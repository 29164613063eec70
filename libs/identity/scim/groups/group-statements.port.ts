import type { Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/** Fragments of a statement: ids of a user, a key of a group, and whether the group maps to an owners team. */
export type GroupReference = { readonly user: Sql; readonly key: Sql; readonly ofOwners: Sql };

/** Groups of a user by their keys: those that map to teams, and those that map to owners teams. */
export type GroupsOfUser = { readonly groups: readonly string[]; readonly ownersGroups: readonly string[] };

/**
 * Port for the groups that identity providers state when people sign in. They count besides those of SCIM: a person leaves
 * a team only when neither states the group.
 */
export abstract class GroupStatements {
  /** Returns a condition: an identity provider has stated that the user is in the group. */
  abstract isStated(reference: GroupReference): Sql;

  abstract list(database: Database, user: string): Promise<GroupsOfUser>;
}
