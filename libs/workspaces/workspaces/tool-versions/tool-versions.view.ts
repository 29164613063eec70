import { sql, type Projection, type Sql, type Timestamp } from '#platform/kernel';
import { requireCurrentAccess, requireSiteAdmin, type Actor } from '#api/access';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import type { CurrentRuns } from '../ports/current-runs.port.js';
import {
  NO_USES,
  TOOL_VERSION_STREAMS,
  type ToolProgram,
  type ToolVersionEvent,
  type ToolVersionSettings,
  type ToolVersionUses,
} from './tool-version.js';

const TABLES = {
  terraform: sql.raw('tool_versions'),
  opa: sql.raw('opa_versions'),
} satisfies Readonly<Record<ToolProgram, Sql>>;

const buildStatements = (table: Sql) => ({
  add: ({ id, version, settings }: SiteRelease, { time }: { readonly time: Timestamp }) => sql`
    insert into ${table} (id, version, settings, created_at) values (${id}, ${version}, ${sql.json(settings)}, ${time})`,
  change: ({ id, version, settings }: SiteRelease) => sql`
    insert into ${table} (id, version, settings) values (${id}, ${version}, ${sql.json(settings)})
    on conflict (id) do update set version = excluded.version, settings = excluded.settings`,
  remove: ({ id }: { readonly id: string }) => sql`delete from ${table} where id = ${id}`,
});

const ofTerraform = buildStatements(TABLES.terraform);
const ofOpa = buildStatements(TABLES.opa);

export const siteToolVersions: Projection<ToolVersionEvent> = {
  name: 'tool_versions',
  version: 1,
  tables: ['tool_versions'],
  on: {
    ToolVersionAdded: ofTerraform.add,
    ToolVersionChanged: ofTerraform.change,
    ToolVersionDeleted: ofTerraform.remove,
    OpaVersionAdded: null,
    OpaVersionChanged: null,
    OpaVersionDeleted: null,
  },
};

export const siteOpaVersions: Projection<ToolVersionEvent> = {
  name: 'opa_versions',
  version: 1,
  tables: ['opa_versions'],
  on: {
    OpaVersionAdded: ofOpa.add,
    OpaVersionChanged: ofOpa.change,
    OpaVersionDeleted: ofOpa.remove,
    ToolVersionAdded: null,
    ToolVersionChanged: null,
    ToolVersionDeleted: null,
  },
};

/** A release that an administrator of the site has added or changed. */
export type SiteRelease = {
  readonly id: string;
  readonly version: string;
  readonly settings: ToolVersionSettings;
};

const selectSiteReleases = (program: ToolProgram): Sql =>
  sql`(select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'version', t.version, 'settings', t.settings)), '[]')
         from ${TABLES[program]} t)`;

/** The releases of the site as a column of a statement, for `ToolReleases.with`. */
export const SELECT_SITE_RELEASES = selectSiteReleases('terraform');

/** The releases of OPA of the site as a column of a statement, for `findOpaRelease`. */
export const SELECT_SITE_OPA_RELEASES = selectSiteReleases('opa');

/** The settings that administrators of the site have stored for a version, as a column of a statement; null if there are none. */
export const selectToolVersion = (version: Sql): Sql =>
  sql`(select t.settings from tool_versions t where t.version = ${version} order by t.id limit 1)`;

type SiteReleaseRow = SiteRelease & {
  /** Null for a release that the server lists. */
  readonly createdAt: Timestamp | null;
};

/** The releases of the site, and the number of workspaces by the version that they name. */
export type SiteReleases = {
  readonly releases: readonly SiteReleaseRow[];
  readonly uses: Readonly<Record<string, number>>;
};

/** The number of workspaces by the version that they name, as a column of a statement. Nothing names a version of OPA. */
const SELECT_USES = {
  terraform: sql.raw(
    `(select coalesce(jsonb_object_agg(counted.version, counted.workspaces), '{}')
        from (select w.settings ->> 'terraformVersion' as version, count(*) as workspaces from workspaces w
               where w.settings ->> 'terraformVersion' is not null group by 1) counted)`,
  ),
  opa: sql.raw(`'{}'::jsonb`),
} satisfies Readonly<Record<ToolProgram, Sql>>;

/**
 * Returns the releases of the site for its administrators. Constraints are counted apart from the versions that they resolve to,
 * because they mean another release after each addition to the list.
 */
export const loadSiteReleases = async (
  database: Database,
  program: ToolProgram,
  actor: Actor,
): Promise<SiteReleases> => {
  await requireSiteAdmin(database, actor);
  type Row = { readonly uses: SiteReleases['uses'] } & {
    readonly [K in keyof SiteReleaseRow]: SiteReleaseRow[K] | null;
  };
  const rows = await database.slowRows<Row>(
    actor,
    sql`select used.uses, t.id, t.version, t.settings, t.created_at as "createdAt"
          from (select ${SELECT_USES[program]} as uses) used
          left join ${TABLES[program]} t on true where ${requireCurrentAccess(actor)}`,
  );
  const releases = rows.flatMap(({ id, version, settings, createdAt }) =>
    id !== null && version !== null && settings !== null ? [{ id, version, settings, createdAt }] : [],
  );
  return { releases, uses: rows[0]?.uses ?? {} };
};

/** Returns the numbers of workspaces that name exactly this version, and of runs with it that have not ended. */
export const countUses = async (database: Database, runs: CurrentRuns, version: string): Promise<ToolVersionUses> => {
  const row = await database.row<ToolVersionUses>(
    sql`select (select count(*) from workspaces w where w.settings ->> 'terraformVersion' = ${version}) as workspaces,
               ${runs.countUnfinished(version)} as runs`,
  );
  return row ?? NO_USES;
};

type ToolVersionsForCommand = {
  readonly siteReleases: readonly SiteRelease[];
  readonly snapshot: StreamSnapshot | null;
};

/** Returns the stream of the releases for a command. Throws the refusal of the permission table. */
export const loadToolVersionsForCommand = async (
  database: Database,
  program: ToolProgram,
  actor: Actor,
): Promise<ToolVersionsForCommand & { readonly id: string; readonly organization: null }> => {
  await requireSiteAdmin(database, actor);
  const id = TOOL_VERSION_STREAMS[program];
  const row = await database.row<ToolVersionsForCommand>(sql`
    select ${selectSiteReleases(program)} as "siteReleases", case when s.stream is not null then ${buildSnapshotJson('s')} end as snapshot
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join event_store.streams s on s.stream = ${id}`);
  return { siteReleases: [], snapshot: null, ...row, id, organization: null };
};
