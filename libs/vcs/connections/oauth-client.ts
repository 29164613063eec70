import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  describeChangedAttributes,
  hasNoChanges,
  isSecureAddress,
  notFound,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization, READS } from '#api/access/rules';

const projects = z.array(z.string());

const settings = z.strictObject({
  name: z.string().nullable(),
  serviceProvider: z.string(),
  httpUrl: z.string(),
  apiUrl: z.string(),
  organizationScoped: z.boolean(),
  projects,
});

export type OauthClientSettings = Readonly<Omit<z.infer<typeof settings>, 'projects'>> & {
  /** Ids of the projects that may use the connection if `organizationScoped` is false. */
  readonly projects: readonly string[];
};

const changes = z.strictObject({
  name: z.string().nullable().exactOptional(),
  organizationScoped: z.boolean().exactOptional(),
  projects: projects.exactOptional(),
});

export type OauthClientChanges = Partial<Pick<OauthClientSettings, 'name' | 'organizationScoped' | 'projects'>>;

const clientName = z.strictObject({ name: z.string().nullable() });
const token = z.strictObject({ token: z.string() });
const live = inOrganization('oauth-clients', 'read-vcs-connections');
const onToken = { action: 'update', resource: 'oauth_token', id: ({ token: id }: { readonly token: string }) => id };

/**
 * A connection of an organization to a Git host, with the token of an account of the host. The vault stores the text of
 * the token under the token's id, and the SSH key under `toSshKeyId` of it. No event, state or document contains them.
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
    /** The account of the Git host is named by the host, and can be of a program. */
    OauthTokenCreated: {
      schema: z.strictObject({ token: z.string(), serviceProviderUser: z.string() }),
      audit: { unaudited: 'the catalogue has no such entry, and the entry of its OAuth client precedes it' },
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

/** Recorded reads. */
export const oauthTokenReads = defineEvents(
  { ...READS, audited: 'oauth_token' },
  {
    OauthTokensListed: {
      schema: z.strictObject({ organization: z.string(), count: z.int() }),
      audit: { action: 'index', id: ({ organization }) => organization, meta: ({ count }) => ({ count }) },
      ids: { refersTo: { organization: ['org'] } },
    },
    OauthTokenShown: {
      schema: token,
      audit: { action: 'show', id: ({ token: id }) => id },
      ids: { refersTo: { token: ['ot'] } },
    },
  },
);

export type OauthTokenRead = EventsOf<typeof oauthTokenReads>;

/** The token of a new connection. `user` is the name of its account at the Git host. */
export type NewOauthToken = { readonly id: string; readonly user: string };

export type OauthClientCommand =
  | Message<'CreateOauthClient', { settings: OauthClientSettings; token: NewOauthToken }>
  | Message<
      'UpdateOauthClient',
      {
        changes: OauthClientChanges;
        /** The token with its new text; null if the text does not change. */
        token: NewOauthToken | null;
      }
    >
  | Message<'ChangeClientProjects', { add: readonly string[]; remove: readonly string[] }>
  | Message<'DestroyOauthClient', Record<never, never>>
  | Message<'StoreTokenSshKey', { token: string }>
  | Message<'DestroyOauthToken', { token: string }>;

type ActiveOauthClient = OauthClientSettings & {
  readonly status: 'active';
  /** Id of its token; null after the token was destroyed. */
  readonly token: string | null;
};

type OauthClientState = { readonly status: 'absent' | 'deleted' } | ActiveOauthClient;

/** The most projects of a connection. */
const MAX_PROJECTS = 1_000;

const NAME_RULE = { most: 255 };

const checkClientName = (name: string | null | undefined): void => {
  if (name !== null && name !== undefined) checkName(name, NAME_RULE);
};

const checkAddress = (attribute: 'api-url' | 'http-url', label: string, url: string): void => {
  if (isSecureAddress(url)) return;
  throw unprocessable(
    `${label} must be an address that begins with https://, without user, password, query and fragment, got ${JSON.stringify(url)}`,
    attribute,
  );
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
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateOauthClient: ({ settings: input, token: created }, state) => {
      if (state.status !== 'absent') throw conflict('OAuth client exists already');
      checkNewClient(input);
      return [
        { type: 'OauthClientCreated', data: { ...input, projects: normalizeProjects(input.projects) } },
        { type: 'OauthTokenCreated', data: { token: created.id, serviceProviderUser: created.user } },
      ];
    },
    UpdateOauthClient: ({ changes: requested, token: replaced }, state) => {
      const before = requireActive(state);
      return [...update(before, requested), ...(replaced ? [replaceToken(before, replaced)] : [])];
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
    OauthClientCreated: (created) => ({ status: 'active', ...created, token: null }),
    OauthClientUpdated: ({ changes: changed }, state) => (state.status === 'active' ? { ...state, ...changed } : state),
    OauthClientDestroyed: () => ({ status: 'deleted' }),
    OauthTokenCreated: ({ token: id }, state) => (state.status === 'active' ? { ...state, token: id } : state),
    OauthTokenReplaced: (_, state) => state,
    OauthTokenSshKeyStored: (_, state) => state,
    OauthTokenDestroyed: (_, state) => (state.status === 'active' ? { ...state, token: null } : state),
  },
};

/** Throws 422 for settings that no connection can have, with all problems. */
export const checkNewClient = ({ name, apiUrl, httpUrl }: OauthClientSettings): void =>
  runAllChecks(
    () => checkClientName(name),
    () => checkAddress('api-url', 'Api url', apiUrl),
    () => checkAddress('http-url', 'Http url', httpUrl),
  );

/** A connection that has lost its token gets a new one. */
const replaceToken = ({ token: existing }: ActiveOauthClient, { id, user }: NewOauthToken): OauthClientEvent => ({
  type: existing === null ? 'OauthTokenCreated' : 'OauthTokenReplaced',
  data: { token: existing ?? id, serviceProviderUser: user },
});
