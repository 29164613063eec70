import { sql, type Sql } from '#platform/kernel';
import { defineRelated, type RelatedResources } from '#api/json-api';
import type { Identity } from '#api/access';
import { renderTeam } from './teams/teams.document.js';
import { isVisibleTeam, selectVisibleTeams, type TeamDetailsRow } from './teams/teams.queries.js';
import { renderUser } from './users/users.document.js';
import { isVisibleUser, ORGANIZATIONS, type VisibleUserRow } from './users/users.queries.js';

/**
 * Selects the teams that the caller sees, organizations and agent pools. Clients know their tokens as service accounts.
 */
const selectServiceAccounts = (actor: Identity): Sql => sql`
  select t.name, t.organization from teams t where t.id = named.id and ${isVisibleTeam(actor)}
  union all select o.name, o.id from organizations o where o.id = named.id
  union all select ap.name, ap.organization from agent_pools ap where ap.id = named.id`;

type AccountRow = VisibleUserRow & { readonly isServiceAccount: boolean };

/** Returns the users and service accounts with these ids that the caller may see. */
export const selectRelatedUsers = (ids: Sql, actor: Identity): RelatedResources =>
  defineRelated<AccountRow>(
    sql`select named.id, coalesce(u.username, account.name) as username, u.email, u.unconfirmed_email as "unconfirmedEmail",
               coalesce(u.site_admin, false) as "siteAdmin", coalesce(u.suspended, false) as suspended, u.id is null as "isServiceAccount",
               case when u.id is null then array[account.organization] else ${ORGANIZATIONS} end as organizations
          from (select distinct id from unnest(${ids}) as id) named
          left join users u on u.id = named.id
          left join lateral (${selectServiceAccounts(actor)}) account on true
         where u.id is not null or account.organization is not null order by named.id`,
    (rows) =>
      rows.filter((row) => isVisibleUser(actor, row)).map((row) => renderUser(row, actor, row.isServiceAccount)),
  );

/** Returns the teams with these ids that the caller sees. */
export const selectRelatedTeams = (ids: Sql, actor: Identity): RelatedResources =>
  defineRelated<TeamDetailsRow>(selectVisibleTeams(ids, actor), (rows) => rows.map((row) => renderTeam(row, actor)));
