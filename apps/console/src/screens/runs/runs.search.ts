import type { RunSearch } from '../../api/runs.js';

/** Reads the filter of the list from the address. It ignores unknown parameters. */
export const parseRunSearch = ({ group, q, waits }: Readonly<Record<string, unknown>>): RunSearch => ({
  ...(group === 'final' || group === 'non_final' ? { group } : {}),
  ...(waits === 'me' || waits === 'others' ? { waits } : {}),
  ...(typeof q === 'string' && q !== '' ? { q } : {}),
});
