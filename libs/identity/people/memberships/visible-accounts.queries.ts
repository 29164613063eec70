import { sql, type Sql } from '#platform/kernel';
import type { Identity } from '#api/access';

/**
 * Returns a condition: the account is hidden from the caller. Until a person accepts, an invitation shows only the
 * typed address and not whether an account existed before. The person and site administrators see the account.
 */
export const isAccountHidden = (actor: Identity, membership: 'm' | 'ou'): Sql =>
  actor.siteAdmin
    ? sql.raw('false')
    : sql`(${sql.raw(membership)}.status = 'invited' and ${sql.raw(membership)}.user_id <> ${actor.id})`;

/**
 * The id that replaces the id of a hidden account, because clients need the id of a user. It is derived from the
 * membership and belongs to no account.
 */
export const HIDDEN_ID = {
  m: sql.raw(`'user-' || substr(m.id, 4)`),
  ou: sql.raw(`'user-' || substr(ou.id, 4)`),
} as const;

/**
 * Returns the id of the member's account, or the replacement if the account is hidden, for rows `tm` of team_members
 * with their memberships `ou`.
 */
export const selectVisibleMemberId = (actor: Identity): Sql =>
  sql`case when ${isAccountHidden(actor, 'ou')} then ${HIDDEN_ID.ou} else tm.user_id end`;

/** Returns the address that the user `u` was invited with. */
export const selectInvitationAddress = (membership: 'm' | 'ou'): Sql =>
  sql.raw(`coalesce(${membership}.email, u.email)`);

/**
 * Returns the invitation of the user `u` as events describe it: null if the membership is active, or missing as in old
 * logs.
 */
export const selectInvitation = (membership: 'm' | 'ou'): Sql => sql`
  case when ${sql.raw(membership)}.status = 'invited'
       then jsonb_build_object('membership', ${sql.raw(membership)}.id, 'email', ${selectInvitationAddress(membership)}) end`;
