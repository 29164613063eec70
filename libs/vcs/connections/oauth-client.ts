import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  describeChangedAttributes,
  hasNoChanges,
  notFound,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';
import { checkAddress, checkApiServer } from './connection-addresses.js';

const projects = z.array(z.string());

const settings = z.strictObject({
  name: z.string().nullable(),
  serviceProvider: z.string(),
  httpUrl: z.string(),
  apiUrl: z.string(),
  organizationScoped: z.boolean(),
  projects,
  key: z.string().exactOptional(),
});

export type OauthClientSettings = Readonly<Omit<z.infer<typeof settings>, 'projects'>> & {
  /** Ids of the projects that may use the connection if `organizationScoped` is false. */
  readonly projects: readonly string[];
  /** The client id of an OAuth application of the host. Absent: the connection has an access token of an account. */
  readonly key?: string;
};

const changes = z.strictObject({
  name: z.string().nullable().exactOptional(),
  organizationScoped: z.boolean().exactOptional(),
  projects: projects.exactOptional(),
  key: z.string().exactOptional(),
});

export type OauthClientChanges = Partial<Pick<OauthClientSettings, 'name' | 'organizationScoped' | 'projects' | 'key'>>;

const clientName = z.strictObject({ name: z.string().nullable() });
const token = z.strictObject({ token: z.string() });
const live = inOrganization('oauth-clients', 'read-vcs-connections');
const onToken = { action: 'update', resource: 'oauth_token', id: ({ token: id }: { readonly token: string }) => id };

/**
 * A connection of an organization to a Git host, with the token of an account of the host. The vault stores the text of
 * the token under the token's id, and the SSH key under `toSshKeyId` of it. A connection with a key gets its token in the
 * browser; the vault stores its secret. No event, state or document contains them.
 *
 *   absent ──create──► active ──destroy──► deleted
 */
export const oauthClientEvents = defineEvents(
  { topic: 'oauth-clients', stream: 'oc', audited: 'oauth_client', live },
  {
    OauthClientCreated: {
      schema: settings,
      audit: {
        action: 'create',
        meta: ({ name, serviceProvider, httpUrl }) => ({ name, service_provider: serviceProvider, http_url: httpUrl }),
      },
      live: 'created',
      ids: { refersTo: { 'projects[]': ['prj'] } },
    },
    OauthClientUpdated: {
      schema: z.strictObject({ changes }),
      audit: { action: 'update', meta: ({ changes: changed }) => describeChangedAttributes(changed) },
      live: 'changed',
      ids: { refersTo: { 'changes.projects[]': ['prj'] } },
    },
    OauthClientDestroyed: {
      schema: clientName,
      audit: { action: 'destroy', meta: ({ name }) => ({ name }) },
      live: 'deleted',
    },
    /** The token with which a client is created. The account of the Git host is named by the host, and can be of a program. */
    OauthTokenCreated: {
      schema: z.strictObject({ token: z.string(), serviceProviderUser: z.string() }),
      audit: { unaudited: 'the catalogue has no such entry, and the entry of its OAuth client precedes it' },
      live: 'changed',
      ids: { creates: { token: 'ot' } },
    },
    /** The token of a connection that had none: authorized in the browser, or stored after its token was destroyed. */
    OauthTokenAdded: {
      schema: z.strictObject({ token: z.string(), serviceProviderUser: z.string() }),
      audit: { ...onToken, action: 'create' },
      live: 'changed',
      ids: { creates: { token: 'ot' } },
    },
    /** Another text of the token, perhaps of another account. */
    OauthTokenReplaced: {
      schema: z.strictObject({ token: z.string(), serviceProviderUser: z.string() }),
      audit: { ...onToken, meta: () => ({ change: 'value' }) },
      live: 'changed',
      ids: { refersTo: { token: ['ot'] } },
    },
    /** Another secret of the OAuth application. */
    OauthClientSecretReplaced: {
      schema: z.strictObject({}),
      audit: { action: 'update', meta: () => ({ change: 'secret' }) },
      live: 'changed',
    },
    /** The Git host refuses the token: somebody has revoked it, or it has expired. */
    OauthTokenRefused: {
      schema: token,
      audit: { unaudited: 'the catalogue has no such entry, and nobody has changed anything here' },
      live: 'changed',
      ids: { refersTo: { token: ['ot'] } },
    },
    /** The Git host accepts a token again that it has refused. */
    OauthTokenAccepted: {
      schema: token,
      audit: { unaudited: 'the catalogue has no such entry, and nobody has changed anything here' },
      live: 'changed',
      ids: { refersTo: { token: ['ot'] } },
    },
    OauthTokenSshKeyStored: {
      schema: token,
      audit: { ...onToken, meta: () => ({ change: 'ssh-key' }) },
      live: 'changed',
      ids: { refersTo: { token: ['ot'] } },
    },
    OauthTokenDestroyed: {
      schema: token,
      audit: { ...onToken, action: 'destroy' },
      live: 'changed',
      ids: { refersTo: { token: ['ot'] } },
    },
  },
);

