import type { WorkspaceDeleted } from '#platform/kernel';
import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import type { RunEvent } from '../runs/run-event.js';
import { RunFiles } from './run.files.js';

/** Removes the files of runs with their workspaces. */
export const createRunFileSweeper = (blobs: BlobStore): Follower => {
  // Deletion needs no encryption key.
  const files = new RunFiles(blobs);
  return createFileSweeper<Extract<RunEvent, { type: 'RunCreated' }>>({
    name: 'run_file_sweeper',
    table: 'runs.kept_run_files',
    ownerEnds: 'WorkspaceDeleted' satisfies WorkspaceDeleted['type'],
    on: { RunCreated: ({ workspace }, { stream }) => ({ stored: stream, owner: workspace }) },
    remove: (run) => files.remove(run),
  });
};
