import { toAttributes, type Resource } from '#api/json-api';
import type { IdentityProviderRow } from './identity-providers.view.js';
import { SETTINGS_PROVIDER_ID } from './provider-directory.service.js';

/**
 * Returns the page to which a provider sends people back. Administrators register it at the provider. Each provider has
 * one of its own: a malicious provider could otherwise pass on the code of another one (RFC 9700 §4.4.2.2).
 */
export const getCallbackPath = (id: string): string => `/sign-in/oidc/${id}/callback`;

/** Renders a provider without its client's secret, which is in no response. */
export const renderIdentityProvider = (
  { id, settings, createdAt }: IdentityProviderRow,
  publicUrl: string,
): Resource => ({
  id,
  type: 'identity-providers',
  attributes: {
    ...toAttributes(settings),
    'created-at': createdAt,
    source: id === SETTINGS_PROVIDER_ID ? 'settings' : 'api',
    'callback-url': `${publicUrl}${getCallbackPath(id)}`,
    'back-channel-logout-url': `${publicUrl}/oauth/back-channel-logout/${id}`,
  },
  links: { self: `/api/v2/admin/identity-providers/${id}` },
});
