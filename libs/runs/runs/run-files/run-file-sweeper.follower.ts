import type { WorkspaceDeleted } from '#platform/kernel';
import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import type { RunEvent } from '../runs/run-event.js';
import { RunFiles } from './run.files.js';

type RunFileEvent = Extract<RunEvent, { type: 'RunCreated' | 'RunPlanRequeued' }>;

/** Removes the files of runs with their workspaces, and the documents of plans whose executors are lost. */
export const createRunFileSweeper = (blobs: BlobStore): Follower => {
  // Deletion needs no encryption key.
  const files = new RunFiles(blobs);
  return createFileSweeper<RunFileEvent>({
    name: 'run_file_sweeper',
    table: 'runs.kept_run_files',
    ownerEnds: 'WorkspaceDeleted' satisfies WorkspaceDeleted['type'],
    on: {
      RunCreated: ({ workspace }, { stream }) => ({ stored: stream, owner: workspace }),
      RunPlanRequeued: ({ fence }, { stream }) => ({ removed: `${stream} ${fence}` }),
    },
    remove: async (id) => {
      const [run = '', fence] = id.split(' ');
      await (fence === undefined ? files.remove(run) : files.removeDocuments(run, Number(fence)));
    },
  });
};
