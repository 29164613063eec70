import { sql, type Sql } from '#kernel';
import type { Identity } from '#access';

/**
 * Whether the account stays hidden from the caller. Until a person accepts, an invitation shows nothing of the person but
 * the typed address, not even whether an account existed before. The person and administrators of the site see the account.
 */
export const isAccountHidden = (actor: Identity, membership: 'm' | 'ou'): Sql =>
  actor.siteAdmin
    ? sql.raw('false')
    : sql`(${sql.raw(membership)}.status = 'invited' and ${sql.raw(membership)}.user_id <> ${actor.id})`;

/** Stands for a hidden account: clients need the id of a user. It follows from the membership and opens nothing. */
export const HIDDEN_ID = {
  m: sql.raw(`'user-' || substr(m.id, 4)`),
  ou: sql.raw(`'user-' || substr(ou.id, 4)`),
} as const;

/** The id of the member's account, or the id that stands for it, of rows `tm` of team_members with their memberships `ou`. */
export const selectVisibleMemberId = (actor: Identity): Sql =>
  sql`case when ${isAccountHidden(actor, 'ou')} then ${HIDDEN_ID.ou} else tm.user_id end`;

/** The address that the membership of the user `u` was invited by. */
export const selectInvitationAddress = (membership: 'm' | 'ou'): Sql =>
  sql.raw(`coalesce(${membership}.email, u.email)`);

/** The invitation of the user `u`, as events describe it: null if the membership is active, or missing as in old logs. */
export const selectInvitation = (membership: 'm' | 'ou'): Sql => sql`
  case when ${sql.raw(membership)}.status = 'invited'
       then jsonb_build_object('membership', ${sql.raw(membership)}.id, 'email', ${selectInvitationAddress(membership)}) end`;
