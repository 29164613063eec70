import {
  claimNames,
  sql,
  type OrganizationDeleted,
  type Projection,
  type Sql,
  type Timestamp,
  type UniqueNames,
} from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  hasOrganizationName,
  listInOrganization,
  requireCurrentAccess,
  requirePermittedRow,
  type Actor,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import {
  buildSnapshotJson,
  raiseConflictWhen,
  selectStreamVersions,
  type StreamSnapshot,
  type StreamVersion,
} from '#storage/event-store';
import { SELECT_SITE_OPA_RELEASES, type SiteRelease } from '#workspaces/workspaces';
import { belongsToWorkspace } from './enforced-policies.queries.js';
import type { PolicyEvent } from './policy.js';
import {
  POLICY_SET_RELATIONS,
  type PolicySetEvent,
  type PolicySetMembers,
  type PolicySetSettings,
} from './policy-set.js';

export const POLICY_SET_NAMES: UniqueNames = {
  table: 'policy_sets',
  scope: ['organization'],
  constraint: 'policy_sets_organization_name_key',
  noun: 'policy sets',
};

const TABLES = ['policy_sets', 'policy_set_members'] as const;

const listMembers = (members: PolicySetMembers) =>
  POLICY_SET_RELATIONS.flatMap((relation) => members[relation].map((member) => ({ relation, member })));

const insertMembers = (set: string, organization: string | null, members: PolicySetMembers): Sql => sql`
  insert into policy_set_members (policy_set, organization, relation, member)
  select ${set}, ${organization}, one ->> 'relation', one ->> 'member'
    from jsonb_array_elements(${sql.json(listMembers(members))}::jsonb) one`;

const deleteMembers = (set: string, members: PolicySetMembers): Sql => sql`
  delete from policy_set_members m using jsonb_array_elements(${sql.json(listMembers(members))}::jsonb) one
   where m.policy_set = ${set} and m.relation = one ->> 'relation' and m.member = one ->> 'member'`;

