import { sql, type Projection, type OrganizationDeleted, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import {
  listInOrganization,
  loadParentWithCount,
  requireCurrentAccess,
  requirePermittedRow,
  type Actor,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import type { AuditFactSourceEvent } from './audit-fact-source.js';

export const auditFactSources: Projection<AuditFactSourceEvent | OrganizationDeleted> = {
  name: 'audit_fact_sources',
  version: 1,
  tables: ['audit_fact_sources'],
  on: {
    AuditFactSourceRegistered: ({ source, description }, { stream, organization, time }) => sql`
      insert into audit_fact_sources (id, organization, source, description, created_at)
      values (${stream}, ${organization}, ${source}, ${description}, ${time})`,
    AuditFactSourceRemoved: (_, { stream }) => sql`delete from audit_fact_sources where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from audit_fact_sources where organization = ${stream}`,
  },
};

export type AuditFactSourceRow = {
  readonly id: string;
  readonly organization: string;
  readonly source: string;
  readonly description: string;
  readonly createdAt: Timestamp;
};

const COLUMNS = sql.raw('f.id, f.organization, f.source, f.description, f.created_at as "createdAt"');

const LIST = {
  permission: 'manage-audit-trail',
  columns: COLUMNS,
  from: sql.raw('from audit_fact_sources f'),
  where: sql.raw('f.organization = owner.id'),
  order: sql.raw('source'),
} as const;

export const selectAuditFactSourceById = (id: string): Sql =>
  sql`select ${COLUMNS} from audit_fact_sources f where f.id = ${id}`;

/** Returns the organization and the number of its sources. Throws if the caller cannot manage its audit trail. */
export const loadOrganizationForNewSource = (database: Database, actor: Actor, name: string) =>
  loadParentWithCount(
    database,
    actor,
    'manage-audit-trail',
    name,
    sql.raw('select count(*) from audit_fact_sources f where f.organization = o.id'),
  );

type AuditFactSourceForCommand = AuditFactSourceRow & {
  readonly snapshot: StreamSnapshot;
  readonly preconditions: readonly StreamVersion[];
};

/** Returns the source. Throws a refusal if the caller cannot manage the audit trail of its organization. */
export const findAuditFactSource = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<AuditFactSourceForCommand> => {
  const row = await database.row<AuditFactSourceForCommand>(sql`
    select ${COLUMNS}, ${buildSnapshotJson('s')} as snapshot, ${selectStreamVersions(sql.raw('array[f.organization]'))} as preconditions
      from audit_fact_sources f join event_store.streams s on s.stream = f.id where f.id = ${id} and ${requireCurrentAccess(actor)}`);
  return requirePermittedRow(actor, 'manage-audit-trail', row);
};

export const listAuditFactSources = (
  database: Database,
  actor: Actor,
  organization: string,
  page: PageRequest,
): Promise<ListPage<AuditFactSourceRow>> => listInOrganization(database, actor, { ...LIST, organization }, page);

type OrganizationSource = { readonly organization: string; readonly source: string };

export const toSourceKey = ({ organization, source }: OrganizationSource): string => `${organization} ${source}`;

/** Returns the keys (`toSourceKey`) of those sources that their organizations have registered, in one statement. */
export const findRegisteredSources = async (
  database: Database,
  sources: readonly OrganizationSource[],
): Promise<ReadonlySet<string>> => {
  if (sources.length === 0) return new Set();
  const organizations = [...new Set(sources.map(({ organization }) => organization))];
  const names = [...new Set(sources.map(({ source }) => source))];
  const rows = await database.rows<OrganizationSource>(sql`
    select organization, source from audit_fact_sources
     where organization = any (${organizations}::text[]) and source = any (${names}::text[])`);
  return new Set(rows.map(toSourceKey));
};
