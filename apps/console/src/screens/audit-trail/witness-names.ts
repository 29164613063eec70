import type { TrailLogStatus } from '../../api/trail-log.js';

/** Returns the names in the keys of the witnesses that have cosigned the checkpoint of the log of the site. */
export const listWitnessNames = (log: TrailLogStatus | null): readonly string[] => {
  const size = log?.['site-log']?.size ?? Number.POSITIVE_INFINITY;
  return (log?.witnesses ?? [])
    .filter((witness) => witness.size >= size)
    .map((witness) => witness['verifier-key'].split('+')[0] ?? '');
};
