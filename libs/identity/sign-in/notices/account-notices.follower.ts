import { sql, type RecordedEvent, type Sql, type Timestamp } from '#platform/kernel';
import type { Follower } from '#storage/event-store';
import { ACTOR_TYPE } from '#api/access/rules';
import { ACCESS_CHANGES, ACCOUNT_CHANGES, METHOD_CHANGES } from './account-changes.js';

type NewNotice = {
  readonly id: string;
  readonly user: string;
  readonly type: string;
  readonly stream: string;
  readonly version: number;
  readonly time: Timestamp;
};

type TokenCreated = {
  readonly kind: string;
  readonly owner: string;
  readonly createdBy: { readonly type: string; readonly id: string } | null;
};
type SessionStarted = { readonly user: string; readonly newBrowser: boolean };

/** Returns the person who must notice the event; null if nobody must. */
const findConcernedUser = ({ type, data }: RecordedEvent): string | null => {
  const [TOKEN_CREATED, SESSION_STARTED] = ACCESS_CHANGES;
  if (type === TOKEN_CREATED) {
    const { kind, owner, createdBy } = data as TokenCreated;
    if (kind === 'user') return owner;
    return createdBy?.type === ACTOR_TYPE.user ? createdBy.id : null;
  }
  if (type === SESSION_STARTED) {
    const { user, newBrowser } = data as SessionStarted;
    return newBrowser ? user : null;
  }
  return METHOD_CHANGES.some((one) => one === type) ? (data as { readonly user: string }).user : null;
};

const toNotice = (event: RecordedEvent): NewNotice | null => {
  const user = findConcernedUser(event);
  const { id, type, stream, version, time } = event;
  return user === null ? null : { id, user, type, stream, version, time };
};

const insertNotices = (notices: readonly NewNotice[]): Sql => sql`
  insert into sign_in.account_notices (id, user_id, type, stream, version, created_at)
  select id, "user", type, stream, version, time
    from jsonb_to_recordset(${sql.json(notices)}::jsonb)
         as list (id text, "user" text, type text, stream text, version bigint, time timestamptz)
   order by id
  on conflict (id) do nothing`;

/** Stores a notice for each event that a person must notice. The job sends the mails. */
export const accountNoticesFollower: Follower = {
  name: 'account_notices',
  batch: 500,
  only: ACCOUNT_CHANGES,
  // Rows contain ids of people, and no texts.
  keepEncrypted: true,
  tables: [],
  follow: (events) => {
    const notices = events.flatMap((event) => toNotice(event) ?? []);
    return Promise.resolve(notices.length === 0 ? [] : [insertNotices(notices)]);
  },
};
