import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The build of the web console. For development, `npm run dev:console` serves the sources and passes API requests to a
 * running server.
 */
export default defineConfig({
  root: resolvePath('.'),
  base: '/app/',
  // `#client` then means its TypeScript source.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: resolvePath('../../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // Tests count the bytes of the first view with it.
    manifest: 'manifest.json',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog: (level, log, defaultHandler) => {
        // React's directive for servers means nothing in a browser.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') defaultHandler(level, log);
      },
    },
  },
});
