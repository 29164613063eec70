import { getErrorCode } from '#platform/kernel';

/** Sends a signal. Returns false if there is no such process. A zombie counts as a process. */
export const sendSignal = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (getErrorCode(error) === 'ESRCH') return false;
    // The process exists and belongs to another user.
    if (getErrorCode(error) === 'EPERM') return true;
    throw error;
  }
};

export const isAlive = (pid: number): boolean => sendSignal(pid, 0);
