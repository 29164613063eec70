import type { AuditTrailFilter } from '../../api/audit-trail.js';
import { toList, toText, toTime } from '../../search-params.js';

export type TrailSearch = AuditTrailFilter & {
  /** The id of the entry that the panel shows. */
  readonly entry?: string;
};

const TIMES = ['since', 'until'] as const;
const LISTS = ['type', 'action', 'actor', 'resource'] as const;

/** Reads the filter and the open entry from the address. It ignores unknown parameters. */
export const parseTrailSearch = (search: Readonly<Record<string, unknown>>): TrailSearch => ({
  ...Object.fromEntries(TIMES.flatMap((name) => (toTime(search[name]) ? [[name, toTime(search[name])]] : []))),
  ...(toText(search['entry']) ? { entry: toText(search['entry']) } : {}),
  ...Object.fromEntries(
    LISTS.flatMap((name) => (toList(search[name]).length > 0 ? [[name, toList(search[name])]] : [])),
  ),
});

/** Returns the search without the open entry. */
export const toTrailFilter = (search: TrailSearch): AuditTrailFilter =>
  Object.fromEntries(Object.entries(search).filter(([name]) => name !== 'entry'));
