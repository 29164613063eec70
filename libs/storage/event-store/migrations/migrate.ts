import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { EncryptionKeys } from '#platform/encryption';
import {
  checkEncryptionKey,
  MissingPreviousKeyError,
  recordEncryptionKey,
  WrongEncryptionKeyError,
  type KeyCheck,
} from '../keys/encryption-key.js';
import { findForeignMigrations, type ForeignMigrations, type ModuleMigrations } from './migration-order.js';
import type { ModuleDefinition } from '../module-definition.js';

/** Thrown if the server runs an older Postgres than Cadastre supports. */
export class UnsupportedPostgresError extends Error {
  constructor(version: number) {
    super(
      `the server runs Postgres ${Math.floor(version / 10_000)}, and Cadastre needs ${OLDEST_POSTGRES} or later; ` +
        'upgrade the server or use another one',
    );
    this.name = 'PostgresTooOld';
  }
}

/** Cadastre is tested with 18. 14 is the first version that supports all statements. */
export const OLDEST_POSTGRES = 14;

/** Throws if the version is too old. `version` is as in `server_version_num`, for example 180001. */
export const requirePostgresVersion = (version: number): void => {
  if (version < OLDEST_POSTGRES * 10_000) throw new UnsupportedPostgresError(version);
};

/** Thrown if the database contains no tables of Cadastre, and the caller may not create them. */
export class MissingSiteError extends Error {
  constructor() {
    super('the database holds no site');
    this.name = 'NoSite';
  }
}

type MigrateOptions = {
  /** Without keys, none is checked or recorded. For tests that create many databases. */
  readonly encryptionKeys?: EncryptionKeys;
  /** If false, throws MissingSiteError instead of creating the tables in an empty database. */
  readonly mayInitialise?: boolean;
};

export type MigrationResult = {
  /** Names of the migrations that ran. */
  readonly migrations: readonly string[];
  /** Number of values in the database that the encryption key cannot decrypt. */
  readonly undecryptable: number;
};

/**
 * Migrates the database: the tables of this module first, then those of each module in the listed order. Migrations are
 * forward-only SQL files, and each module numbers its own. Those of a module run in one transaction. If two processes
 * start at the same time, one waits for the other.
 *
 * Throws WrongEncryptionKeyError or MissingPreviousKeyError before any change if a key of the database is not configured,
 * and ForeignMigrations if it ran other migrations. Afterwards `encryptionKeys.writing` is the key of new values.
 */
