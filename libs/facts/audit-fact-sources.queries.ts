import { notFound, sql, type Sql, type Timestamp } from '#kernel';
import { heldStreams, snapshotOf, type Database, type Held, type Snapshot } from '#event-store';
import { demand, fresh, listOfOrganization, type Actor } from '#access';
import type { Listed, Page } from '#json-api';

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

export const auditFactSourceById = (id: string): Sql =>
  sql`select ${COLUMNS} from audit_fact_sources f where f.id = ${id}`;

/** Where a source would be registered. */
export type PlaceForSource = {
  readonly organization: string;
  readonly version: number;
  /** How many sources the organization has. */
  readonly registered: number;
};

/** Returns the organization if the caller may manage its audit trail. */
export const placeForSource = async (
  database: Database,
  actor: Actor,
  organizationName: string,
): Promise<PlaceForSource> => {
  const row = await database.row<PlaceForSource>(sql`
    select o.id as organization, s.version,
           (select count(*) from audit_fact_sources f where f.organization = o.id) as registered
      from organizations o join event_store.streams s on s.stream = o.id
     where o.name = ${organizationName} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-audit-trail', row);
  return row;
};

type AuditFactSourceForCommand = AuditFactSourceRow & {
  readonly snapshot: Snapshot;
  readonly held: readonly Held[];
};

/** Returns the source if the caller may manage the audit trail of its organization. */
export const auditFactSourceFor = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<AuditFactSourceForCommand> => {
  const row = await database.row<AuditFactSourceForCommand>(sql`
    select ${COLUMNS}, ${snapshotOf('s')} as snapshot, ${heldStreams(sql.raw('array[f.organization]'))} as held
      from audit_fact_sources f join event_store.streams s on s.stream = f.id where f.id = ${id} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'manage-audit-trail', row);
  return row;
};

/** Returns one page and the count of all sources, from one statement. */
export const listAuditFactSources = (
  database: Database,
  actor: Actor,
  organization: string,
  page: Page,
): Promise<Listed<AuditFactSourceRow>> => listOfOrganization(database, actor, { ...LIST, organization }, page);

type OrganizationSource = { readonly organization: string; readonly source: string };

export const sourceKeyOf = ({ organization, source }: OrganizationSource): string => `${organization} ${source}`;

/** Returns which of these sources their organizations have registered, by sourceKeyOf. One statement for a batch. */
export const registeredAmong = async (
  database: Database,
  sources: readonly OrganizationSource[],
): Promise<ReadonlySet<string>> => {
  if (sources.length === 0) return new Set();
  const organizations = [...new Set(sources.map(({ organization }) => organization))];
  const names = [...new Set(sources.map(({ source }) => source))];
  const rows = await database.rows<OrganizationSource>(sql`
    select organization, source from audit_fact_sources
     where organization = any (${organizations}::text[]) and source = any (${names}::text[])`);
  return new Set(rows.map(sourceKeyOf));
};