export type OauthClientEvent = EventsOf<typeof oauthClientEvents>;

/** The token of a new connection. `user` is the name of its account at the Git host. */
export type NewOauthToken = { readonly id: string; readonly user: string };

export type OauthClientCommand =
  /** `token`: null for a connection that gets its token in the browser. */
  | Message<'CreateOauthClient', { settings: OauthClientSettings; token: NewOauthToken | null }>
  | Message<
      'UpdateOauthClient',
      {
        changes: OauthClientChanges;
        /** The token with its new text; null if the text does not change. */
        token: NewOauthToken | null;
        replacesSecret: boolean;
      }
    >
  /** The browser of a person has brought a token of the host. */
  | Message<'AuthorizeOauthClient', { token: NewOauthToken }>
  /** `isCurrent`: whether the answer is about the present text of the token. */
  | Message<'RecordTokenAnswer', { token: string; isAccepted: boolean; isCurrent: boolean }>
  | Message<'ChangeClientProjects', { add: readonly string[]; remove: readonly string[] }>
  | Message<'DestroyOauthClient', Record<never, never>>
  | Message<'StoreTokenSshKey', { token: string }>
  | Message<'DestroyOauthToken', { token: string }>;

type ActiveOauthClient = OauthClientSettings & {
  readonly status: 'active';
  /** Id of its token; null after the token was destroyed. */
  readonly token: string | null;
  /** Whether the host refuses the token. */
  readonly isRefused: boolean;
};

type OauthClientState = { readonly status: 'absent' | 'deleted' } | ActiveOauthClient;

/** The most projects of a connection. */
const MAX_PROJECTS = 1_000;

const NAME_RULE = { most: 255 };

const checkClientName = (name: string | null | undefined): void => {
  if (name !== null && name !== undefined) checkName(name, NAME_RULE);
};

const normalizeProjects = (ids: readonly string[]): string[] => {
  const sorted = [...new Set(ids)].toSorted();
  if (sorted.length <= MAX_PROJECTS) return sorted;
  throw unprocessable(`Projects must be at most ${MAX_PROJECTS}, got ${sorted.length}`, '/data/relationships/projects');
};

/** Throws 422 unless the text may be an SSH key. Clients search for the words of the refusal. */
export const checkSshKey = (text: string): void => {
  if (/^-----BEGIN (?:[A-Z0-9]+ )?PRIVATE KEY-----/.test(text.trim())) return;
  throw unprocessable('Ssh key is invalid: it must be a private key in PEM format', 'ssh-key');
};

const changeActive = (state: OauthClientState, changed: Partial<ActiveOauthClient>): OauthClientState =>
  state.status === 'active' ? { ...state, ...changed } : state;

const requireToken = (state: OauthClientState, id: string): void => {
  if (requireActive(state).token !== id) throw notFound();
};

const update = (before: ActiveOauthClient, requested: OauthClientChanges): readonly OauthClientEvent[] => {
  const changed = pickChanged(before, {
    ...requested,
    ...(requested.projects && { projects: normalizeProjects(requested.projects) }),
  });
  checkClientName(changed.name);
  return hasNoChanges(changed) ? [] : [{ type: 'OauthClientUpdated', data: { changes: changed } }];
};

