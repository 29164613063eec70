import { toAttributes, type Resource } from '#json-api';
import type { IdentityProviderRow } from './identity-providers.queries.js';
import { SETTINGS_PROVIDER_ID } from './provider-directory.service.js';

/** The page to which every provider sends people back. Administrators register it at the provider. */
export const CALLBACK_PATH = '/sign-in/oidc/callback';

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
    'callback-url': `${publicUrl}${CALLBACK_PATH}`,
    'back-channel-logout-url': `${publicUrl}/sign-in/oidc/${id}/back-channel-logout`,
  },
  links: { self: `/api/v2/admin/identity-providers/${id}` },
});
