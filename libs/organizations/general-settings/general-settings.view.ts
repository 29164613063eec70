import { sql, type Projection } from '#platform/kernel';
import { requireCurrentAccess, requireSiteAdmin, type Actor } from '#api/access';
import { buildSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import {
  DEFAULT_GENERAL_SETTINGS,
  GENERAL_SETTINGS_STREAM,
  type GeneralSettings,
  type GeneralSettingsEvent,
} from './general-settings.js';

export const generalSettingsView: Projection<GeneralSettingsEvent> = {
  name: 'general_settings',
  version: 1,
  tables: ['general_settings'],
  on: {
    GeneralSettingsChanged: ({ settings }) => sql`
      insert into general_settings (id, settings) values (${GENERAL_SETTINGS_STREAM}, ${sql.json(settings)})
      on conflict (id) do update set settings = excluded.settings`,
  },
};

const SELECT_SETTINGS = sql.raw(`(select g.settings from general_settings g)`);

/** Whether executors of the site serve organizations in turn, as an expression. */
export const SELECT_IS_FAIR = sql.raw(
  `coalesce((select (g.settings ->> 'fairRunQueuingEnabled')::boolean from general_settings g), true)`,
);

/** The longest times of both phases as a column of a statement, for the row `o` of an organization, which can have its own. */
export const SELECT_TIME_LIMITS = sql.raw(`(
  select jsonb_build_object(
    'plan', coalesce(o.settings ->> 'planTimeout', max(g.settings ->> 'planTimeout')),
    'apply', coalesce(o.settings ->> 'applyTimeout', max(g.settings ->> 'applyTimeout')))
    from general_settings g)`);

/** Returns the settings, for the server itself. */
export const readGeneralSettings = async (database: Database): Promise<GeneralSettings> => {
  const row = await database.row<{ readonly settings: GeneralSettings }>(sql`select settings from general_settings`);
  return row?.settings ?? DEFAULT_GENERAL_SETTINGS;
};

type GeneralSettingsRow = { readonly settings: GeneralSettings | null; readonly snapshot: StreamSnapshot | null };

/** Returns the settings with their stream. Throws the refusal of the permission table. */
export const loadGeneralSettings = async (database: Database, actor: Actor) => {
  await requireSiteAdmin(database, actor);
  const row = await database.row<GeneralSettingsRow>(sql`
    select ${SELECT_SETTINGS} as settings, case when s.stream is not null then ${buildSnapshotJson('s')} end as snapshot
      from (select 1 where ${requireCurrentAccess(actor)}) allowed
      left join event_store.streams s on s.stream = ${GENERAL_SETTINGS_STREAM}`);
  return {
    id: GENERAL_SETTINGS_STREAM,
    organization: null,
    settings: row?.settings ?? DEFAULT_GENERAL_SETTINGS,
    snapshot: row?.snapshot ?? null,
  };
};