export const oauthClient: Decider<OauthClientState, OauthClientCommand, OauthClientEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateOauthClient: ({ settings: input, token: created }, state) => {
      if (state.status !== 'absent') throw conflict('OAuth client exists already');
      checkNewClient(input);
      return [
        { type: 'OauthClientCreated', data: { ...input, projects: normalizeProjects(input.projects) } },
        ...(created
          ? [{ type: 'OauthTokenCreated', data: { token: created.id, serviceProviderUser: created.user } } as const]
          : []),
      ];
    },
    UpdateOauthClient: ({ changes: requested, token: replaced, replacesSecret }, state) => {
      const before = requireActive(state);
      if (before.key === undefined && (replacesSecret || requested.key !== undefined))
        throw unprocessable('Key and secret can only replace those of a connection that was created with both', 'key');
      return [
        ...update(before, requested),
        ...(replacesSecret ? [{ type: 'OauthClientSecretReplaced', data: {} } as const] : []),
        ...(replaced ? [replaceToken(before, replaced)] : []),
      ];
    },
    AuthorizeOauthClient: ({ token: granted }, state) => [replaceToken(requireActive(state), granted)],
    RecordTokenAnswer: ({ token: id, isAccepted, isCurrent }, state) => {
      if (!isCurrent || state.status !== 'active' || state.token !== id || state.isRefused === !isAccepted) return [];
      return [{ type: isAccepted ? 'OauthTokenAccepted' : 'OauthTokenRefused', data: { token: id } }];
    },
    ChangeClientProjects: ({ add, remove }, state) => {
      const before = requireActive(state);
      const remaining = before.projects.filter((id) => !remove.includes(id));
      return update(before, { projects: [...remaining, ...add] });
    },
    StoreTokenSshKey: ({ token: id }, state) => {
      requireToken(state, id);
      return [{ type: 'OauthTokenSshKeyStored', data: { token: id } }];
    },
    DestroyOauthToken: ({ token: id }, state) => {
      requireToken(state, id);
      return [{ type: 'OauthTokenDestroyed', data: { token: id } }];
    },
    DestroyOauthClient: (_, state) => {
      const { name, token: id } = requireActive(state);
      return [
        ...(id === null ? [] : [{ type: 'OauthTokenDestroyed', data: { token: id } } as const]),
        { type: 'OauthClientDestroyed', data: { name } },
      ];
    },
  },
  evolve: {
    OauthClientCreated: (created) => ({ status: 'active', ...created, token: null, isRefused: false }),
    OauthClientUpdated: ({ changes: changed }, state) => changeActive(state, changed),
    OauthClientDestroyed: () => ({ status: 'deleted' }),
    OauthClientSecretReplaced: (_, state) => state,
    OauthTokenCreated: ({ token: id }, state) => changeActive(state, { token: id, isRefused: false }),
    OauthTokenAdded: ({ token: id }, state) => changeActive(state, { token: id, isRefused: false }),
    OauthTokenReplaced: (_, state) => changeActive(state, { isRefused: false }),
    OauthTokenRefused: (_, state) => changeActive(state, { isRefused: true }),
    OauthTokenAccepted: (_, state) => changeActive(state, { isRefused: false }),
    OauthTokenSshKeyStored: (_, state) => state,
    OauthTokenDestroyed: (_, state) => changeActive(state, { token: null, isRefused: false }),
  },
};

/** Throws 422 for settings that no connection can have, with all problems. */
export const checkNewClient = ({ name, apiUrl, httpUrl, key }: OauthClientSettings): void =>
  runAllChecks(
    () => checkClientName(name),
    () => checkAddress('api-url', 'Api url', apiUrl),
    () => checkAddress('http-url', 'Http url', httpUrl),
    () => checkApiServer({ apiUrl, httpUrl, key: key ?? null }),
  );

/** A connection that has lost its token gets a new one. */
const replaceToken = ({ token: existing }: ActiveOauthClient, { id, user }: NewOauthToken): OauthClientEvent => ({
  type: existing === null ? 'OauthTokenAdded' : 'OauthTokenReplaced',
  data: { token: existing ?? id, serviceProviderUser: user },
});
