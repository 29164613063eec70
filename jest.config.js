const support = '<rootDir>/test/support/jest';

/** @type {import('jest').Config} */
export default {
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // A process for many files, without `vm` contexts: it loads Nest, pg and the application once (ADR 27).
  runner: `${support}/runner.js`,
  // Postgres and Kafka need a part of two cores, the least that the tests are run on.
  maxWorkers: 2,
  // Compiles the sources and the tests, and starts a Postgres for each worker.
  globalSetup: `${support}/global-setup.ts`,
  globalTeardown: `${support}/global-teardown.ts`,
  // A worker runs what was compiled, so Jest transforms nothing.
  transform: {},
  setupFiles: [`${support}/resolve-compiled.ts`],
  setupFilesAfterEnv: [`${support}/circus-rules.ts`, `${support}/record-rows.ts`],
  reporters: ['default', `${support}/slow-tests.ts`, `${support}/row-types.ts`, `${support}/watchdog.ts`],
  // Seconds. Jest prints the time of a slower file in red.
  slowTestThreshold: 30,
  // How long each file took, so that the longest start first.
  cacheDirectory: '<rootDir>/.cache/jest',
  watchman: false,
};
