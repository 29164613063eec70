import type { ModuleDefinition } from '#storage/event-store';

/** The module has no events of its own: people records the tokens. */
export const oauthDefinition: ModuleDefinition = {
  name: 'oauth',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [{ table: 'oauth.authorization_codes', backup: 'empty', because: 'codes end after a minute' }],
};
