import type { AuditTrailFilter } from '../../api/audit-trail.js';
import { toList, toText } from '../../search-params.js';

export type TrailSearch = AuditTrailFilter & {
  /** The id of the entry that the panel shows. */
  readonly entry?: string;
};

const TEXTS = ['since', 'until', 'entry'] as const;
const LISTS = ['type', 'action', 'actor', 'resource'] as const;

/** Reads the filter and the open entry from the address. It ignores unknown parameters. */
export const parseTrailSearch = (search: Readonly<Record<string, unknown>>): TrailSearch => ({
  ...Object.fromEntries(TEXTS.flatMap((name) => (toText(search[name]) ? [[name, toText(search[name])]] : []))),
  ...Object.fromEntries(
    LISTS.flatMap((name) => (toList(search[name]).length > 0 ? [[name, toList(search[name])]] : [])),
  ),
});

/** Returns the search without the open entry. */
export const toTrailFilter = (search: TrailSearch): AuditTrailFilter =>
  Object.fromEntries(Object.entries(search).filter(([name]) => name !== 'entry'));
