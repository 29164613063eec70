import { createEventContext, requirePermission, requirePermittedRow, toActingPrincipal, type Actor } from '#api/access';
import { conflict } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import { ToolReleases } from '#workspaces/workspaces';
import { ASSESSMENT } from '../runs/run-event.js';
import { findRun, type RunRow } from '../runs/runs.queries.js';
import { deriveId } from '../runs/runs.ids.js';
import { createServerRun } from '../runs/server-runs.operation.js';
import { countWaiting, findRequestedWorkspace, MAX_WAITING, OBSTACLES } from './due-assessments.queries.js';

/** Starts the health assessments that people want at once. */
export class Assessments {
  constructor(
    private readonly store: EventStore,
    private readonly releases: ToolReleases,
    private readonly isOffered: boolean,
  ) {}

  /** Returns the run of the assessment. Throws a conflict that says why the workspace cannot be assessed now. */
  async start(workspace: string, actor: Actor): Promise<RunRow> {
    const { database } = this.store;
    const row = requirePermittedRow(actor, 'read-runs', await findRequestedWorkspace(database, actor, workspace));
    requirePermission(actor, 'update-workspace', row);
    if (!this.isOffered) throw conflict('This site has no health assessments: its operator has switched them off');
    const { newest } = row;
    if (newest?.isOpen) throw conflict(`Workspace is being assessed already: ${newest.id}`);
    if (row.obstacle) throw conflict(OBSTACLES[row.obstacle]);
    if (((await countWaiting(database)).get(row.organization) ?? 0) >= MAX_WAITING) {
      throw conflict(`Organization has ${MAX_WAITING} assessments that wait for an executor: please try again later`);
    }
    // Of requests at the same moment, one creates the run.
    const id = deriveId('run', `assessment ${workspace} after ${newest?.id ?? 'none'}`);
    const run = {
      id,
      workspace,
      message: 'Health assessment',
      source: ASSESSMENT,
      createdBy: toActingPrincipal(actor),
      decideOptions: ({ isBusy }: { readonly isBusy: boolean }) =>
        isBusy ? null : { planOnly: true, refreshOnly: true },
    } as const;
    if (!(await createServerRun(this.store, this.releases, run, createEventContext(actor)))) {
      throw conflict('Workspace cannot be assessed at this moment: please try again');
    }
    return findRun(database, actor, id);
  }
}
