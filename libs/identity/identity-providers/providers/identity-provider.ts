import { z } from 'zod';
import {
  conflict,
  defineEvents,
  describeChangedAttributes,
  hasNoChanges,
  pickChanged,
  requireActive,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { PROVISIONING } from '#api/access/rules';
import { upcastChanges, upcastData, optionalMembers } from '#api/json-api/rules';
import {
  checkProviderSettings,
  checkUsable,
  normalizeProviderChanges,
  PROVIDER_SETTINGS,
  SAML_DEFAULTS,
  type ProviderChanges,
  type ProviderSettings,
} from '../protocol/provider-settings.js';

type NewProvider = ProviderChanges & Pick<ProviderSettings, 'name' | 'issuer' | 'clientId'>;

const ISSUER_NEEDS_SECRET =
  'Client secret must be sent with another issuer: the secret of the new client, or null if it has none';

const PROTOCOL_STAYS = 'protocol: cannot be changed. Create another identity provider';

const settings = z.strictObject(PROVIDER_SETTINGS.shape);

const ofSaml = { resource: 'saml_configuration', site: 'without-organization' } as const;
const nameOnly = z.strictObject({ name: z.string() });
const nameOf = ({ name }: { readonly name: string }) => ({ name });

const ofProvider = { resource: 'identity_provider', site: 'without-organization' } as const;

/**
 * A server that signs people in by OpenID Connect or by SAML. Each protocol has events of its own.
 *
 *   absent ──create──► active ──delete──► deleted
 *
 * Events say only that the client's secret was replaced. The vault stores it.
 */
export const identityProviderEvents = defineEvents(
  { ...PROVISIONING, stream: 'idp' },
  {
    IdentityProviderCreated: {
      schemaVersion: PROVIDER_SETTINGS.version,
      upcast: upcastData(PROVIDER_SETTINGS),
      schema: settings satisfies z.ZodType<ProviderSettings>,
      audit: { ...ofProvider, action: 'create', meta: ({ name, issuer }) => ({ name, issuer }) },
    },
    IdentityProviderUpdated: {
      schemaVersion: PROVIDER_SETTINGS.version,
      upcast: upcastChanges(PROVIDER_SETTINGS),
      schema: z.strictObject({
        changes: optionalMembers(settings),
        secretReplaced: z.boolean(),
      }),
      audit: {
        ...ofProvider,
        action: 'update',
        meta: ({ changes, secretReplaced }) => ({
          ...describeChangedAttributes(changes),
          secret_replaced: secretReplaced,
        }),
      },
    },
    IdentityProviderDeleted: {
      schema: nameOnly,
      audit: { ...ofProvider, action: 'destroy', meta: nameOf },
    },
    SamlConfigurationCreated: {
      schemaVersion: PROVIDER_SETTINGS.version,
      upcast: upcastData(PROVIDER_SETTINGS),
      schema: settings satisfies z.ZodType<ProviderSettings>,
      audit: { ...ofSaml, action: 'create', meta: ({ name, issuer }) => ({ name, issuer }) },
    },
    SamlConfigurationUpdated: {
      schemaVersion: PROVIDER_SETTINGS.version,
      upcast: upcastChanges(PROVIDER_SETTINGS),
      schema: z.strictObject({ changes: optionalMembers(settings) }),
      audit: { ...ofSaml, action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
    },
    SamlConfigurationEnabled: { schema: nameOnly, audit: { ...ofSaml, action: 'enable', meta: nameOf } },
    SamlConfigurationDisabled: { schema: nameOnly, audit: { ...ofSaml, action: 'disable', meta: nameOf } },
    SamlConfigurationDestroyed: { schema: nameOnly, audit: { ...ofSaml, action: 'destroy', meta: nameOf } },
  },
);

export type IdentityProviderEvent = EventsOf<typeof identityProviderEvents>;

type IdentityProviderCommand =
  | Message<'CreateIdentityProvider', NewProvider>
  | Message<'UpdateIdentityProvider', { changes: ProviderChanges; secretReplaced: boolean }>
  | Message<'DeleteIdentityProvider', Record<never, never>>;

type IdentityProviderState =
  { readonly status: 'absent' | 'deleted' } | (ProviderSettings & { readonly status: 'active' });

/** Enabling and disabling are facts of their own, because the audit trail names them so. */
const listSamlChanges = (name: string, { enabled, ...others }: ProviderChanges): IdentityProviderEvent[] => [
  ...(hasNoChanges(others) ? [] : [{ type: 'SamlConfigurationUpdated', data: { changes: others } } as const]),
  ...(enabled === undefined
    ? []
    : [{ type: enabled ? 'SamlConfigurationEnabled' : 'SamlConfigurationDisabled', data: { name } } as const]),
];

const change = (state: IdentityProviderState, changes: ProviderChanges): IdentityProviderState =>
  state.status === 'active' ? { ...state, ...changes } : state;

export const identityProvider: Decider<IdentityProviderState, IdentityProviderCommand, IdentityProviderEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateIdentityProvider: ({ name, issuer, clientId, protocol = 'oidc', ...others }, state) => {
      if (state.status !== 'absent') throw conflict('Identity provider exists already');
      checkProviderSettings({ ...others, name, issuer, clientId }, protocol);
      const defaults = { ...PROVIDER_SETTINGS.initial, ...(protocol === 'saml' ? SAML_DEFAULTS : {}) };
      const data = { ...defaults, ...normalizeProviderChanges(others), name, issuer, clientId, protocol };
      checkUsable(data);
      return [{ type: protocol === 'saml' ? 'SamlConfigurationCreated' : 'IdentityProviderCreated', data }];
    },
    UpdateIdentityProvider: ({ changes, secretReplaced }, state) => {
      const present = requireActive(state);
      const changed = pickChanged(present, normalizeProviderChanges(changes));
      if (changed.protocol !== undefined) throw unprocessable(PROTOCOL_STAYS, 'protocol');
      checkProviderSettings(changed, present.protocol);
      checkUsable({ ...present, ...changed });
      if (present.protocol === 'saml') return listSamlChanges(changed.name ?? present.name, changed);
      // The server sends the secret to the issuer, and the secret of one provider must not reach another.
      const keepsSecret = present.hasClientSecret && !secretReplaced && changed.hasClientSecret !== false;
      if (changed.issuer !== undefined && keepsSecret) throw unprocessable(ISSUER_NEEDS_SECRET, 'client-secret');
      if (hasNoChanges(changed) && !secretReplaced) return [];
      return [{ type: 'IdentityProviderUpdated', data: { changes: changed, secretReplaced } }];
    },
    DeleteIdentityProvider: (_, state) => {
      const { name, protocol } = requireActive(state);
      return [{ type: protocol === 'saml' ? 'SamlConfigurationDestroyed' : 'IdentityProviderDeleted', data: { name } }];
    },
  },
  evolve: {
    IdentityProviderCreated: (created) => ({ status: 'active', ...created }),
    IdentityProviderUpdated: ({ changes }, state) => change(state, changes),
    IdentityProviderDeleted: () => ({ status: 'deleted' }),
    SamlConfigurationCreated: (created) => ({ status: 'active', ...created }),
    SamlConfigurationUpdated: ({ changes }, state) => change(state, changes),
    SamlConfigurationEnabled: (_, state) => change(state, { enabled: true }),
    SamlConfigurationDisabled: (_, state) => change(state, { enabled: false }),
    SamlConfigurationDestroyed: () => ({ status: 'deleted' }),
  },
};
