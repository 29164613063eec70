import { getErrorCode } from '#kernel';

/** False when there is no such process. A zombie counts as one. */
export const sendSignal = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (getErrorCode(error) === 'ESRCH') return false;
    // There, but somebody else's.
    if (getErrorCode(error) === 'EPERM') return true;
    throw error;
  }
};

export const isAlive = (pid: number): boolean => sendSignal(pid, 0);
