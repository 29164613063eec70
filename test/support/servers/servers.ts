/** A real Postgres, for many databases. */
export type TestPostgres = {
  /** As its administrator. */
  readonly url: string;
  stop(): Promise<void>;
};

/** A real broker of one node, for tests that need one. */
export type TestKafka = {
  readonly brokers: readonly string[];
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** After `kill`: the same port, the same data. Resolves when it answers. */
  restart(): Promise<void>;
  /** Stops it for good and removes its data. */
  stop(): Promise<void>;
};

/** One way to get the servers that tests need: embedded.ts or containers.ts. */
export type Servers = {
  /** Starts a Postgres that may keep its data in the folder, which does not exist yet. */
  startPostgres(folder: string): Promise<TestPostgres>;
  /** Resolves when the broker answers an admin client. */
  startKafka(): Promise<TestKafka>;
};
