import { selectJsonTimestamp, sql, type Timestamp } from '#platform/kernel';
import { TILE_WIDTH } from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { SITE_LOG } from '../tiles/hashes.js';
import { SELECT_SITE_CHECKPOINT } from './trail-logs.queries.js';

/** The last checkpoint of an origin. */
export type SignedSize = { readonly origin: string; readonly size: number; readonly signedAt: Timestamp };

type TrailLogStatusRow = SignedSize & {
  /** How many entries the log has, also those after the checkpoint. */
  readonly entries: number;
  /** The key that signs. */
  readonly verifierKey: string;
  /** The origins that the log had before, oldest first. */
  readonly previous: readonly SignedSize[];
  /** The checkpoint of the log of the site that is served; null if none was signed. */
  readonly siteLog: (SignedSize & { readonly witnessed: boolean }) | null;
  /** The witnesses that have cosigned the log of the site under its present origin, with the last size. */
  readonly witnesses: readonly { readonly verifierKey: string; readonly size: number }[];
  /** The newest time stamp of a checkpoint of the log of the site under its present origin. */
  readonly timeStamp: {
    readonly id: string;
    readonly size: number;
    readonly authority: string;
    readonly stampedAt: Timestamp;
  } | null;
};

/** Returns the state of the log of an organization, or undefined if nothing was signed. */
export const findTrailLogStatus = (database: Database, organization: string): Promise<TrailLogStatusRow | undefined> =>
  database.row<TrailLogStatusRow>(sql`
    select present.origin, present.verifier_key as "verifierKey", last.size, last.signed_at as "signedAt",
           greatest(
             coalesce((select index + 1 from audit_trail.leaves where organization = ${organization}
                        order by index desc limit 1), 0),
             coalesce((select (index + 1) * ${TILE_WIDTH} from audit_trail.tiles
                        where organization = ${organization} and level = 0 order by index desc limit 1), 0)) as entries,
           (select coalesce(jsonb_agg(jsonb_build_object('origin', c.origin, 'size', c.size, 'signedAt', ${selectJsonTimestamp('c.signed_at')})
                                      order by k.position), '[]')
              from (select origin, min(position) as position from audit_trail.log_keys
                     where organization = ${organization} and origin <> present.origin group by origin) k
              cross join lateral (select origin, size, signed_at from audit_trail.signed_checkpoints
                                   where organization = ${organization} and origin = k.origin
                                   order by size desc limit 1) c) as previous,
           (select jsonb_build_object('origin', s.origin, 'size', s.size, 'signedAt', ${selectJsonTimestamp('s.signed_at')}, 'witnessed', s.witnessed)
              from (${SELECT_SITE_CHECKPOINT}) served
              join audit_trail.signed_checkpoints s
                on s.organization = ${SITE_LOG} and s.size = served.size and s.origin = site.origin) as "siteLog",
           (select coalesce(jsonb_agg(jsonb_build_object('verifierKey', verifier_key, 'size', size) order by verifier_key), '[]')
              from audit_trail.witnesses where origin = site.origin) as witnesses,
           (select jsonb_build_object('id', id, 'size', size, 'authority', authority, 'stampedAt', ${selectJsonTimestamp('stamped_at')})
              from audit_trail.time_stamps where origin = site.origin order by size desc limit 1) as "timeStamp"
      from (select origin, verifier_key from audit_trail.log_keys
             where organization = ${organization} order by position desc limit 1) present
      cross join lateral (select size, signed_at from audit_trail.signed_checkpoints
                           where organization = ${organization} and origin = present.origin
                           order by size desc limit 1) last
      left join (select origin from audit_trail.log_keys
                  where organization = ${SITE_LOG} order by position desc limit 1) site on true`);
