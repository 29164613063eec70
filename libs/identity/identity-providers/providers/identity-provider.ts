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
  normalizeProviderChanges,
  PROVIDER_SETTINGS,
  type ProviderChanges,
  type ProviderSettings,
} from '../protocol/provider-settings.js';

type NewProvider = ProviderChanges & Pick<ProviderSettings, 'name' | 'issuer' | 'clientId'>;

const ISSUER_NEEDS_SECRET =
  'Client secret must be sent with another issuer: the secret of the new client, or null if it has none';

const settings = z.strictObject(PROVIDER_SETTINGS.shape);

const ofProvider = { resource: 'identity_provider', site: 'without-organization' } as const;

/**
 * A server that signs people in by OpenID Connect.
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
      schema: z.strictObject({ name: z.string() }),
      audit: { ...ofProvider, action: 'destroy', meta: ({ name }) => ({ name }) },
    },
  },
);

export type IdentityProviderEvent = EventsOf<typeof identityProviderEvents>;

type IdentityProviderCommand =
  | Message<'CreateIdentityProvider', NewProvider>
  | Message<'UpdateIdentityProvider', { changes: ProviderChanges; secretReplaced: boolean }>
  | Message<'DeleteIdentityProvider', Record<never, never>>;

type IdentityProviderState =
  { readonly status: 'absent' | 'deleted' } | (ProviderSettings & { readonly status: 'active' });

export const identityProvider: Decider<IdentityProviderState, IdentityProviderCommand, IdentityProviderEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateIdentityProvider: ({ name, issuer, clientId, ...others }, state) => {
      if (state.status !== 'absent') throw conflict('Identity provider exists already');
      checkProviderSettings({ ...others, name, issuer, clientId });
      const data = { ...PROVIDER_SETTINGS.initial, ...normalizeProviderChanges(others), name, issuer, clientId };
      return [{ type: 'IdentityProviderCreated', data }];
    },
    UpdateIdentityProvider: ({ changes, secretReplaced }, state) => {
      const present = requireActive(state);
      const changed = pickChanged(present, normalizeProviderChanges(changes));
      checkProviderSettings(changed);
      // The server sends the secret to the issuer, and the secret of one provider must not reach another.
      const keepsSecret = present.hasClientSecret && !secretReplaced && changed.hasClientSecret !== false;
      if (changed.issuer !== undefined && keepsSecret) throw unprocessable(ISSUER_NEEDS_SECRET, 'client-secret');
      if (hasNoChanges(changed) && !secretReplaced) return [];
      return [{ type: 'IdentityProviderUpdated', data: { changes: changed, secretReplaced } }];
    },
    DeleteIdentityProvider: (_, state) => [
      { type: 'IdentityProviderDeleted', data: { name: requireActive(state).name } },
    ],
  },
  evolve: {
    IdentityProviderCreated: (settings) => ({ status: 'active', ...settings }),
    IdentityProviderUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    IdentityProviderDeleted: () => ({ status: 'deleted' }),
  },
};
