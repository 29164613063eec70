import { createEventContext, requirePermission, requirePermittedRow, toActingPrincipal, type Actor } from '#api/access';
import { conflict, formatTimestamp, type Clock } from '#platform/kernel';
import { EventStore } from '#storage/event-store';
import { ToolReleases } from '#workspaces/workspaces';
import { findRun, type RunRow } from '../runs/runs.queries.js';
import { deriveId } from '../runs/runs.ids.js';
import { createAssessment } from './create-assessment.operation.js';
import {
  countWaiting,
  findRequestedWorkspace,
  isUpgrading,
  MAX_WAITING,
  OBSTACLES,
  readBegin,
} from './due-assessments.queries.js';

/** Starts the health assessments that people want at once. */
export class Assessments {
  constructor(
    private readonly store: EventStore,
    private readonly releases: ToolReleases,
    private readonly clock: Clock,
    private readonly isOffered: boolean,
  ) {}

  /** Returns the run of the assessment. Throws a conflict that says why the workspace cannot be assessed now. */
  async start(workspace: string, actor: Actor): Promise<RunRow> {
    const { database } = this.store;
    const row = requirePermittedRow(actor, 'read-runs', await findRequestedWorkspace(database, actor, workspace));
    requirePermission(actor, 'update-workspace', row);
    if (!this.isOffered) throw conflict('This site has no health assessments: ask its operator');
    if (await isUpgrading(database)) throw conflict('The site is being upgraded: please try again when it is done');
    const { newest } = row;
    if (newest?.isOpen) throw conflict(`Workspace is being assessed already: ${newest.id}`);
    if (row.obstacle) throw conflict(OBSTACLES[row.obstacle]);
    if (((await countWaiting(database)).get(row.organization) ?? 0) >= MAX_WAITING) {
      throw conflict(`Organization has ${MAX_WAITING} assessments that wait for an executor: please try again later`);
    }
    // Executors claim no assessment that is older than the first one of this site.
    await readBegin(database, formatTimestamp(this.clock.now().getTime()));
    // Of requests at the same moment, one creates the run.
    const id = deriveId('run', `assessment ${workspace} after ${newest?.id ?? 'none'}`);
    const assessment = { id, workspace, createdBy: toActingPrincipal(actor) };
    if (!(await createAssessment(this.store, this.releases, assessment, createEventContext(actor)))) {
      throw conflict(
        'Workspace cannot be assessed: it has no configuration version, its terraform is older than 0.15.4, or it has just become busy',
      );
    }
    return findRun(database, actor, id);
  }
}
