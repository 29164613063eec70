import { codeOf } from '#kernel';

/** False when there is no such process. A zombie counts as one. */
export const signalTo = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    // There, but somebody else's.
    if (codeOf(error) === 'EPERM') return true;
    throw error;
  }
};

export const isAlive = (pid: number): boolean => signalTo(pid, 0);
