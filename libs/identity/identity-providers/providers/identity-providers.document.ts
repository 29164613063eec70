import { toAttributes, type Resource } from '#api/json-api';
import type { ProviderSettings } from '../protocol/provider-settings.js';
import type { IdentityProviderRow } from './identity-providers.view.js';
import { SETTINGS_PROVIDER_ID } from './provider-directory.service.js';

/**
 * Returns the page to which a provider sends people back. Administrators register it at the provider. Each provider has
 * one of its own: a malicious provider could otherwise pass on the code of another one (RFC 9700 §4.4.2.2).
 */
export const getCallbackPath = (id: string): string => `/sign-in/oidc/${id}/callback`;

/** As `getCallbackPath`, for a provider with SAML. */
export const getAssertionPath = (id: string): string => `/sign-in/saml/${id}/acs`;

/** Returns the page to which a provider with SAML sends people back after they have signed out there. */
export const getSamlLogoutPath = (id: string): string => `/sign-in/saml/${id}/logout`;

export const getServiceMetadataPath = (id: string): string => `/sign-in/saml/${id}/metadata`;

/** Injection token of the address of the site, without a slash at its end. */
export const PUBLIC_URL = 'cadastre:identity-providers-public-url';

const renderAddresses = (id: string, { protocol }: ProviderSettings, publicUrl: string) =>
  protocol === 'saml'
    ? {
        'callback-url': `${publicUrl}${getAssertionPath(id)}`,
        'back-channel-logout-url': null,
        'metadata-url': `${publicUrl}${getServiceMetadataPath(id)}`,
      }
    : {
        'callback-url': `${publicUrl}${getCallbackPath(id)}`,
        'back-channel-logout-url': `${publicUrl}/oauth/back-channel-logout/${id}`,
        'metadata-url': null,
      };

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
    ...renderAddresses(id, settings, publicUrl),
  },
  links: { self: `/api/v2/admin/identity-providers/${id}` },
});