export const policySets: Projection<PolicySetEvent | PolicyEvent | OrganizationDeleted> = {
  name: 'policy_sets',
  version: 1,
  tables: TABLES,
  on: {
    PolicySetCreated: ({ members, ...set }, { stream, organization, time }) => [
      sql`
      insert into policy_sets (id, organization, name, description, global, overridable, tool_version, created_at, updated_at)
      values (${stream}, ${organization}, ${set.name}, ${set.description}, ${set.global}, ${set.overridable},
              ${set.toolVersion}, ${time}, ${time})`,
      insertMembers(stream, organization, members),
    ],
    PolicySetUpdated: (set, { stream, time }) => sql`
      update policy_sets
         set name = ${set.name}, description = ${set.description}, global = ${set.global},
             overridable = ${set.overridable}, tool_version = ${set.toolVersion}, updated_at = ${time}
       where id = ${stream}`,
    PolicySetMembersChanged: ({ added, removed }, { stream, organization, time }) => [
      deleteMembers(stream, removed),
      insertMembers(stream, organization, added),
      sql`update policy_sets set updated_at = ${time} where id = ${stream}`,
    ],
    PolicySetDeleted: (_, { stream }) => [
      sql`delete from policy_set_members where policy_set = ${stream}`,
      sql`delete from policy_sets where id = ${stream}`,
    ],
    PolicyCreated: null,
    PolicyUpdated: null,
    PolicyUploaded: null,
    PolicyDeleted: (_, { stream }) => sql`delete from policy_set_members where member = ${stream}`,
    OrganizationDeleted: (_, { stream }) =>
      TABLES.map((table) => sql`delete from ${sql.raw(table)} where organization = ${stream}`),
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild need not check them again. */
export const policySetNames: Projection<Extract<PolicySetEvent, { type: 'PolicySetCreated' | 'PolicySetUpdated' }>> = {
  name: 'policy_set_names',
  tables: [],
  on: {
    PolicySetCreated: (_, { stream }) => claimNames(POLICY_SET_NAMES, [stream]),
    PolicySetUpdated: (_, { stream }) => claimNames(POLICY_SET_NAMES, [stream]),
  },
};

export type PolicySetRow = PolicySetSettings & {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Members that exist. */
  readonly members: PolicySetMembers;
};

const MEMBER_TABLES = {
  policies: 'policies',
  workspaces: 'workspaces',
  projects: 'projects',
  'workspace-exclusions': 'workspaces',
  'project-exclusions': 'projects',
} as const;

const MEMBERS = sql.raw(
  `jsonb_build_object(${POLICY_SET_RELATIONS.map(
    (relation) => `'${relation}', array(
      select x.id from policy_set_members m join ${MEMBER_TABLES[relation]} x on x.id = m.member
       where m.policy_set = t.id and m.relation = '${relation}' order by x.name, x.id)`,
  ).join(', ')})`,
);

const COLUMNS = sql`
  t.id, t.organization, o.name as "organizationName", t.name, t.description, t.global, t.overridable,
  t.tool_version as "toolVersion", t.created_at as "createdAt", t.updated_at as "updatedAt", ${MEMBERS} as members`;

const FROM = sql.raw('from policy_sets t join organizations o on o.id = t.organization');

export const selectPolicySetById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where t.id = ${id}`;

/** What a command needs to know of the members in its request. */
type CheckedMembers = {
  readonly siteOpaReleases: readonly SiteRelease[];
  /** The versions of OPA that other policy sets of the organization name. */
  readonly otherVersions: readonly string[];
  /** Those of the requested ids that exist in the organization. */
  readonly existingMembers: PolicySetMembers;
};

const selectKnown = (organization: Sql, members: Partial<PolicySetMembers>): Sql =>
  sql`jsonb_build_object(${sql.join(
    POLICY_SET_RELATIONS.map(
      (relation) => sql`${relation}::text, array(
      select x.id from ${sql.raw(MEMBER_TABLES[relation])} x
       where x.organization = ${organization} and x.id = any (${members[relation] ?? []}::text[]))`,
    ),
    ', ',
  )})`;

const selectOtherVersions = (organization: Sql, except: Sql): Sql => sql`
  array(select distinct s.tool_version from policy_sets s
         where s.organization = ${organization} and s.tool_version is not null and s.id is distinct from ${except} order by 1)`;

type ParentOfPolicySet = CheckedMembers & {
  readonly organization: string;
  readonly preconditions: readonly StreamVersion[];
  /** Numbers of policy sets, and of policies in them, of the organization. */
  readonly existing: number;
  readonly existingPolicies: number;
};

const countPolicies = (organization: Sql): Sql =>
  sql`(select count(*) from policy_set_members m join policies p on p.id = m.member
        where m.organization = ${organization} and m.relation = 'policies')`;

/** Returns the organization of a new policy set. */
export const loadOrganizationForPolicySet = async (
  database: Database,
  actor: Actor,
  name: string,
  members: PolicySetMembers,
): Promise<ParentOfPolicySet> => {
  const row = await database.row<ParentOfPolicySet>(sql`
    select o.id as organization, ${selectStreamVersions(sql.raw('array[o.id]'))} as preconditions,
           (select count(*) from policy_sets t where t.organization = o.id) as existing,
           ${countPolicies(sql.raw('o.id'))} as "existingPolicies", ${selectKnown(sql.raw('o.id'), members)} as "existingMembers",
           ${SELECT_SITE_OPA_RELEASES} as "siteOpaReleases",
           ${selectOtherVersions(sql.raw('o.id'), sql.raw('null'))} as "otherVersions"
      from organizations o where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-policies', row);
};

type PolicySetForCommand = PolicySetRow &
  CheckedMembers & {
    readonly snapshot: StreamSnapshot;
    readonly preconditions: readonly StreamVersion[];
    readonly existingPolicies: number;
  };

export const findPolicySetForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
  members: Partial<PolicySetMembers>,
): Promise<PolicySetForCommand> => {
  const row = await database.row<PolicySetForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot,
           ${selectStreamVersions(sql.raw('array[t.organization]'))} as preconditions,
           ${countPolicies(sql.raw('t.organization'))} as "existingPolicies",
           ${selectKnown(sql.raw('t.organization'), members)} as "existingMembers",
           ${SELECT_SITE_OPA_RELEASES} as "siteOpaReleases",
           ${selectOtherVersions(sql.raw('t.organization'), sql.raw('t.id'))} as "otherVersions"
      ${FROM} join event_store.streams s on s.stream = t.id where t.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-policies', row);
};

export const findPolicySet = async (database: Database, actor: Actor, id: string): Promise<PolicySetRow> => {
  const row = await database.row<PolicySetRow>(sql`${selectPolicySetById(id)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-policies', row);
};

type PolicySetLimits = { readonly sets: number; readonly policies: number; readonly versions: number };

/** Returns a statement that makes the append conflict if the organization has more than the limits after it. */
export const raiseAbovePolicySetLimits = (organization: string, most: PolicySetLimits): Sql =>
  raiseConflictWhen(sql`(
    (select count(*) from policy_sets where organization = ${organization}) > ${most.sets}
    or (select count(distinct tool_version) from policy_sets where organization = ${organization}) > ${most.versions}
    or ${countPolicies(sql`${organization}`)} > ${most.policies})`);

type PolicySetList = {
  readonly organization: string;
  /** The id of a workspace: only the sets that belong to it. */
  readonly workspace: string | undefined;
};

/** Returns one page of the policy sets of an organization and the count of all, from one statement. */
export const listPolicySets = (
  database: Database,
  actor: Actor,
  { organization, workspace }: PolicySetList,
  page: PageRequest,
): Promise<ListPage<PolicySetRow>> =>
  listInOrganization(
    database,
    actor,
    {
      organization,
      permission: 'read-policies',
      columns: COLUMNS,
      from: FROM,
      where: sql`t.organization = owner.id ${workspace === undefined ? sql`` : sql`and ${belongsToWorkspace(workspace)}`}`,
      order: sql.raw('name, id'),
    },
    page,
  );
