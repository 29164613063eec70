import { notFound, sql, type Sql } from '#platform/kernel';
import { selectSnapshotJson, buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  requirePermission,
  requireCurrentAccess,
  selectWorkspaceGrants,
  type Actor,
  type PermissionScope,
  hasOrganizationName,
} from '#api/access';
import {
  selectFixedKeys,
  IS_VALUELESS,
  selectTagName,
  selectTagNames,
  selectTagOrganization,
  type TagNames,
} from '#organizations/tag-bindings';
import type { FixedTagKey } from './tags.js';

/** A workspace that gets a tag. */
export type TaggedWorkspace = PermissionScope & {
  readonly id: string;
  readonly snapshot: StreamSnapshot;
  readonly project: string;
  readonly projectVersion: number;
  /** Keys that its project forbids it to bind. */
  readonly fixed: readonly FixedTagKey[];
};

/** A tag, and the workspaces of its organization that get it. */
export type TagAddition = {
  readonly name: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly workspaces: readonly TaggedWorkspace[];
};

export const loadTagAddition = async (
  database: Database,
  actor: Actor,
  tag: string,
  workspaces: readonly string[],
): Promise<TagAddition> => {
  const home = sql`id in (select t.organization from workspace_tags t
                           where ${IS_VALUELESS} and views.tag_id(t.organization, t.key) = ${tag} limit 1)`;
  const row = await database.row<TagAddition>(sql`
    select tag.name, owner.id as organization, so.version as "organizationVersion",
           coalesce((
             select jsonb_agg(jsonb_build_object(
                      'id', w.id, 'organization', w.organization, 'grants', ${selectWorkspaceGrants(actor, 'w')},
                      'project', w.project,
                      'projectVersion', (select sp.version from event_store.streams sp where sp.stream = w.project),
                      'fixed', ${selectFixedKeys(sql.raw('w.project'))}, 'snapshot', ${buildSnapshotJson('s')})
                      -- In one order, or two such requests wait for one another.
                      order by w.id)
               from workspaces w join event_store.streams s on s.stream = w.id
              where w.organization = owner.id and w.id = any (${workspaces}::text[])), '[]') as workspaces
      from ${selectTagOrganization(actor, home)}
      join event_store.streams so on so.stream = owner.id
      cross join lateral (${selectTagName(actor, sql`${tag}`)}) tag
     where ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};

/** A workspace that loses tags. */
type TagCarrier = { readonly id: string; readonly snapshot: StreamSnapshot };

/** A step of the removal of tags from an organization. */
export type TagRemovalStep = {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly names: readonly string[];
  /** The workspaces of this step, up to the limit; fewer if they are the last. */
  readonly carriers: readonly TagCarrier[];
  /** One workspace for each tag, which loses it at the end: the tag exists until then. */
  readonly last: readonly TagCarrier[];
};

type RemovalStepRow = TagRemovalStep & { readonly lastIds: readonly string[] };

/** In SQL: `step`, with the organization, the names, and the ids of the last workspaces. */
const selectRemovalStep = (step: Sql, after: string, most: number): Sql => sql`
  select step.*,
         coalesce((
           select jsonb_agg(jsonb_build_object('id', next.workspace, 'snapshot', ${selectSnapshotJson('next.workspace')})
                            order by next.workspace)
             from (select distinct few.workspace
                     from unnest(step.names) as wanted (name)
                     cross join lateral (
                       select t.workspace from workspace_tags t
                        where t.organization = step.organization and t.key = wanted.name and ${IS_VALUELESS}
                          and t.workspace > ${after} and t.workspace <> all (step."lastIds")
                        order by t.workspace limit ${most}) few
                    order by few.workspace limit ${most}) next), '[]') as carriers,
         coalesce((
           select jsonb_agg(jsonb_build_object('id', w.id, 'snapshot', ${selectSnapshotJson('w.id')}))
             from workspaces w where w.id = any (step."lastIds")), '[]') as last
    from (${step} offset 0) step`;

/** Loads the first step; throws if the caller may not remove tags there, or if one of them does not exist. */
export const loadFirstRemovalStep = async (
  database: Database,
  actor: Actor,
  organization: string,
  tags: readonly string[],
  most: number,
): Promise<TagRemovalStep> => {
  const step = sql`
    select named.*, array(select distinct one.workspace
                            from unnest(named.names) as wanted (name)
                            cross join lateral (
                              select t.workspace from workspace_tags t
                               where t.organization = named.organization and t.key = wanted.name and ${IS_VALUELESS}
                               order by t.workspace desc limit 1) one) as "lastIds"
      from (select found.*, array(select value from jsonb_each_text(found."tagNames")) as names
              from (select o.id as organization, so.version as "organizationVersion",
                           ${selectTagNames(actor, tags, sql.raw('o.id'))} as "tagNames"
                      from organizations o join event_store.streams so on so.stream = o.id
                     where ${hasOrganizationName('o', organization)} and ${requireCurrentAccess(actor)} offset 0) found offset 0) named`;
  const row = await database.row<RemovalStepRow & { readonly tagNames: TagNames }>(selectRemovalStep(step, '', most));
  if (!row) throw notFound();
  requirePermission(actor, 'read-organization', row);
  requirePermission(actor, 'delete-tags', row);
  const missing = tags.find((id) => !Object.hasOwn(row.tagNames, id));
  if (missing !== undefined) throw notFound(`Tag ${missing} not found`);
  return row;
};

/** Loads the step after this one. */
export const loadNextRemovalStep = async (
  database: Database,
  { organization, names, carriers, last }: TagRemovalStep,
  most: number,
): Promise<TagRemovalStep> => {
  const step = sql`
    select so.stream as organization, so.version as "organizationVersion", ${names}::text[] as names,
           ${last.map(({ id }) => id)}::text[] as "lastIds"
      from event_store.streams so where so.stream = ${organization}`;
  const row = await database.row<RemovalStepRow>(selectRemovalStep(step, carriers.at(-1)?.id ?? '', most));
  if (!row) throw notFound();
  return row;
};
