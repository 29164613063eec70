/** A real broker of one node, for tests that need one. */
export type TestKafka = {
  readonly brokers: readonly string[];
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** After `kill`: the same port, the same data. Resolves when it answers. */
  restart(): Promise<void>;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
};
