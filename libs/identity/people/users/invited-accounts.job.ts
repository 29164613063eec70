import { sql, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { endInvitedAccount } from './invited-accounts.writes.js';

const EVERY_MS = 60_000;
const MAX_ACCOUNTS_PER_STEP = 100;

const HAS_NO_INVITATION = sql.raw('not exists (select 1 from organization_memberships m where m.user_id = u.id)');

/**
 * Ends accounts that only an invitation has created, when the last invitation was revoked or its organization deleted.
 * Another job then erases their names.
 */
export const createInvitedAccountsJob = ({
  store,
  ids,
}: {
  readonly store: EventStore;
  readonly ids: Ids;
}): ScheduledJob => ({
  name: 'invited_accounts',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    while (!signal.aborted) {
      const accounts = await store.database.rows<{ id: string }>(sql`
        select u.id from users u where u.only_invited and ${HAS_NO_INVITATION} order by u.id limit ${MAX_ACCOUNTS_PER_STEP}`);
      let ended = 0;
      for (const { id } of accounts) {
        const context = createSystemContext('invitations', ids.uuid());
        if (await endInvitedAccount(store, id, context, HAS_NO_INVITATION)) ended += 1;
      }
      // The next step does not select accounts that somebody has used in the meantime.
      if (ended > 0) done(ended);
      if (accounts.length < MAX_ACCOUNTS_PER_STEP) return;
    }
  },
});
