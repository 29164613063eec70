import { unprocessable } from '#platform/kernel';
import { getViolatedConstraint } from '#platform/postgres';

/** For `catch`: keys are unique among the variables of one owner, and among the variables of all global sets. */
export const refuseTakenKey = (error: unknown): never => {
  const constraint = getViolatedConstraint(error);
  if (constraint === 'variables_owner_key') throw unprocessable('Key has already been taken', 'key');
  if (constraint === 'variables_global_key') {
    throw unprocessable('Key has already been taken by a variable of another global variable set');
  }
  throw error;
};
