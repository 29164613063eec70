import type { WorkspaceDeleted } from '#platform/kernel';
import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import type { RunEvent } from '../runs/run-event.js';
import type { RunEndEvent } from '../runs/run-ends.js';
import { isFinal } from '../runs/run-status.js';
import { RunFiles } from './run.files.js';

type RunFileEvent = RunEndEvent | Extract<RunEvent, { type: 'RunCreated' | 'RunPlanRequeued' | 'RunDataDeleted' }>;

/** Follows the name of a run in the id of a removal. A fence follows too if only its files are removed. */
const PLAN_FILES = 'plan-files';

const removePlanFiles = (_: unknown, { stream }: { readonly stream: string }) => ({
  removed: `${stream} ${PLAN_FILES}`,
});

/**
 * Removes the files of runs with their workspaces and by retention policies, what lost executors have uploaded for their plans, and the archives with
 * plans when the run has ended.
 */
export const createRunFileSweeper = (blobs: BlobStore): Follower => {
  // Deletion needs no encryption key.
  const files = new RunFiles(blobs);
  return createFileSweeper<RunFileEvent>({
    name: 'run_file_sweeper',
    table: 'runs.kept_run_files',
    ownerEnds: { WorkspaceDeleted: () => true } satisfies Record<WorkspaceDeleted['type'], unknown>,
    on: {
      RunCreated: ({ workspace }, { stream }) => ({ stored: stream, owner: workspace }),
      RunPlanRequeued: ({ fence }, { stream }) => ({ removed: `${stream} ${fence}` }),
      RunDataDeleted: (_, { stream }) => ({ removed: stream }),
      RunStageReached: ({ stage }, event) => (isFinal(stage) ? removePlanFiles(stage, event) : null),
      RunPlannedAndFinished: removePlanFiles,
      RunApplied: removePlanFiles,
      RunErrored: removePlanFiles,
      RunDiscarded: removePlanFiles,
      RunCanceled: removePlanFiles,
      RunForceCanceled: removePlanFiles,
    },
    remove: (id) => {
      const [run = '', part] = id.split(' ');
      if (part === undefined) return files.remove(run);
      return part === PLAN_FILES ? files.removePlanFiles(run) : files.removeUploads(run, Number(part));
    },
  });
};
