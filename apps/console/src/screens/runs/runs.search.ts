import { RUN_RESULTS, type RunResultKey, type RunSearch } from '../../api/runs.js';
import { toText, toTime } from '../../search-params.js';

const isResult = (value: unknown): value is RunResultKey =>
  typeof value === 'string' && Object.hasOwn(RUN_RESULTS, value);

/** Reads the filter of the list from the address. It ignores unknown parameters. */
export const parseRunSearch = (search: Readonly<Record<string, unknown>>): RunSearch => {
  const { group, result, waits } = search;
  const [q, workspace] = [toText(search['q']), toText(search['workspace'])];
  const [since, before] = [toTime(search['since']), toTime(search['before'])];
  return {
    ...(group === 'final' || group === 'non_final' ? { group } : {}),
    ...(waits === 'me' || waits === 'others' ? { waits } : {}),
    ...(q ? { q } : {}),
    ...(isResult(result) ? { result } : {}),
    ...(since ? { since } : {}),
    ...(before ? { before } : {}),
    ...(workspace ? { workspace } : {}),
  };
};
