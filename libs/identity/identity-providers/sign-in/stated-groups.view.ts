import { sql, type Projection, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { UserForgotten } from '#identity/people';
import type { SignInMethodsEvent } from '#identity/sign-in';
import type { GroupReference } from '#identity/scim';
import { SETTINGS_PROVIDER_ID } from '../providers/provider-directory.service.js';
import type { MappedGroups } from './mapped-groups.js';

type StatedGroupsEvent =
  Extract<SignInMethodsEvent, { type: 'IdentityUnlinked' | 'SignInMethodsReset' }> | UserForgotten;

/**
 * A projection without tables: it ends statements, which are no view, and a rebuild does not run it again. A scheduled job
 * then removes people from the teams (provider-access.job.ts).
 */
export const statedGroups: Projection<StatedGroupsEvent> = {
  name: 'stated_groups',
  tables: [],
  on: {
    // The event names the provider of the time of the link: another one can have its issuer now. The next sign-in with a
    // provider states its groups again.
    IdentityUnlinked: ({ user }) => sql`
      update identity_providers.stated_groups set ended = true where user_id = ${user}`,
    SignInMethodsReset: ({ user }) => sql`
      update identity_providers.stated_groups set ended = true where user_id = ${user}`,
    UserForgotten: (_, { stream }) => sql`delete from identity_providers.stated_groups where user_id = ${stream}`,
  },
};

/** Groups count for this long after the sign-in at which a provider has stated them. */
const STATEMENT_DAYS = 90;

const STATEMENT_MS = STATEMENT_DAYS * 86_400_000;

type StatedGroups = MappedGroups & { readonly user: string; readonly provider: string };

/**
 * Stores the groups that a provider has just stated and that map to teams, instead of the earlier ones. The statement is
 * unmapped until `storeMappedStatement`: its owners teams are those of `managed`, and of the groups that it replaces.
 * Returns the time of the statement, which no other statement of the provider about the person has.
 */
export const storeStatedGroups = async (
  database: Database,
  { user, provider, groups, ownersGroups }: StatedGroups,
  managed: readonly string[],
  now: Date,
): Promise<Timestamp> => {
  const row = await database.row<{ statedAt: Timestamp }>(sql`
    insert into identity_providers.stated_groups as statement
           (user_id, provider, groups, owners_groups, managed_owners_groups, stated_at)
    values (${user}, ${provider}, ${groups}::text[], ${ownersGroups}::text[], ${managed}::text[], ${now})
    on conflict (user_id, provider) do update
       set groups = excluded.groups, owners_groups = excluded.owners_groups, ended = false,
           managed_owners_groups = array(
             select distinct unnest(excluded.managed_owners_groups || statement.owners_groups
                                    || coalesce(statement.managed_owners_groups, '{}'))),
           stated_at = greatest(excluded.stated_at, statement.stated_at + interval '1 millisecond')
    returning stated_at as "statedAt"`);
  return (row as { statedAt: Timestamp }).statedAt;
};

/**
 * Stores again a statement whose groups have just been mapped to teams, with a later time. If the scheduled job has deleted
 * it in the meantime, it is over: the job then finds it again, and removes the person from the teams. The statement stays
 * unmapped if `statedAt` is null, because the teams have not changed, or if it is not the time of the statement any more.
 */
export const storeMappedStatement = async (
  database: Database,
  { user, provider, groups, ownersGroups }: StatedGroups,
  statedAt: Timestamp | null,
  now: Date,
): Promise<void> => {
  await database.rows(sql`
    insert into identity_providers.stated_groups as statement
           (user_id, provider, groups, owners_groups, stated_at, ended)
    values (${user}, ${provider}, ${groups}::text[], ${ownersGroups}::text[], ${now}, true)
    on conflict (user_id, provider) do update
       set stated_at = greatest(excluded.stated_at, statement.stated_at + interval '1 millisecond'),
           managed_owners_groups = case when statement.stated_at = ${statedAt}::timestamptz then null
                                        else statement.managed_owners_groups end`);
};

/**
 * Returns a condition on `statement`: it is too old, the person has unlinked the identity, or the provider is not enabled.
 * This process may not know whether the settings of the gateways still describe a provider, so that one counts as enabled.
 */
const isOver = (now: Date): Sql =>
  sql`(statement.stated_at <= ${new Date(now.getTime() - STATEMENT_MS)} or ${HAS_ENDED})`;

const HAS_ENDED = sql`(statement.ended or statement.provider <> ${SETTINGS_PROVIDER_ID} and not exists (
    select 1 from identity_providers provider
     where provider.id = statement.provider and (provider.settings ->> 'enabled')::boolean))`;

/**
 * Whether the provider of `statement` maps groups to teams at present, as far as the database knows. It does not know the
 * settings of gateways.
 */
const MAPS_GROUPS = sql`coalesce((select (settings ->> 'mapsGroups')::boolean from identity_providers stored
                                   where stored.id = statement.provider), statement.provider = ${SETTINGS_PROVIDER_ID})`;

/** A statement of a provider about a person. `isOver`: it does not count any more. */
type StatementRow = MappedGroups & {
  readonly provider: string;
  /** The groups whose owners teams must still match the statement. Null if the teams of the person match it. */
  readonly managedOwnersGroups: readonly string[] | null;
  readonly statedAt: Timestamp;
  readonly isOver: boolean;
  /** Whether the provider maps groups to teams at present, as far as the database knows. */
  readonly mapsGroups: boolean;
};

/** Returns what providers have stated about a person at the last sign-in with each of them. */
export const listStatements = (database: Database, user: string, now: Date): Promise<StatementRow[]> =>
  database.rows<StatementRow>(sql`
    select provider, groups, owners_groups as "ownersGroups", managed_owners_groups as "managedOwnersGroups",
           stated_at as "statedAt", ${isOver(now)} as "isOver", ${MAPS_GROUPS} as "mapsGroups"
      from identity_providers.stated_groups statement where user_id = ${user} order by provider`);

/** Whether `statement` counts for changes of groups by SCIM. The scheduled job ends statements that are too old. */
const COUNTS = sql`(not ${HAS_ENDED} and ${MAPS_GROUPS})`;

/** Returns a condition: a provider has stated that the user is in the group. */
export const isStatedGroup = ({ user, key, ofOwners }: GroupReference): Sql => sql`exists (
  select 1 from identity_providers.stated_groups statement
   where statement.user_id = ${user} and ${COUNTS}
     and ${key} = any (case when ${ofOwners} then statement.owners_groups else statement.groups end))`;

/** Returns the groups that all providers have stated about a person. */
export const listCountedGroups = async (database: Database, user: string): Promise<MappedGroups> => {
  const statements = await database.rows<MappedGroups>(sql`
    select groups, owners_groups as "ownersGroups" from identity_providers.stated_groups statement
     where user_id = ${user} and ${COUNTS}`);
  return {
    groups: statements.flatMap(({ groups }) => groups),
    ownersGroups: statements.flatMap(({ ownersGroups }) => ownersGroups),
  };
};

/**
 * Returns people whose teams may differ from their statements, at most `most`, with ids after `after`: a statement is over,
 * or a sign-in was interrupted before it changed the teams. The teams of suspended people wait for the end of the suspension.
 */
export const listUsersToReconcile = async (
  database: Database,
  now: Date,
  { after, most }: { readonly after: string; readonly most: number },
): Promise<string[]> => {
  const rows = await database.rows<{ user: string }>(sql`
    select distinct user_id as "user" from identity_providers.stated_groups statement
     where (${isOver(now)}
            or statement.managed_owners_groups is not null and ${MAPS_GROUPS}
               and exists (select 1 from users u where u.id = statement.user_id and not u.suspended))
       and user_id > ${after} order by user_id limit ${most}`);
  return rows.map(({ user }) => user);
};

type StatementReference = Pick<StatementRow, 'provider' | 'statedAt'>;

/** Selects a statement, unless the provider has stated new groups since. */
const isSameStatement = (user: string, { provider, statedAt }: StatementReference): Sql =>
  sql`user_id = ${user} and provider = ${provider} and stated_at = ${statedAt}::timestamptz`;

/** Deletes statements about a person, unless the providers have stated new groups since. */
export const deleteStatements = async (
  database: Database,
  user: string,
  statements: readonly StatementReference[],
): Promise<void> => {
  for (const statement of statements)
    await database.rows(sql`
      delete from identity_providers.stated_groups where ${isSameStatement(user, statement)}`);
};

/** Records that the teams of a person match these statements, unless the providers have stated new groups since. */
export const markStatementsMapped = async (
  database: Database,
  user: string,
  statements: readonly StatementReference[],
): Promise<void> => {
  for (const statement of statements)
    await database.rows(sql`
      update identity_providers.stated_groups set managed_owners_groups = null
       where ${isSameStatement(user, statement)}`);
};
