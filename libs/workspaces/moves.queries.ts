import { notFound, sql } from '#kernel';
import { snapshotOf, type Database, type Snapshot } from '#event-store';
import { demand, fresh, grantsOnProject, grantsOnWorkspace, type Actor, type Place } from '#access';
import { fixedKeys } from '#tag-bindings';
import type { FixedKey } from './tags.js';

/** A project that workspaces are to come to, and those of them that its organization has. */
export type Move = Place & {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly projectVersion: number;
  /** Keys that the project lets no workspace bind. */
  readonly fixed: readonly FixedKey[];
  readonly workspaces: readonly MovedWorkspace[];
};

export type MovedWorkspace = Place & { readonly id: string; readonly snapshot: Snapshot };

export const moveInto = async (
  database: Database,
  actor: Actor,
  project: string,
  workspaces: readonly string[],
): Promise<Move> => {
  const row = await database.row<Move>(sql`
    select p.organization, so.version as "organizationVersion", sp.version as "projectVersion",
           ${grantsOnProject(actor, sql.raw('p.id'))} as grants, ${fixedKeys(sql.raw('p.id'))} as fixed,
           coalesce((
             select jsonb_agg(jsonb_build_object(
                      'id', w.id, 'organization', w.organization,
                      'grants', ${grantsOnWorkspace(actor, 'w')},
                      'snapshot', ${snapshotOf('s')})
                      -- In one order: of several that are refused it is always the same that is told.
                      order by w.id)
               from workspaces w join event_store.streams s on s.stream = w.id
              where w.organization = p.organization and w.id = any (${workspaces}::text[])), '[]') as workspaces
      from projects p
      join event_store.streams sp on sp.stream = p.id join event_store.streams so on so.stream = p.organization
     where p.id = ${project} and ${fresh(actor)}`);
  if (!row) throw notFound();
  demand(actor, 'move-workspace', row);
  return row;
};
