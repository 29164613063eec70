import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Modules that this number of files share are one file. With 55, the list of workspaces is larger than 200 kB. */
const FILES_WITH_COMMON_MODULES = 58;

/** The running server for `npm run dev:console`. */
const SERVER = process.env['CADASTRE_URL'] ?? 'https://localhost:8443';

/**
 * The build of the web console. For development, `npm run dev:console` serves the sources and passes all other requests to a
 * running server.
 */
export default defineConfig({
  root: resolvePath('.'),
  base: '/app/',
  server: {
    // The certificate of a server for development is one of its own. It accepts changes from its own pages only.
    proxy: { '^/(?!app(?:/|$))': { target: SERVER, secure: false, headers: { origin: SERVER } } },
  },
  // `#packages/client` then means its TypeScript source.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    outDir: resolvePath('../../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    // Tests count the bytes of the first view with it.
    manifest: 'manifest.json',
    // One file, of which Mantine is nine tenths.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Otherwise a screen needs 50 files. Modules that fewer files share would make the first view larger.
      output: { codeSplitting: { groups: [{ name: 'common', minShareCount: FILES_WITH_COMMON_MODULES }] } },
      onLog: (level, log, defaultHandler) => {
        // React's directive for servers means nothing in a browser.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') defaultHandler(level, log);
      },
    },
  },
});
