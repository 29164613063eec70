import { z } from 'zod';
import {
  defineEvents,
  hasNoChanges,
  pickChanged,
  toAttributeName,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';

/** A site has one list of settings. */
export const GENERAL_SETTINGS_STREAM = 'gset-site';

const settingsSchema = z.strictObject({
  /** Null: as the server is configured. */
  apiRateLimitingEnabled: z.boolean().nullable(),
  /** Requests per second for each token; null: as the server is configured. */
  apiRateLimit: z.int().nullable(),
  /** The longest time of a plan, such as `2h`; null: the default of the server. */
  planTimeout: z.string().nullable(),
  applyTimeout: z.string().nullable(),
  /** Whether executors of the site serve organizations in turn. */
  fairRunQueuingEnabled: z.boolean(),
});
export type GeneralSettings = Readonly<z.infer<typeof settingsSchema>>;

export const DEFAULT_GENERAL_SETTINGS: GeneralSettings = {
  apiRateLimitingEnabled: null,
  apiRateLimit: null,
  planTimeout: null,
  applyTimeout: null,
  fairRunQueuingEnabled: true,
};

export const generalSettingsEvents = defineEvents(
  {
    topic: 'organizations',
    stream: 'gset',
    audited: 'general_settings',
    live: { unsent: 'an event of the site' },
    notImported: 'the settings belong to a site',
  },
  {
    GeneralSettingsChanged: {
      schema: z.strictObject({
        settings: settingsSchema,
        /** Names of the changed settings. */
        changed: z.array(z.string()),
      }),
      audit: {
        site: 'without-organization',
        action: 'update',
        meta: ({ changed, settings }) => ({
          attributes: Object.fromEntries(
            changed.map((name) => [toAttributeName(name), settings[name as keyof GeneralSettings] ?? null]),
          ),
        }),
      },
    },
  },
);

export type GeneralSettingsEvent = EventsOf<typeof generalSettingsEvents>;

export type GeneralSettingsChanges = Partial<GeneralSettings>;

type GeneralSettingsCommand = Message<'ChangeGeneralSettings', { changes: GeneralSettingsChanges }>;

type GeneralSettingsState = { readonly settings: GeneralSettings };

export const generalSettings: Decider<GeneralSettingsState, GeneralSettingsCommand, GeneralSettingsEvent> = {
  version: 1,
  initial: { settings: DEFAULT_GENERAL_SETTINGS },
  decide: {
    ChangeGeneralSettings: ({ changes }, { settings }) => {
      const changed = pickChanged(settings, changes);
      if (hasNoChanges(changed)) return [];
      const data = { settings: { ...settings, ...changed }, changed: Object.keys(changed) };
      return [{ type: 'GeneralSettingsChanged', data }];
    },
  },
  evolve: {
    GeneralSettingsChanged: ({ settings }) => ({ settings }),
  },
};
