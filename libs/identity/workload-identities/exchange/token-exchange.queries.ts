import { sql, type Sql } from '#platform/kernel';
import { selectRangesOfLink } from '#api/access';
import { selectStreamVersions, type StreamVersion } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { countWorkloadTokens, selectTeamTokenMaxTtl } from '#identity/people';
import type { WorkloadIdentitySettings } from '../identities/workload-identity.js';

const isAccepting = (id: string, issuer: string): Sql => sql`w.id = ${id} and w.issuer = ${issuer} and w.enabled`;

/** Returns whether an enabled identity accepts tokens of the issuer. Only then is the issuer contacted. */
export const acceptsIssuer = async (database: Database, id: string, issuer: string): Promise<boolean> =>
  (await database.row<{ id: string }>(sql`select w.id from workload_identities w where ${isAccepting(id, issuer)}`)) !==
  undefined;

export type IssuingIdentity = Pick<WorkloadIdentitySettings, 'name' | 'audience' | 'claims' | 'tokenMinutes'> & {
  readonly id: string;
  readonly organization: string;
  readonly team: string;
  /** Versions of the identity, the team and the organization, which must not change while the token is created. */
  readonly preconditions: readonly StreamVersion[];
  /** Unexpired tokens that all identities of the team have issued. */
  readonly issued: number;
  /** The longest lifetime that the organization allows tokens of teams, in milliseconds; null without a limit. */
  readonly maxTtlMs: number | null;
  /** For `isAddressAllowed`: the addresses from which the organization accepts tokens of the team. */
  readonly allowedRanges: readonly string[] | null;
};

/** Returns what a new token of the identity needs; undefined if no enabled identity accepts tokens of the issuer. */
export const loadIssuingIdentity = (
  database: Database,
  { id, issuer, now }: { readonly id: string; readonly issuer: string; readonly now: Date },
): Promise<IssuingIdentity | undefined> =>
  database.row<IssuingIdentity>(sql`
    select w.id, w.organization, w.team, w.name, w.audience, w.claims, w.token_minutes as "tokenMinutes",
           ${selectStreamVersions(sql.raw('array[w.id, w.team, w.organization]'))} as preconditions,
           ${countWorkloadTokens(sql.raw('w.team'), now)} as issued,
           ${selectTeamTokenMaxTtl(sql.raw('w.organization'))} as "maxTtlMs",
           ${selectRangesOfLink(sql.raw('w.organization'), { type: sql.raw(`'teams'`), id: sql.raw('w.team') })} as "allowedRanges"
      from workload_identities w where ${isAccepting(id, issuer)}`);
