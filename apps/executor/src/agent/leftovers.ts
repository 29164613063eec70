import { readdir, readlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppliedState } from '../phases/applied-state.js';
import { finishState, keepState } from '../phases/finish-state.js';
import type { PhaseDependencies } from '../phases/phase-context.js';
import { PhaseFolder } from '../phases/phase-folder.js';
import type { PhaseRecord } from '../phases/phase-record.js';
import { sendSignal } from '../sandbox/signals.js';
import { readFolderNames } from '../tools/tool-release.js';

/** How long terraform can take to end after its executor was killed. */
const ORPHAN_MS = 10_000;
const POLL_MS = 100;

const MESSAGE =
  'The executor ended unexpectedly while it applied. It may have changed resources that the state does not contain: compare ' +
  'them before the next run.';

/** Returns the processes that run in a folder. Only Linux can list them; in a sandbox there are none. */
const listOrphans = async (folder: string): Promise<readonly number[]> => {
  if (process.platform !== 'linux') return [];
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const isInside = await Promise.all(
    ids.map(async (id) => {
      const directory = await readlink(`/proc/${id}/cwd`).catch(() => '');
      return `${directory}${sep}`.startsWith(`${folder}${sep}`);
    }),
  );
  return ids.filter((_, index) => isInside[index]).map(Number);
};

/** Interrupts what a killed executor has left running, so that terraform writes its state, and then kills it. */
const endOrphans = async (folder: string): Promise<void> => {
  let orphans = await listOrphans(folder);
  for (const pid of orphans) sendSignal(pid, 'SIGINT');
  const end = performance.now() + ORPHAN_MS;
  while (orphans.length > 0 && performance.now() < end) {
    await sleep(POLL_MS);
    orphans = await listOrphans(folder);
  }
  for (const pid of orphans) sendSignal(pid, 'SIGKILL');
};

/** Stores the state of an apply that was cut off, and ends the run if the server has not ended it yet. */
const recoverApply = async (
  dependencies: PhaseDependencies,
  folder: PhaseFolder,
  record: PhaseRecord,
  signal: AbortSignal,
): Promise<void> => {
  const { api, logger } = dependencies;
  const lease = await api.renew(record, 0, signal);
  const job = lease && (await api.readJob(record, record.nonce, signal));
  const { appliedWorkspace: workspace } = record;
  const own = { ...dependencies, claimed: record };
  if (workspace !== null) {
    const applied = new AppliedState({
      folder: folder.space,
      path: folder.stateFile(workspace),
      copy: folder.stateCopy,
      documents: dependencies.documents,
      intervalMs: 0,
      upload: async (state) => {
        if (job) await api.uploadState(job['workspace-id'], job['run-token'], state, signal);
      },
      logger,
    });
    if (job) await finishState(own, applied);
    else {
      const state = await applied.readUnsaved();
      if (state !== null) await keepState(own, state);
    }
  }
  if (job) await api.report(record, { status: 'errored', message: MESSAGE }, signal);
};

/**
 * Cleans up after an executor that was killed. Its plans begin again, on any executor, when their leases have ended. The states of its
 * applies are stored.
 */
export const recoverLeftovers = async (
  dependencies: PhaseDependencies,
  runsFolder: string,
  signal: AbortSignal,
): Promise<void> => {
  const { logger } = dependencies;
  for (const name of await readFolderNames(runsFolder)) {
    const folder = new PhaseFolder(join(runsFolder, name));
    try {
      await endOrphans(folder.root);
      const record = await folder.readRecord();
      logger.info({ run: name, phase: record?.phase }, 'an executor left this phase unfinished');
      if (record?.phase === 'apply') await recoverApply(dependencies, folder, record, signal);
      await folder.remove();
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error, folder: folder.root }, 'the rest of an unfinished phase is kept');
    }
  }
};
