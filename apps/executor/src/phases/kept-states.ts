import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PhaseContext } from './phase-context.js';

/** How long to wait for the server after the lease was lost. */
const UPLOAD_MS = 60_000;

/** Stores a state that the workspace does not accept: with the apply, or on the disk of the executor. */
export const keepState = async (
  { api, claimed, logger, keptStates }: Pick<PhaseContext, 'api' | 'claimed' | 'logger' | 'keptStates'>,
  state: Buffer<ArrayBuffer>,
): Promise<void> => {
  try {
    await api.uploadErroredState(claimed, state, AbortSignal.timeout(UPLOAD_MS));
  } catch (error) {
    const path = join(keptStates, `${claimed.run}-${claimed.fence}.tfstate`);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, state, { mode: 0o600 });
    logger.warn(
      { err: error, run: claimed.run, path },
      'the server does not accept the state of an apply, which is kept here',
    );
  }
};
