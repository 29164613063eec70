import { sql, type Sql } from '#platform/kernel';

/** A person who can get e-mails. */
export type MailRecipient = { readonly id: string; readonly email: string };

/**
 * Returns a condition on a row `u` of users: an active member of the organization. Members of its teams without a
 * membership, as in old logs, count as active.
 */
const isActiveMember = (organization: Sql): Sql => sql`(
  exists (select 1 from organization_memberships am
           where am.user_id = u.id and am.organization = ${organization} and am.status = 'active')
  or (exists (select 1 from team_members tm join teams mt on mt.id = tm.team
               where tm.user_id = u.id and mt.organization = ${organization})
      and not exists (select 1 from organization_memberships im
                       where im.user_id = u.id and im.organization = ${organization})))`;

/** Returns an expression for the ids among `users` of active members of the organization, as a sorted array. */
export const selectActiveMembersAmong = (users: Sql, organization: Sql): Sql => sql`
  array(select u.id from users u where u.id = any (${users}) and ${isActiveMember(organization)} order by u.id)`;

type RecipientChoice = {
  readonly organization: Sql;
  /** An array of ids. If it is empty, all members of the team are chosen. */
  readonly users: Sql;
  /** An id, which need not be the id of a team. */
  readonly team: Sql;
  /** The most recipients that are returned. */
  readonly most: number;
};

/**
 * Returns an expression for a list of MailRecipient as jsonb: active members of the organization that are not suspended and
 * have an address. The addresses are those of the present.
 */
export const selectMailRecipients = ({ organization, users, team, most }: RecipientChoice): Sql => sql`
  (select coalesce(jsonb_agg(jsonb_build_object('id', recipient.id, 'email', recipient.email) order by recipient.id), '[]')
     from (select u.id, u.email from users u
            where u.id = any (case when cardinality(${users}) > 0 then ${users}
                                   else array(select chosen.user_id from team_members chosen where chosen.team = ${team}) end)
              and not u.suspended and u.email is not null and ${isActiveMember(organization)}
            order by u.id limit ${most}) recipient)`;
