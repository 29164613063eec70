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
  listInOrganization,
  loadParentWithCount,
  requireCurrentAccess,
  requirePermittedRow,
  type Actor,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import { buildSnapshotJson, selectStreamVersions, type StreamSnapshot, type StreamVersion } from '#storage/event-store';
import { buildSecretDeletion, selectEncryptedBytes, selectEncryptedSecret } from '#storage/vault';
import type { PolicyAttributes, PolicyEvent } from './policy.js';

export const POLICY_NAMES: UniqueNames = {
  table: 'policies',
  scope: ['organization'],
  constraint: 'policies_organization_name_key',
  noun: 'policies',
};

export const policies: Projection<PolicyEvent | OrganizationDeleted> = {
  name: 'policies',
  version: 1,
  tables: ['policies'],
  on: {
    PolicyCreated: (policy, { stream, organization, time }) => sql`
      insert into policies (id, organization, name, description, query, enforcement_level, created_at)
      values (${stream}, ${organization}, ${policy.name}, ${policy.description}, ${policy.query},
              ${policy.enforcementLevel}, ${time})`,
    PolicyUpdated: (policy, { stream }) => sql`
      update policies set description = ${policy.description}, query = ${policy.query},
                          enforcement_level = ${policy.enforcementLevel}
       where id = ${stream}`,
    PolicyUploaded: ({ sha256, size }, { stream, time }) =>
      sql`update policies set sha256 = ${sha256}, size = ${size}, uploaded_at = ${time} where id = ${stream}`,
    PolicyDeleted: (_, { stream }) => sql`delete from policies where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from policies where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild need not check them again. */
export const policyNames: Projection<Extract<PolicyEvent, { type: 'PolicyCreated' }>> = {
  name: 'policy_names',
  tables: [],
  on: { PolicyCreated: (_, { stream }) => claimNames(POLICY_NAMES, [stream]) },
};

/** Deletes the text from the vault. `tables` is empty, because the vault is not a view. */
export const policyTexts: Projection<Extract<PolicyEvent, { type: 'PolicyDeleted' }>> = {
  name: 'policy_texts',
  tables: [],
  on: { PolicyDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`) },
};

export type RegoPolicyRow = PolicyAttributes & {
  readonly id: string;
  readonly organization: string;
  readonly organizationName: string;
  /** Null before the first upload. */
  readonly uploadedAt: Timestamp | null;
  readonly policySets: readonly string[];
};

const COLUMNS = sql.raw(`
  t.id, t.organization, o.name as "organizationName", t.name, t.description, t.query,
  t.enforcement_level as "enforcementLevel", t.uploaded_at as "uploadedAt",
  array(select m.policy_set from policy_set_members m where m.member = t.id order by 1) as "policySets"`);

const FROM = sql.raw('from policies t join organizations o on o.id = t.organization');

export const selectPolicyById = (id: string): Sql => sql`select ${COLUMNS} ${FROM} where t.id = ${id}`;

type RegoPolicyForCommand = RegoPolicyRow & {
  readonly snapshot: StreamSnapshot;
  /** Version of the organization: after its deletion, no event about its contents may follow. */
  readonly preconditions: readonly StreamVersion[];
  /** Bytes of the texts of all other policies of the organization. */
  readonly otherBytes: number;
  /** The digest of the text; null before the first upload. */
  readonly sha256: string | null;
  /** Whether the vault has a text. */
  readonly hasText: boolean;
};

export const findPolicyForCommand = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<RegoPolicyForCommand> => {
  const row = await database.row<RegoPolicyForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot,
           ${selectStreamVersions(sql.raw('array[t.organization]'))} as preconditions,
           t.sha256, ${selectEncryptedBytes(sql.raw('t.id'))} is not null as "hasText",
           (select coalesce(sum(p.size), 0) from policies p where p.organization = t.organization and p.id <> t.id) as "otherBytes"
      ${FROM} join event_store.streams s on s.stream = t.id where t.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-policies', row);
};

export const findPolicy = async (database: Database, actor: Actor, id: string): Promise<RegoPolicyRow> => {
  const row = await database.row<RegoPolicyRow>(sql`${selectPolicyById(id)} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-policies', row);
};

type PolicyTextRow = { readonly id: string; readonly organization: string; readonly encryptedText: string | null };

/** Returns the encrypted text; null before the first upload. */
export const findPolicyText = async (database: Database, actor: Actor, id: string): Promise<PolicyTextRow> => {
  const row = await database.row<PolicyTextRow>(sql`
    select t.id, t.organization, ${selectEncryptedSecret(sql.raw('t.id'))} as "encryptedText"
      from policies t where t.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'read-policies', row);
};

/** Returns the organization, and how many policies it has. */
export const loadOrganizationForPolicy = (database: Database, actor: Actor, name: string) =>
  loadParentWithCount(
    database,
    actor,
    'manage-policies',
    name,
    sql.raw('select count(*) from policies t where t.organization = o.id'),
  );

/** Returns the condition that the organization has this number of policies or more. */
export const hasPolicies = (organization: string, most: number): Sql =>
  sql`(select count(*) >= ${most} from policies where organization = ${organization})`;

/** Returns the condition that the texts of the other policies of the organization have more bytes. */
export const hasPolicyBytes = (organization: string, except: string, most: number): Sql =>
  sql`(select coalesce(sum(size), 0) > ${most} from policies where organization = ${organization} and id <> ${except})`;

/** Returns the condition that the text of the policy has this digest. */
export const hasPolicyDigest = (id: string, sha256: string): Sql =>
  sql`exists (select 1 from policies where id = ${id} and sha256 = ${sha256})`;

/** Returns one page of the policies of an organization and the count of all, from one statement. */
export const listPolicies = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<RegoPolicyRow>> =>
  listInOrganization(
    database,
    actor,
    {
      organization,
      permission: 'read-policies',
      columns: COLUMNS,
      from: FROM,
      where: sql.raw('t.organization = owner.id'),
      order: sql.raw('name, id'),
    },
    page,
  );
