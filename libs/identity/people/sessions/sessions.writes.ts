import { sql, type Clock, type EventContext, type Ids, type Sql, type Timestamp } from '#platform/kernel';
import {
  buildSnapshotJson,
  decideWrite,
  expectVersion,
  newStream,
  raiseConflictWhen,
  selectStreamVersions,
  type EventStore,
  type StreamVersion,
  type StreamWrite,
} from '#storage/event-store';
import { hashSecret, toSessionCredential, type Assurance } from '#api/access';
import { session, type SessionEndReason, type SignInMethod } from './session.js';
import {
  loadPersonWithSessions,
  selectActiveOrganizations,
  type OwnedSession,
  type PersonWithSessions,
} from './sessions.view.js';

/** The most sessions of a person. The next sign-in ends the oldest ones. */
export const MAX_SESSIONS = 50;

const HOUR_MS = 3_600_000;

export type SignInDependencies = {
  readonly store: EventStore;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Hours after which a session ends, whether or not it is used. */
  readonly sessionHours: number;
};

/** How a person has proved who they are. */
export type SignIn = {
  readonly user: string;
  readonly method: SignInMethod;
  readonly assurance: Assurance;
  /** Id of the identity provider, and its own id of the session; null for other methods. */
  readonly provider?: string | null;
  readonly providerSession?: string | null;
  /** When the person authenticated at the provider; null if it is unknown, and for other methods. */
  readonly authenticatedAt?: Timestamp | null;
  /** When the session must end at the latest; null if only the settings of this server limit it. */
  readonly sessionEnd?: Timestamp | null;
  /** Whether the person has not signed in with this browser before. Default: false. */
  readonly newBrowser?: boolean;
};

/** A session with the secret for its cookie, which is returned once and never stored. */
export type StartedSession = { readonly id: string; readonly secret: string; readonly expiredAt: Timestamp };

type PersonSigningIn = PersonWithSessions & { readonly preconditions: readonly StreamVersion[] };

/** Loads the person with their oldest sessions, as many as must end so that one more fits. */
const loadPersonSigningIn = (store: EventStore, user: string): Promise<PersonSigningIn | undefined> =>
  store.database.row<PersonSigningIn>(sql`
    select u.id, u.username, ${selectActiveOrganizations(sql.raw('u.id'))} as organizations,
           ${selectStreamVersions(sql.raw('array[u.id]'))} as preconditions,
           coalesce((select jsonb_agg(jsonb_build_object('id', old.id, 'snapshot', ${buildSnapshotJson('its')}))
                       from (select id from sessions where user_id = u.id order by created_at desc, id
                              offset ${MAX_SESSIONS - 1}) old
                       join event_store.streams its on its.stream = old.id), '[]') as sessions
      from users u where u.id = ${user} and not u.suspended`);

/**
 * Starts a session of a person who has proved who they are. `createContext` gets the person. Returns null if the
 * person does not exist any more or is suspended.
 */
export const startSession = (
  { store, ids, clock, sessionHours }: SignInDependencies,
  signIn: SignIn,
  createContext: (person: { readonly id: string; readonly username: string }) => EventContext,
): Promise<StartedSession | null> =>
  store.retryOnConflict(async () => {
    const person = await loadPersonSigningIn(store, signIn.user);
    if (!person) return null;
    const { username, organizations } = person;
    const now = clock.now();
    const id = ids.next('ses');
    const secret = ids.secret();
    const longest = new Date(now.getTime() + sessionHours * HOUR_MS).toISOString();
    const { sessionEnd } = signIn;
    const expiredAt = sessionEnd && sessionEnd < longest ? sessionEnd : longest;
    const start = { ...NO_PROVIDER, newBrowser: false, ...signIn, username, organizations, expiredAt };
    await store.append(
      [
        ...person.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        ...(await prepareSessionEnds(store, person, 'replaced')),
        decideWrite(session, newStream(id, session), null, { type: 'StartSession', data: start }),
      ],
      createContext(person),
      [sql`insert into access.token_hashes (token, hash) values (${id}, ${hashSecret(toSessionCredential(secret))})`],
      [],
      now,
    );
    return { id, secret, expiredAt };
  });

const NO_PROVIDER = { provider: null, providerSession: null, authenticatedAt: null } as const;

/** Returns the writes that end sessions of a person, which were read with `selectOwnedSessions`. */
export const prepareSessionEnds = (
  store: EventStore,
  { username, organizations, sessions }: Pick<PersonWithSessions, 'username' | 'organizations' | 'sessions'>,
  reason: SessionEndReason,
): Promise<StreamWrite[]> =>
  Promise.all(
    sessions.map(async ({ id, snapshot }: OwnedSession) =>
      decideWrite(session, await store.restore(id, session, snapshot), null, {
        type: 'EndSession',
        data: { username, organizations, reason },
      }),
    ),
  );

/** Fails an append that must leave the person without sessions if another session was started in between. */
export const refuseRemainingSessions = (user: string): Sql =>
  raiseConflictWhen(sql`exists (select 1 from sessions where user_id = ${user})`);

/**
 * Ends the sessions of a person that satisfy a condition on `session`, for example `session.id <> …`. Returns their
 * number.
 */
export const endSessions = (
  store: EventStore,
  { user, where, reason }: { readonly user: string; readonly where: Sql; readonly reason: SessionEndReason },
  context: EventContext,
): Promise<number> =>
  store.retryOnConflict(async () => {
    const person = await loadPersonWithSessions(store.database, sql`${user}`, where);
    if (!person || person.sessions.length === 0) return 0;
    await store.append(await prepareSessionEnds(store, person, reason), context);
    return person.sessions.length;
  });
