import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectStreamVersions, buildSnapshotJson, type StreamVersion, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  hasOrganizationName,
  requirePermission,
  requireCurrentAccess,
  listInOrganization,
  type Actor,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';

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

/** The organization in which a source is registered. */
type OrganizationForNewSource = {
  readonly organization: string;
  readonly version: number;
  readonly registered: number;
};

/** Returns the organization. Throws a refusal if the caller cannot manage its audit trail. */
export const loadOrganizationForNewSource = async (
  database: Database,
  actor: Actor,
  organizationName: string,
): Promise<OrganizationForNewSource> => {
  const row = await database.row<OrganizationForNewSource>(sql`
    select o.id as organization, s.version,
           (select count(*) from audit_fact_sources f where f.organization = o.id) as registered
      from organizations o join event_store.streams s on s.stream = o.id
     where ${hasOrganizationName('o', organizationName)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  requirePermission(actor, 'manage-audit-trail', row);
  return row;
};

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
  if (!row) throw notFound();
  requirePermission(actor, 'manage-audit-trail', row);
  return row;
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
