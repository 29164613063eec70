import pg from 'pg';
import { sql, type Sql } from '#platform/kernel';
import {
  buildSessionSettings,
  buildStatementSettings,
  selectSettings,
  toStartupOptions,
  type ConnectionSettings,
} from './connection-settings.js';
import { rowTypes } from './row-types.js';
import { nameStatement, sendStatements } from './send-statements.js';
import type { OpenConnection } from './shared-connection.js';

/** What the statements of a connection have in common. */
export type ConnectionKind = {
  /** Milliseconds after which Postgres cancels a statement. */
  readonly statementMs: number;
  readonly settings?: ConnectionSettings;
  /** Runs once before the first statement. Behind a pooler, `ProcessPresence` runs it. */
  readonly setup?: Sql;
};

type ConnectorOptions = {
  readonly url: string;
  readonly poolerUrl?: string | null;
  readonly applicationName: string;
  readonly searchPath: string;
};

type ClientOptions = Pick<pg.ClientConfig, 'options' | 'query_timeout' | 'connectionString' | 'application_name'>;

/** Added to the statement's own limit for the network and for earlier statements on the connection. */
const CLIENT_TIMEOUT_MARGIN_MS = 5_000;

/**
 * Sessions of Postgres behind a pooler serve one process after the other, and keep the name of the last one. The name must
 * not begin with "cadastre ", because a rotation of keys finds processes by names that do.
 */
const POOLED_NAME = 'cadastre-pooled';

const PROBE = 'select name from pg_prepared_statements';

/** Opens connections to Postgres, directly or through a connection pooler. */
export class Connector {
  constructor(private readonly options: ConnectorOptions) {}

  /** Opens a connection for statements of requests. */
  async connect(onEnd: () => void, kind: ConnectionKind): Promise<OpenConnection> {
    const settings = { ...this.sessionSettings, ...buildStatementSettings(kind.statementMs), ...kind.settings };
    const query_timeout = kind.statementMs + CLIENT_TIMEOUT_MARGIN_MS;
    const { poolerUrl } = this.options;
    if (poolerUrl) return this.connectToPooler(onEnd, { connectionString: poolerUrl, query_timeout }, settings);
    const client = await this.open(onEnd, { query_timeout, options: toStartupOptions(settings) });
    return { client: await prepareClient(client, kind.setup) };
  }

  /** Opens a connection whose session nobody else uses. */
  async connectDirectly(onEnd: () => void, setup?: Sql): Promise<pg.Client> {
    if (!this.options.poolerUrl) {
      const options = toStartupOptions(this.sessionSettings);
      return prepareClient(await this.open(onEnd, { options }), setup);
    }
    // The direct address may lead to a pooler as well, which would refuse startup parameters.
    const client = await prepareClient(await this.open(onEnd, {}), selectSettings(this.sessionSettings, 'session'));
    return prepareClient(client, setup);
  }

  private get sessionSettings(): ConnectionSettings {
    return buildSessionSettings(this.options.searchPath);
  }

  /**
   * Poolers refuse startup parameters or do not pass them on, and each transaction may run in another session. So each
   * transaction begins with a statement that sets its parameters.
   */
  private async connectToPooler(
    onEnd: () => void,
    options: ClientOptions,
    settings: ConnectionSettings,
  ): Promise<OpenConnection> {
    const client = await this.open(onEnd, { ...options, application_name: POOLED_NAME });
    try {
      const mayPrepare = await doesPoolerPrepare(client);
      return { client, sending: { preamble: selectSettings(settings, 'transaction'), mayPrepare } };
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  private async open(onEnd: () => void, options: ClientOptions): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.url,
      application_name: this.options.applicationName,
      types: rowTypes,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      pipeline: true,
      ...options,
    });
    // Every query on a broken connection fails with the error. Here the connection only has to be replaced.
    client.on('error', onEnd);
    client.on('end', onEnd);
    await client.connect();
    return client;
  }
}

const prepareClient = async (client: pg.Client, setup: Sql | undefined): Promise<pg.Client> => {
  if (!setup) return client;
  await sendStatements(client, [setup]).catch(async (error: unknown) => {
    await client.end();
    throw error;
  });
  return client;
};

/**
 * Returns whether the pooler prepares a statement again in each session that a later use reaches, as PgBouncer does since
 * 1.21 with `max_prepared_statements`. Such a pooler gives statements names of its own.
 */
const doesPoolerPrepare = async (client: pg.Client): Promise<boolean> => {
  const [rows = []] = await sendStatements(client, [sql.raw(PROBE)]);
  return rows.length > 0 && !rows.some(({ name }) => name === nameStatement(PROBE));
};
