import { notFound, sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor, type PermissionScope } from '#api/access';
import { selectSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import { SELECT_TIME_LIMITS, type TimeLimits } from '#organizations/general-settings';
import { canExecute, RUN_JOINS } from '../runs/runs.queries.js';
import type { IdentityOfRun } from './run-identity.js';

type RunForIdentity = IdentityOfRun &
  PermissionScope & {
    readonly organization: string;
    readonly timeLimits: TimeLimits;
    readonly snapshot: StreamSnapshot;
  };

/** Throws not-found for callers other than the executors of the run. */
export const loadRunForIdentity = async (database: Database, actor: Actor, id: string): Promise<RunForIdentity> => {
  const row = await database.row<RunForIdentity>(sql`
    select r.id as run, r.organization, o.name as "organizationName", p.id as project, p.name as "projectName",
           w.id as workspace, w.name as "workspaceName", ${SELECT_TIME_LIMITS} as "timeLimits", ${selectSnapshotJson('r.id')} as snapshot
      from runs r ${RUN_JOINS} where r.id = ${id} and ${canExecute(actor.id)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};
