import { conflict, hasNoChanges, pickChanged, requireActive, unprocessable, type Decider, type Message } from '#kernel';
import {
  checkProviderSettings,
  normalizeProviderChanges,
  PROVIDER_SETTINGS,
  type ProviderChanges,
  type ProviderSettings,
} from './provider-settings.js';

type NewProvider = ProviderChanges & Pick<ProviderSettings, 'name' | 'issuer' | 'clientId'>;

const ISSUER_NEEDS_SECRET =
  'Client secret must be sent with another issuer: the secret of the new client, or null if it has none';

/**
 * A server that signs people in by OpenID Connect.
 *
 *   absent ──create──► active ──delete──► deleted
 *
 * Events say only that the client's secret was replaced. The vault stores it.
 */
export type IdentityProviderEvent =
  | Message<'IdentityProviderCreated', ProviderSettings>
  | Message<'IdentityProviderUpdated', { changes: ProviderChanges; secretReplaced: boolean }>
  | Message<'IdentityProviderDeleted', { name: string }>;

export type IdentityProviderCommand =
  | Message<'CreateIdentityProvider', NewProvider>
  | Message<'UpdateIdentityProvider', { changes: ProviderChanges; secretReplaced: boolean }>
  | Message<'DeleteIdentityProvider', Record<never, never>>;

export type IdentityProviderState =
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
