/** Hashes of the ids of workspaces are below this number. */
const HASHES = 2 ** 31;

/** A workspace that was busy or locked when it was due is tried again for this part of the period. */
const RETRIED_PART = 24;

/** Hashes after `after`, up to and including `to`, of workspaces that are due in the same period. */
export type DueHashes = { readonly after: number; readonly to: number; readonly period: number };

/**
 * Returns the hashes of the workspaces that are due. A workspace is due once in each period, at a time that follows from its hash, and
 * a short time afterwards. So the assessments of a site are spread over the period.
 */
export const listDueHashes = (now: Date, periodSeconds: number): readonly DueHashes[] => {
  const seconds = Math.floor(now.getTime() / 1_000);
  const period = Math.floor(seconds / periodSeconds);
  const to = Math.floor(((seconds % periodSeconds) / periodSeconds) * HASHES);
  const after = to - Math.floor(HASHES / RETRIED_PART);
  return after >= -1
    ? [{ after, to, period }]
    : [
        { after: after + HASHES, to: HASHES - 1, period: period - 1 },
        { after: -1, to, period },
      ];
};
