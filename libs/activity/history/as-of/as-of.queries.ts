import { foldInSql, foldName, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { PastSubject } from '#api/json-api';
import { changedAny, HAS_CHANGED_NAME, IS_CREATION, selectCompleteData } from '../writing/versions.queries.js';
import { RUN_MEASURE_COLUMNS, WORKSPACE_METRIC_COLUMNS, RUN_STATUSES, METRICS_WINDOW_RUNS } from '#runs/runs';

const FOLDED_NAME = foldInSql(sql.raw(`(data ->> 'name')`));

/** Selects the subjects that ever had this name, in any case. The statement then picks one by its name at the time. */
const selectSubjectsEverNamed = (name: string): Sql =>
  sql`select subject from history_versions where ${FOLDED_NAME} = ${foldName(name)} and ${HAS_CHANGED_NAME}
       union all
      select subject from history_versions where ${FOLDED_NAME} = ${foldName(name)} and 'name' = any (changed)`;

/** Selects the organizations that can contain the subject, so that the query reads only their history. */
const selectOrganizations = (about: PastSubject): Sql => {
  if ('organizationId' in about) return sql`select ${about.organizationId}::text`;
  return 'id' in about
    ? sql`select organization from history_versions h where subject = ${about.id} and ${IS_CREATION}`
    : selectSubjectsEverNamed(about.organization);
};

const hadName = (about: PastSubject): Sql =>
  !('organization' in about) || about.name === undefined
    ? sql`true`
    : sql`subject in (${selectSubjectsEverNamed(about.name)})`;

type TagVersionScope = 'key' | 'value';

/**
 * Looks up the version that gave the subject the key, or the value, of the tag `t` that it had at the time: the first
 * one after the last version without it. The search goes back in time from there.
 */
const tagVersion = (at: Timestamp, subject: string, sameAs: TagVersionScope): Sql => {
  const id = sql.raw(subject);
  const isSame = sql.raw(
    sameAs === 'key' ? 'own.key = t.key' : `own.key = t.key and coalesce(own.value, '') = coalesce(t.value, '')`,
  );
  const changesTags = (h: string): Sql =>
    sql`${sql.raw(h)}.subject = ${id} and ${sql.raw(h)}.since <= ${at} and ${changedAny(h, ['tag-bindings'])}`;
  return sql`
    history_versions tagged
     where ${changesTags('tagged')} and tagged.ordinal > coalesce((
       select h.ordinal from history_versions h
        where ${changesTags('h')}
          and not exists (select 1 from jsonb_to_recordset(coalesce(${selectCompleteData('h')} -> 'tags', '[]'))
                                          as own (key text, value text) where ${isSame})
        order by h.since desc, h.ordinal desc limit 1), 0)
     order by tagged.since, tagged.ordinal limit 1`;
};

/**
 * Returns the time when the tag `t` was added, and the time and actor of its last change. Postgres evaluates these
 * columns only if a statement reads them.
 */
const tagColumns = (at: Timestamp, subject: string): Sql => sql`
  (select tagged.since from ${tagVersion(at, subject, 'key')}) as created_at,
  (select tagged.since from ${tagVersion(at, subject, 'value')}) as set_at,
  (select jsonb_build_object('type', tagged.actor_type, 'id', tagged.actor_id, 'name', tagged.actor_name)
     from ${tagVersion(at, subject, 'value')}) as set_by`;

/**
 * Returns the expression `past`: each subject with its last version before that time. The limit of the subquery shows
 * the planner that there is only one. A list reads every workspace that the organization had, whatever it returns of
 * them.
 */
const buildPast = (at: Timestamp, subject: PastSubject): Sql => sql`
  past as not materialized (
    select creation.subject, creation.type as created_by_event, creation.organization, creation.since as created_at,
           then_data.since, then_data.data
      from history_versions creation
      cross join lateral (
        select h.since, ${selectCompleteData('h')} as data
          from ((select subject, since, ordinal, fields, data from history_versions
                  where subject = creation.subject and since <= ${at} order by since desc, ordinal desc limit 1)
                 union all
                 -- Imported workspaces can be older than the organization and its first project.
                 (select subject, since, ordinal, fields, data from history_versions
                   where subject = creation.subject and ordinal = 1
                     and (creation.type = 'OrganizationCreated' or creation.subject =
                          (select present.default_project from views.organizations present
                            where present.id = creation.organization))
                     and exists (select from history_versions imported
                                  where imported.organization = creation.organization and imported.ordinal = 1
                                    and imported.type = 'WorkspaceCreated' and imported.since <= ${at}))
                 limit 1) h
         where h.data is not null limit 1) then_data
     where creation.ordinal = 1 and creation.organization = any (array(${selectOrganizations(subject)})))`;

const ORGANIZATIONS_AND_PROJECTS = sql`
  organizations as not materialized (
    select subject as id, data ->> 'name' as name, data ->> 'email' as email, data ->> 'featureSet' as feature_set,
           data - '{name,email,featureSet,dataRetentionPolicy}'::text[] as settings, created_at,
           -- These columns never change, and the organization exists as long as its history.
           (select present.default_project from views.organizations present where present.id = subject) as default_project,
           (select present.owners_team from views.organizations present where present.id = subject) as owners_team
      from past where created_by_event = 'OrganizationCreated'),
  projects as not materialized (
    select subject as id, organization, data ->> 'name' as name, data ->> 'description' as description, created_at,
           data as settings
      from past where created_by_event = 'ProjectCreated')`;

const buildWorkspaces = (subject: PastSubject): Sql => sql`
  workspaces as not materialized (
    select subject as id, organization, data ->> 'project' as project, (data ->> 'name') collate "C" as name,
           data as settings, nullif(data -> 'lock', 'null') as lock, data ->> 'sshKey' as ssh_key,
           data ->> 'currentStateVersion' as current_state_version, (data ->> 'resourceCount')::integer as resource_count,
           (data ->> 'stateChangedAt')::timestamptz as state_changed_at,
           (data ->> 'createdAt')::timestamptz as created_at, coalesce((data ->> 'updatedAt')::timestamptz, since) as updated_at,
           (data ->> 'latestChangeAt')::timestamptz as latest_change_at
      from past where created_by_event = 'WorkspaceCreated' and ${hadName(subject)}),
  workspace_counts as not materialized (
    select organization, project, count(*) as workspaces from workspaces group by organization, project),
  workspace_locks as not materialized (
    select organization, id as workspace from workspaces where lock is not null)`;

const buildTags = (at: Timestamp): Sql => sql`
  workspace_tags as not materialized (
    select w.id as workspace, w.organization, t.key, t.value, 1 as added_in, t.ordinal,
           ${tagColumns(at, 'w.id')}
      from workspaces w
      cross join lateral rows from (jsonb_to_recordset(w.settings -> 'tags') as (key text, value text))
                              with ordinality as t (key, value, ordinal)),
  project_tags as not materialized (
    select p.id as project, p.organization, t.key, t.value, t.ordinal as added_in,
           ${tagColumns(at, 'p.id')}
      from projects p
      cross join lateral rows from (jsonb_to_recordset(coalesce(p.settings -> 'tags', '[]')) as (key text, value text))
                              with ordinality as t (key, value, ordinal)),
  reserved_tag_keys as not materialized (
    select subject as id, organization, data ->> 'key' as key, (data ->> 'disableOverrides')::boolean as disable_overrides
      from past where created_by_event = 'ReservedTagKeyCreated')`;

const VALUES_OF_WORKSPACES = sql`
  variables as not materialized (
    select v.subject as id, w.id as owner, v.data ->> 'key' as key, v.data ->> 'category' as category
      from workspaces w
      cross join lateral jsonb_array_elements_text(w.settings -> 'variables') as named (id)
      join past v on v.subject = named.id and v.created_by_event = 'VariableCreated'),
  state_version_outputs as not materialized (
    select o.id, p.subject as state_version, o.name
      from past p cross join lateral jsonb_to_recordset(p.data -> 'outputs') as o (id text, name text)
     where p.created_by_event = 'StateVersionFinalized'),
  configuration_versions as not materialized (
    select settings ->> 'currentConfigurationVersion' as id, id as workspace,
           settings ->> 'currentConfigurationSince' as current_since
      from workspaces)`;

const DATA_RETENTION_POLICIES = sql`
  data_retention_policies as not materialized (
    select settings -> 'dataRetentionPolicy' ->> 'id' as id, id as owner,
           (settings -> 'dataRetentionPolicy' ->> 'days')::integer as delete_older_than_days
      from workspaces where settings -> 'dataRetentionPolicy' <> 'null'
     union all
    select data -> 'dataRetentionPolicy' ->> 'id', subject, (data -> 'dataRetentionPolicy' ->> 'days')::integer
      from past where created_by_event = 'OrganizationCreated' and data -> 'dataRetentionPolicy' <> 'null')`;

const buildRuns = (at: Timestamp): Sql => sql`
  workspace_runs as not materialized (
    select w.id as workspace, w.organization, r.run as current_run, r.created_at, last_reached.status
      from workspaces w
      join history_runs r on r.run = w.settings ->> 'currentRun'
      -- Of two statuses with the same time, the later one in the order of RUN_STATUSES.
      cross join lateral (select reached.status from jsonb_each_text(r.reached) as reached (status, at) where reached.at <= ${at}
                           order by reached.at desc, array_position(${RUN_STATUSES}::text[], reached.status) desc
                           limit 1) last_reached),
  workspace_metrics as not materialized (
    select w.id as workspace, m.*
      from workspaces w
      cross join lateral (select ${WORKSPACE_METRIC_COLUMNS} from (select ${RUN_MEASURE_COLUMNS} from history_runs
                                                   where workspace = w.id and finished_at <= ${at}
                                                   order by finished_at desc, run desc limit ${METRICS_WINDOW_RUNS}) f) m
     where m.runs > 0),
  assessment_results as not materialized (
    select * from views.assessment_results where created_at <= ${at}::timestamptz)`;

/**
 * Returns common table expressions for a statement about workspaces, so that it reads the past: they have the names of
 * its tables and contain the rows at that time. Permissions are those of the present; their tables are named with their
 * schema (libs/api/access/permissions/grants.queries.ts).
 */
export const buildViewsAsOf = (at: Timestamp, subject: PastSubject): Sql => sql`
  with ${buildPast(at, subject)}, ${ORGANIZATIONS_AND_PROJECTS}, ${buildWorkspaces(subject)}, ${buildTags(at)},
       ${VALUES_OF_WORKSPACES}, ${DATA_RETENTION_POLICIES}, ${buildRuns(at)}
  `;
