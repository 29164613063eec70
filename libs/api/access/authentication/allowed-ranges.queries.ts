import { sql, type Sql } from '#platform/kernel';
import { createAddressMatcher } from './address-ranges.js';
import { createAddressRefusal } from '../permissions/permissions.js';

/** Expressions for the organization, for whether the caller is an agent or a run, and for its agent pool. */
type RestrictedCaller = { readonly organization: Sql; readonly isAgent: Sql; readonly pool: Sql };

/**
 * Returns an expression for the enabled ranges of the IP allowlists that restrict the caller, as `text[]`. Null if none
 * restricts it. Lists of organizations do not restrict pools of the site, whose addresses only the site's operator knows:
 * an organization can opt out of these pools.
 */
export const selectAllowedRanges = ({ organization, isAgent, pool }: RestrictedCaller): Sql => sql`(
  select array_agg(r.range) from ip_allowlists l join ip_allowlist_ranges r on r.list = l.id and r.enabled
   where l.organization = ${organization}
     and case when ${isAgent} then ${pool} = any (l.agent_pools) or l.enforcement_scope = 'all_agent_pools'
                and not exists (select 1 from agent_pools site where site.id = ${pool} and site.organization is null)
              else l.enforcement_scope = 'organization' end)`;

/** Expressions for the JSON:API type and the id of a caller. */
type RecipientSql = { readonly type: Sql; readonly id: Sql };

/**
 * Returns an expression for the ranges from which the organization accepts requests with a signed link, as `text[]`: the
 * ranges for the caller that the link was made for. Null if nothing restricts it.
 */
export const selectRangesOfLink = (organization: Sql, { type, id }: RecipientSql): Sql => {
  // Only agents request tokens of runs.
  const pool = sql`case ${type} when 'agent-pools' then ${id} else (
    select max(t.created_by) from authentication_tokens t where t.kind = 'run' and t.owner = ${id}) end`;
  const ranges = selectAllowedRanges({ organization, isAgent: sql`${type} in ('agent-pools', 'runs')`, pool });
  return sql`case when not exists (select from users where id = ${id} and site_admin) then ${ranges} end`;
};

/** Returns whether the ranges of `selectRangesOfLink` contain the address of a client. */
export const isAddressAllowed = (ranges: readonly string[] | null, address: string | null): boolean =>
  ranges === null || createAddressMatcher(ranges)(address ?? '');

/** Throws the refusal of the address if the ranges of `selectRangesOfLink` do not contain it. */
export const requireAddressOfLink = (ranges: readonly string[] | null, address: string | null): void => {
  if (!isAddressAllowed(ranges, address)) throw createAddressRefusal(address);
};
