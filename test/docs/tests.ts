import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { MatrixRow } from '../matrix/matrix.js';
import { ROOT } from '../support/folders.js';

const MATRIX_ROWS = 'test/matrix/rows';

/** Folders with specs of the whole product. Files beside the specs contain paths of requests too. */
const PRODUCT_TESTS = ['test/cli', 'test/e2e', 'test/faults'];

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(ROOT, folder), { withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ name }) => `${folder}/${name}`)
    .toSorted();

const PATH =
  /\/api\/v2(?:\/(?:\$?\{[^{}]*\}|[\w.%-])+)+|\/(?:healthz|readyz|metrics|\.well-known\/terraform\.json)(?![\w./-])/g;

/** Returns whether a text in a test is this path. A value may replace a parameter, but no other segment. */
const isPath = (written: string, path: string): boolean => {
  const [words, segments] = [written.split('/'), path.split('/')];
  return (
    words.length === segments.length &&
    segments.every((segment, index) => segment.startsWith(':') || segment === words[index])
  );
};

type Naming = { readonly file: string; readonly written: readonly string[] };

/** Returns the paths of the API that the files of these folders contain. */
const namingsIn = async (folders: readonly string[]): Promise<Naming[]> => {
  const files = (await Promise.all(folders.map(filesIn))).flat();
  return Promise.all(
    files.map(async (file) => ({
      file,
      written: [...new Set((await readFile(join(ROOT, file), 'utf8')).match(PATH) ?? [])],
    })),
  );
};

const specsIn = async (folder: string): Promise<Naming[]> =>
  (await namingsIn([folder])).filter(({ file }) => file.endsWith('.spec.ts'));

const rowFiles = async (): Promise<ReadonlyMap<MatrixRow, string>> => {
  const files = (await filesIn(MATRIX_ROWS)).filter((file) => !file.endsWith('/index.ts'));
  const rowsOfFiles = files.map(async (file) => {
    const exported = Object.values((await import(`../../${file.replace(/ts$/, 'js')}`)) as object);
    return exported
      .flatMap((rows) => (Array.isArray(rows) ? (rows as MatrixRow[]) : []))
      .map((row) => [row, file] as const);
  });
  return new Map((await Promise.all(rowsOfFiles)).flat());
};

type Tested = { readonly file: string; readonly path: string; readonly rows: readonly MatrixRow[] };

/**
 * Returns a function that finds the test files of a controller's routes, by the rules at the begin of
 * docs/reference/endpoints.md.
 */
export const testsOf = async (): Promise<(routes: readonly Tested[]) => Promise<string[]>> => {
  const [rows, matrixSpecs, others] = await Promise.all([rowFiles(), specsIn('test/matrix'), namingsIn(PRODUCT_TESTS)]);
  return async (routes) => {
    const file = routes[0]?.file ?? '';
    const specs = await specsIn(dirname(file));
    const namesakes = specs.filter((other) => basename(other.file).startsWith(basename(file, 'controller.ts')));
    const matrix = routes.flatMap((route) => route.rows.flatMap((row) => rows.get(row) ?? []));
    const isNaming = ({ written }: Naming): boolean =>
      written.some((words) => routes.some(({ path }) => isPath(words, path)));
    const naming = [...specs, ...matrixSpecs, ...others].filter(isNaming).map((other) => other.file);
    return [...new Set([...namesakes.map((other) => other.file), ...matrix, ...naming])].toSorted();
  };
};
