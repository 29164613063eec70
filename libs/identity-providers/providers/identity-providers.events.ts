import { z } from 'zod';
import { defineEvents, describeChangedAttributes, type EventKinds } from '#kernel';
import { PROVISIONING } from '#access/rules';
import { upcastChanges, upcastData } from '#json-api';
import type { IdentityProviderEvent } from './identity-provider.js';
import { PROVIDER_SETTINGS, type ProviderChanges, type ProviderSettings } from './provider-settings.js';

const settings = z.strictObject(PROVIDER_SETTINGS.shape);

const ofProvider = { resource: 'identity_provider', site: 'without-organization' } as const;

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
      schema: z.strictObject({ name: z.string() }),
      audit: { ...ofProvider, action: 'destroy', meta: ({ name }) => ({ name }) },
    },
  },
) satisfies EventKinds<IdentityProviderEvent>;
