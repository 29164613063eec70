import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const resolvePath = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Modules that this part of the screens need are in one file. With a quarter, lists need 20 files instead of 14, of the same size. */
const PART_OF_SCREENS = 1 / 8;

const SCREEN = '.screen.tsx';
const SOURCES = resolvePath('src/');
const screenCount = globSync(`${SOURCES}**/*${SCREEN}`).length;

type ModuleInfos = { readonly getModuleInfo: (id: string) => { readonly importers: readonly string[] } | null };

/** Returns the screens that cannot be shown without a module. Dialogs, which are loaded when they open, do not count. */
const findScreens = (id: string, infos: ModuleInfos, visited = new Set<string>()): readonly string[] => {
  if (visited.has(id)) return [];
  visited.add(id);
  if (id.endsWith(SCREEN)) return [id];
  return (infos.getModuleInfo(id)?.importers ?? []).flatMap((importer) => findScreens(importer, infos, visited));
};

/**
 * The file of a module and of all that it imports. Only for own modules: the index of Mantine imports all of Mantine, so that
 * each of its modules would look like one that all screens need.
 */
const nameCommonFile = (id: string, infos: ModuleInfos): string | null =>
  id.startsWith(SOURCES) && findScreens(id, infos).length >= screenCount * PART_OF_SCREENS ? 'common' : null;

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
      output: {
        codeSplitting: {
          // Otherwise a screen needs 50 files.
          groups: [
            { name: nameCommonFile, debugName: 'common', priority: 1 },
            // They are loaded after the first view, several at a time.
            { name: 'charts', test: /src\/charts\//, includeDependenciesRecursively: false },
          ],
        },
      },
      onLog: (level, log, defaultHandler) => {
        // React's directive for servers means nothing in a browser.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') defaultHandler(level, log);
      },
    },
  },
});
