import { openAsBlob } from 'node:fs';
import { chmod, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RefusedRequestError } from '../api/server-connection.js';
import { RunError } from '../executor-error.js';
import type { AppliedState } from './applied-state.js';
import type { PhaseContext } from './phase-context.js';

/** How long to wait for the server after the lease was lost. */
const UPLOAD_MS = 60_000;

type StateDependencies = Pick<PhaseContext, 'api' | 'claimed' | 'logger' | 'keptStates'>;

/**
 * Stores the file of a state that the workspace does not accept: with the apply, or on the disk of the executor. Resolves to a sentence
 * that says where it is.
 */
export const keepState = async (
  { api, claimed, logger, keptStates }: StateDependencies,
  state: string,
): Promise<string> => {
  try {
    await api.uploadErroredState(claimed, await openAsBlob(state), AbortSignal.timeout(UPLOAD_MS));
    return 'It is kept as the errored state of this apply.';
  } catch (error) {
    const name = `${claimed.run}-${claimed.fence}.tfstate`;
    const path = join(keptStates, name);
    await mkdir(keptStates, { recursive: true, mode: 0o700 });
    // Unlike a copy, it needs no space.
    await rename(state, path);
    await chmod(path, 0o600);
    logger.warn(
      { err: error, run: claimed.run, path },
      'the server does not accept the state of an apply, which is kept here',
    );
    return `The server does not accept it in any way, so it is on the machine of the executor only, in the file ${name} of its folder ${basename(keptStates)}.`;
  }
};

/**
 * Uploads the last state. If the workspace does not accept it, or another executor has the run, stores it with the apply or on
 * the disk, and rejects.
 */
export const finishState = async (dependencies: StateDependencies, applied: AppliedState): Promise<void> => {
  try {
    await applied.finish();
  } catch (error) {
    const state = await applied.readUnsaved();
    const location = state === null ? '' : ` ${await keepState(dependencies, state)}`;
    if (!(error instanceof RefusedRequestError || error instanceof RunError)) throw error;
    throw new RunError(`The state could not be stored in the workspace: ${error.message}.${location}`);
  }
};
