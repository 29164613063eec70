import {
  restoreRows,
  claimNames,
  foldInSql,
  moveToDeleted,
  sql,
  type Projection,
  type RecoverableRows,
  type Sql,
  type Timestamp,
  type OrganizationDeleted,
  getOriginalTime,
} from '#platform/kernel';
import { PROJECT_NAMES, selectMembersSubject, raiseEpoch } from '#api/access';
import { ORGANIZATION_SETTINGS } from './organizations/organization-settings.js';
import type { OrganizationEvent } from './organizations/organization.js';
import type { TokenTtlPoliciesByType } from './organizations/organizations.queries.js';
import { PROJECT_SETTINGS } from './projects/project-settings.js';
import type { ProjectEvent } from './projects/project.js';
import { DEFAULT_MAX_TTLS, type MaxTokenTtls } from './organizations/token-ttl-policy.js';

const buildPolicies = (maxTtls: Partial<MaxTokenTtls>, updatedAt: Timestamp | null): Partial<TokenTtlPoliciesByType> =>
  Object.fromEntries(Object.entries(maxTtls).map(([type, maxTtlMs]) => [type, { maxTtlMs, updatedAt }]));

/** Name and email have their own columns. Changed settings are merged. */
export const organizations: Projection<OrganizationEvent> = {
  name: 'organizations',
  // The rows contain all settings. Migrations added those of the versions 2 and 3.
  version: ORGANIZATION_SETTINGS.version - 2,
  tables: ['organizations'],
  on: {
    OrganizationCreated: (organization, { stream, time }) => sql`
      insert into organizations (id, name, email, feature_set, default_project, owners_team, settings,
                                 token_ttl_policies, created_at)
      values (${stream}, ${organization.name}, ${organization.email}, ${organization.featureSet}, ${organization.defaultProject}, ${organization.ownersTeam},
              ${sql.json(organization.settings)}, ${sql.json(buildPolicies(DEFAULT_MAX_TTLS, null))}, ${time})`,
    OrganizationUpdated: ({ changes: { name, email, ...settings } }, { stream }) => sql`
      update organizations
         set name = coalesce(${name ?? null}, name), email = coalesce(${email ?? null}, email),
             settings = settings || ${sql.json(settings)}::jsonb
       where id = ${stream}`,
    OrganizationFeatureSetChanged: ({ featureSet }, { stream }) =>
      sql`update organizations set feature_set = ${featureSet} where id = ${stream}`,
    OrganizationTokenTtlPoliciesChanged: ({ maxTtls }, { stream, time }) => sql`
      update organizations set token_ttl_policies = token_ttl_policies || ${sql.json(buildPolicies(maxTtls, time))}::jsonb
       where id = ${stream}`,
    OrganizationImported: null,
    OrganizationDeleted: (_, { stream }) => sql`delete from organizations where id = ${stream}`,
  },
};

/**
 * Gives the reserved name to the oldest other organization whose name differs only in case. Without one, frees the
 * name.
 */
const releaseName = (organization: string): readonly Sql[] => [
  sql`
    update organizations.reserved_names reserved set organization = other.id
      from organizations other
     where reserved.organization = ${organization}
       and other.id = (select o.id from organizations o
                        where ${foldInSql(sql.raw('o.name'))} = reserved.folded and o.id <> ${organization}
                        order by o.created_at, o.id limit 1)`,
  sql`delete from organizations.reserved_names where organization = ${organization}`,
];

const reserveName = (organization: string, name: string): Sql => sql`
  insert into organizations.reserved_names (folded, organization) values (lower(${name}), ${organization})`;

/** Fills the empty table after a restore. As in sql/003_reserved_names.sql, the oldest organization gets the name. */
export const refillReservedNames = (): Sql => sql`
  insert into organizations.reserved_names (folded, organization)
  select distinct on (lower(name)) lower(name), id from organizations order by lower(name), created_at, id`;

/**
 * Keeps names unique regardless of case. `tables` is empty (sql/003_reserved_names.sql), because a rebuild must accept
 * names that are older than this rule.
 */
