import { sql, type Message } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { AllowedRange, IpAllowlistEvent } from './ip-allowlist.js';

/** A list with its enabled ranges, from the copies of the views that an import fills. */
type ImportedIpAllowlist = { readonly id: string; readonly ranges: readonly AllowedRange[] };

/** Selects the lists in the copy of the view that the session's search path finds. */
export const listImportedIpAllowlists = (session: DatabaseSession): Promise<ImportedIpAllowlist[]> =>
  session.run<ImportedIpAllowlist>(sql`
    select list as id,
           jsonb_agg(jsonb_build_object('id', id, 'range', range, 'description', description, 'enabled', enabled)
                     order by id) as ranges
      from ip_allowlist_ranges where enabled group by list order by list`);

/** Returns the events that make a list restrict nothing: at another site, clients can have other addresses. */
export const disableRanges = ({ ranges }: ImportedIpAllowlist): readonly Message[] =>
  ranges.map(
    (range) => ({ type: 'IpAllowlistRangeUpdated', data: { ...range, enabled: false } }) satisfies IpAllowlistEvent,
  );
