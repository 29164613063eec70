import { defineConfig } from 'vitest/config';

const workers = new URL('./test/support/typescript-workers.ts', import.meta.url).href;

export default defineConfig({
  // Specs see the sources: `#…` of package.json by the condition that tsconfig.json names too.
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    include: ['{libs,apps,test}/**/*.spec.ts'],
    globalSetup: ['./test/support/global-setup.ts'],
    // On a machine that is busy with other things, too; a broker may have to be fetched first.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Two cores are the least that the suites are run on; Postgres and Kafka want one of them.
    maxWorkers: 2,
    // Threads that the product starts run the sources too.
    execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning', '--import', workers],
    // A worker loads Nest, pg and the house once, not anew for each of its files: a quarter of the time of all (ADR 27).
    isolate: false,
    // The rest is said of each file; what fails is said once more at the end.
    slowTestThreshold: 10_000,
  },
});
