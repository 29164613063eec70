import { z } from 'zod';
import { describeChangedAttributes, type EventKinds } from '#kernel';
import { upcastChanges, upcastData } from '#json-api';
import type { IdentityProviderEvent } from './identity-provider.js';
import { PROVIDER_SETTINGS, type ProviderChanges, type ProviderSettings } from './provider-settings.js';

const settings = z.strictObject(PROVIDER_SETTINGS.shape);

const ofProvider = { resource: 'identity_provider', site: 'without-organization' } as const;

export const identityProviderEvents: EventKinds<IdentityProviderEvent> = {
  IdentityProviderCreated: {
    schemaVersion: PROVIDER_SETTINGS.version,
    topic: 'access',
    upcast: upcastData(PROVIDER_SETTINGS),
    schema: settings satisfies z.ZodType<ProviderSettings>,
    audit: { ...ofProvider, action: 'create', meta: ({ name, issuer }) => ({ name, issuer }) },
  },
  IdentityProviderUpdated: {
    schemaVersion: PROVIDER_SETTINGS.version,
    upcast: upcastChanges(PROVIDER_SETTINGS),
    topic: 'access',
    schema: z.strictObject({
      changes: settings.partial() as unknown as z.ZodType<ProviderChanges>,
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
    schemaVersion: 1,
    topic: 'access',
    schema: z.strictObject({ name: z.string() }),
    audit: { ...ofProvider, action: 'destroy', meta: ({ name }) => ({ name }) },
  },
};
