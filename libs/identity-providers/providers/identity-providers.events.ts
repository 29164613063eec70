import { z } from 'zod';
import type { EventKinds } from '#kernel';
import { upcastChanges, upcastData } from '#json-api';
import type { IdentityProviderEvent } from './identity-provider.js';
import { PROVIDER_SETTINGS, type ProviderChanges, type ProviderSettings } from './provider-settings.js';

const settings = z.strictObject(PROVIDER_SETTINGS.shape);

const SITE_EVENT = { unaudited: 'an identity provider belongs to the site, and a trail to an organization' } as const;

export const identityProviderEvents: EventKinds<IdentityProviderEvent> = {
  IdentityProviderCreated: {
    schemaVersion: PROVIDER_SETTINGS.version,
    topic: 'access',
    upcast: upcastData(PROVIDER_SETTINGS),
    schema: settings satisfies z.ZodType<ProviderSettings>,
    audit: SITE_EVENT,
  },
  IdentityProviderUpdated: {
    schemaVersion: PROVIDER_SETTINGS.version,
    upcast: upcastChanges(PROVIDER_SETTINGS),
    topic: 'access',
    schema: z.strictObject({
      changes: settings.partial() as unknown as z.ZodType<ProviderChanges>,
      secretReplaced: z.boolean(),
    }),
    audit: SITE_EVENT,
  },
  IdentityProviderDeleted: {
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ name: z.string() }),
    audit: SITE_EVENT,
  },
};