export const reservedNames: Projection<
  Extract<OrganizationEvent, { type: 'OrganizationCreated' | 'OrganizationUpdated' | 'OrganizationDeleted' }>
> = {
  name: 'reserved_organization_names',
  tables: [],
  on: {
    OrganizationCreated: ({ name }, { stream }) => reserveName(stream, name),
    OrganizationUpdated: ({ changes: { name } }, { stream }) =>
      name === undefined ? [] : [...releaseName(stream), reserveName(stream, name)],
    OrganizationDeleted: (_, { stream }) => releaseName(stream),
  },
};

const PROJECT_ROWS: RecoverableRows = { table: 'projects', deletedTable: 'deleted_projects' };

export const projects: Projection<ProjectEvent | OrganizationDeleted> = {
  name: 'projects',
  // The rows contain all settings. Earlier versions do not write the second table.
  version: PROJECT_SETTINGS.version + 1,
  tables: ['projects', 'deleted_projects'],
  names: [{ table: 'deleted_projects', column: 'deleted_by' }],
  on: {
    ProjectCreated: ({ name, description, settings }, event) => sql`
      insert into projects (id, organization, name, description, settings, created_at)
      values (${event.stream}, ${event.organization}, ${name}, ${description}, ${sql.json(settings)}, ${getOriginalTime(event)})`,
    ProjectUpdated: ({ changes: { name, description, ...settings } }, { stream }) => sql`
      update projects
         set name = coalesce(${name ?? null}, name),
             description = case when ${description !== undefined} then ${description ?? null} else description end,
             settings = settings || ${sql.json(settings)}::jsonb
       where id = ${stream}`,
    // Tags that workspaces inherit have a table of their own (libs/workspaces/tags).
    ProjectTagBound: null,
    ProjectTagUnbound: null,
    ProjectDeleted: ({ recoverableUntil }, event) =>
      recoverableUntil === null
        ? sql`delete from projects where id = ${event.stream}`
        : moveToDeleted(PROJECT_ROWS, { where: sql`id = ${event.stream}` }, recoverableUntil, event),
    ProjectRecovered: ({ name }, { stream }) => restoreRows(PROJECT_ROWS, sql`id = ${stream}`, { name }),
    ProjectPurged: (_, { stream }) => sql`delete from deleted_projects where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => [
      sql`delete from projects where organization = ${stream}`,
      sql`delete from deleted_projects where organization = ${stream}`,
    ],
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const projectNames: Projection<
  Extract<ProjectEvent, { type: 'ProjectCreated' | 'ProjectUpdated' | 'ProjectRecovered' }>
> = {
  name: 'project_names',
  tables: [],
  on: {
    ProjectCreated: (_, { stream }) => claimNames(PROJECT_NAMES, [stream]),
    ProjectUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(PROJECT_NAMES, [stream]),
    ProjectRecovered: (_, { stream }) => claimNames(PROJECT_NAMES, [stream]),
  },
};

/** Settings that decide which tokens and sessions of its members an organization accepts. */
const ACCESS_SETTINGS = ['userTokensEnabled', 'maxTtlEnabled', 'collaboratorAuthPolicy', 'sessionRemember'] as const;

/** Raises access epochs (ADR 32). `tables` is empty, because epochs only grow and are not derived from the log. */
export const organizationEpochs: Projection<
  Extract<OrganizationEvent, { type: 'OrganizationUpdated' | 'OrganizationTokenTtlPoliciesChanged' }>
> = {
  name: 'organization_epochs',
  tables: [],
  on: {
    // Callers with a token of the organization have its name. The other settings concern the tokens of all members.
    OrganizationUpdated: ({ changes }, { organization }) => [
      ...(changes.name === undefined ? [] : [raiseEpoch(sql`${organization}`)]),
      ...(ACCESS_SETTINGS.every((setting) => changes[setting] === undefined)
        ? []
        : [raiseEpoch(selectMembersSubject(sql`${organization}::text`))]),
    ],
    OrganizationTokenTtlPoliciesChanged: ({ maxTtls: { user } }, { organization }) =>
      user === undefined ? null : raiseEpoch(selectMembersSubject(sql`${organization}::text`)),
  },
};
