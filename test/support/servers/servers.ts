/**
 * Settings of the tests' Postgres. Nobody needs its data after the tests. 300 HTTP tests sync 4,300 times, which takes
 * most of their time on a slow disk. The specs of crashes run the product, whose Postgres syncs as usual.
 */
export const WITHOUT_SYNCS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } as const;

/** A real Postgres with many databases. */
type TestPostgres = {
  /** URL of its administrator. */
  readonly url: string;
  stop(): Promise<void>;
};

/** A real broker of one node. */
export type TestKafka = {
  readonly brokers: readonly string[];
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Starts the broker again after `kill`, with the same port and data. Resolves when it is ready. */
  restart(): Promise<void>;
  /** Stops the broker and removes its data. */
  stop(): Promise<void>;
};

/** The servers of the tests: embedded.ts, containers.ts or system.ts. */
export type Servers = {
  /** Starts a Postgres that may store its data in the folder, which does not exist yet. */
  startPostgres(folder: string): Promise<TestPostgres>;
  /** Resolves when the broker answers an admin client. */
  startKafka(): Promise<TestKafka>;
};