export const migrate = async (
  url: string,
  definitions: readonly ModuleDefinition[],
  { encryptionKeys, mayInitialise = true }: MigrateOptions = {},
): Promise<MigrationResult> => {
  const client = new pg.Client({ connectionString: url, application_name: 'cadastre migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    requirePostgresVersion(await readServerVersion(client));
    if (!mayInitialise && !(await hasTables(client))) throw new MissingSiteError();
    const keyCheck = encryptionKeys ? await checkEncryptionKey(client, encryptionKeys, definitions) : null;
    const modules = await readMigrations(client, definitions);
    const foreign = findForeignMigrations(modules);
    if (foreign) throw foreign;
    const migrations = pendingIn(modules).length > 0 ? await runMigrations(client, definitions) : [];
    if (keyCheck?.isRecorded === false) await recordEncryptionKey(client, keyCheck.writing);
    if (keyCheck) encryptionKeys?.adopt(keyCheck);
    return { migrations, undecryptable: keyCheck?.undecryptable ?? 0 };
  } finally {
    await client.end();
  }
};

/**
 * Reads which key encrypts new values, for a process beside one that has migrated the database. Throws like `migrate` if
 * a key of the database is not configured.
 */
export const adoptEncryptionKeys = async (
  url: string,
  definitions: readonly ModuleDefinition[],
  encryptionKeys: EncryptionKeys,
): Promise<void> => {
  const client = new pg.Client({ connectionString: url, application_name: 'cadastre migrate' });
  await client.connect();
  try {
    encryptionKeys.adopt(await checkEncryptionKey(client, encryptionKeys, definitions));
  } finally {
    await client.end();
  }
};

const runMigrations = async (client: pg.Client, definitions: readonly ModuleDefinition[]): Promise<string[]> => {
  // The library takes 4 MB of memory, and most starts have nothing to migrate.
  const { runner } = await import('node-pg-migrate');
  const migrations: string[] = [];
  for (const [name, folder] of [OWN_FOLDER, ...listMigrationFolders(definitions)]) {
    const done = await runner({
      dbClient: client,
      dir: fileURLToPath(folder),
      direction: 'up',
      migrationsSchema: 'migrations',
      createMigrationsSchema: true,
      migrationsTable: name,
      noLock: true,
      // Processes of the previous release append meanwhile. They must not see the tables between two migrations.
      singleTransaction: true,
      // findForeignMigrations has checked the order, and permits the row of a generation.
      checkOrder: false,
      log: () => undefined,
    });
    migrations.push(...done.map((migration) => migration.name));
  }
  return migrations;
};

const readServerVersion = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::integer as version`,
  );
  return rows[0]?.version ?? 0;
};

const hasTables = async (client: pg.Client): Promise<boolean> => {
  const { rowCount } = await client.query(`select where to_regclass('event_store.events') is not null`);
  return rowCount === 1;
};

const LOCK = 7_311_640_105;

const OWN_FOLDER: [string, URL] = ['event_store', new URL('../sql/', import.meta.url)];

const listMigrationFolders = (definitions: readonly ModuleDefinition[]): [string, URL][] =>
  definitions.flatMap(({ name, migrations }) =>
    migrations ? [[name.replaceAll('-', '_'), migrations] as [string, URL]] : [],
  );

/** Facts about a database that `doctor` reports. Reading them changes nothing. */
export type DatabaseState = {
  /** As in `server_version_num`, for example 180001. */
  readonly version: number;
  readonly missingExtensions: readonly string[];
  /** Names of migrations that have not run yet. */
  readonly pending: readonly string[];
  readonly foreign: ForeignMigrations | null;
  readonly hasSite: boolean;
  readonly clock: Date;
  /** Null if the database is encrypted with another key; 'previous missing' if a rotation needs the previous key. */
  readonly key: KeyCheck | 'previous missing' | null;
};

const EXTENSIONS = ['pg_trgm', 'btree_gin'];

export const inspectDatabase = async (
  url: string,
  definitions: readonly ModuleDefinition[],
  encryptionKeys: EncryptionKeys,
): Promise<DatabaseState> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'cadastre doctor',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ extensions: string[]; clock: Date }>(
      'select clock_timestamp() as clock, array(select extname::text from pg_extension) as extensions',
    );
    const [{ extensions, clock } = { extensions: [], clock: new Date(0) }] = rows;
    const modules = await readMigrations(client, definitions);
    return {
      version: await readServerVersion(client),
      clock,
      missingExtensions: EXTENSIONS.filter((name) => !extensions.includes(name)),
      hasSite: await hasTables(client),
      pending: pendingIn(modules),
      foreign: findForeignMigrations(modules),
      key: await checkEncryptionKey(client, encryptionKeys, definitions).catch((error: unknown) => {
        if (error instanceof MissingPreviousKeyError) return 'previous missing' as const;
        if (error instanceof WrongEncryptionKeyError) return null;
        throw error;
      }),
    };
  } finally {
    await client.end();
  }
};

const readMigrations = async (
  client: pg.Client,
  definitions: readonly ModuleDefinition[],
): Promise<readonly ModuleMigrations[]> => {
  const modules: ModuleMigrations[] = [];
  for (const [name, folder] of [OWN_FOLDER, ...listMigrationFolders(definitions)]) {
    const table = await client.query(`select where to_regclass($1) is not null`, [`migrations.${name}`]);
    const { rows } =
      table.rowCount === 1
        ? await client.query<{ name: string }>(`select name from migrations.${name} order by run_on, id`)
        : { rows: [] };
    const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
    modules.push({
      module: name,
      files: files.map((file) => file.replace(/\.sql$/, '')),
      ran: rows.map((row) => row.name),
    });
  }
  return modules;
};

const pendingIn = (modules: readonly ModuleMigrations[]): readonly string[] =>
  modules.flatMap(({ files, ran }) => files.filter((file) => !ran.includes(file)));
