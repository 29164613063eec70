import { readStoredKeys, tryRotationLock } from '#storage/event-store';
import { StartupError } from '#platform/host';
import type { DatabaseSession } from '#platform/postgres';

/** Keeps keys rotate from running until the session ends. Throws StartupError if a rotation runs or has not ended. */
export const preventRotation = async (session: DatabaseSession): Promise<void> => {
  if (!(await tryRotationLock(session))) throw new StartupError('keys rotate is running; wait until it has ended');
  if ((await readStoredKeys(session)).isRotating) {
    throw new StartupError('keys rotate has not ended; run it again until it reports that all values are encrypted');
  }
};
