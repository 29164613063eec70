import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { conflict, notFound, Refusal } from '#platform/kernel';
import { createEventContext, requirePermission, type Actor } from '#api/access';
import { checkContentLength, computeDigest, hashWhileReading, limitUpload } from '#storage/blob-store';
import { decideWrite, EventStore, expectVersion } from '#storage/event-store';
import { MAX_STATE_BYTES } from '#workspaces/state';
import { loadRunForLog } from '../logs/run-logs.queries.js';
import { ERRORED_STATE, RunFiles, type RunFile } from '../run-files/run.files.js';
import { requireFence } from '../runs/run-fence.js';
import { toLogTarget } from '../runs/run-logs.links.js';
import { run, type RunCommand } from '../runs/run.js';
import { toApplyId } from '../runs/runs.document.js';
import { loadRunForCommand } from '../runs/runs.queries.js';

/** An upload, and its size if the client has announced it. */
type ErroredStateUpload = { readonly content: Readable; readonly length: number | null };

export const toErroredState = (id: string, fence: number | null): RunFile => ({ run: id, kind: ERRORED_STATE, fence });

/**
 * Stores the states of applies that workspaces did not accept, so that people can get them: the workspace was unlocked by force, or
 * the run was ended while its executor could not be reached.
 */
@Injectable()
export class ErroredStates {
  constructor(
    private readonly store: EventStore,
    private readonly files: RunFiles,
  ) {}

  /** An executor that got no response sends the same state again. Throws a conflict for another state. */
  async receive(id: string, fence: number, { content, length }: ErroredStateUpload, actor: Actor): Promise<void> {
    const row = await loadRunForLog(this.store.database, actor, toLogTarget(toApplyId(id), 'apply'));
    if (!row.executable) throw notFound();
    requirePermission(actor, 'execute-run', row);
    requireFence(row.status, fence, row.fence);
    checkContentLength(length, MAX_STATE_BYTES);
    const file = toErroredState(id, fence);
    const sent = createHash('sha256');
    if (!(await this.files.put(file, hashWhileReading(limitUpload(content, MAX_STATE_BYTES), sent)))) {
      const stored = await this.files.get(file);
      if (!stored || !(await computeDigest(stored.content)).equals(sent.digest())) {
        throw conflict('Another state was uploaded for this apply');
      }
    }
    try {
      await this.record(id, { fence, size: (await this.files.size(file)) ?? 0 }, actor);
    } catch (error) {
      // The run was deleted during the upload, after its files were removed.
      if (error instanceof Refusal && error.kind === 'not-found') await this.files.removeFile(file);
      throw error;
    }
  }

  private record(
    id: string,
    data: Extract<RunCommand, { type: 'StoreErroredState' }>['data'],
    actor: Actor,
  ): Promise<void> {
    return this.store.retryOnConflict(async () => {
      const row = await loadRunForCommand(this.store.database, actor, id);
      const loaded = await this.store.restore(id, run, row.snapshot);
      const write = decideWrite(run, loaded, row.organization, { type: 'StoreErroredState', data });
      const guards = [
        expectVersion(row.organization, row.organizationVersion),
        expectVersion(row.workspace, row.workspaceSnapshot.version),
      ];
      if (write.events.length > 0) await this.store.append([...guards, write], createEventContext(actor));
    });
  }
}
