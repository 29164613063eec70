import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from '../support/folders.js';

const SOURCE_FOLDERS = ['apps', 'libs', 'test'] as const;

const listSources = async (): Promise<string[]> => {
  const lists = await Promise.all(
    SOURCE_FOLDERS.map(async (folder) => {
      const files = await readdir(join(ROOT, folder), { recursive: true });
      return files.filter((file) => /\.tsx?$/.test(file)).map((file) => join(folder, file));
    }),
  );
  return lists.flat();
};

/** Returns the types and classes that a file declares. Those of specs and of components count only if they are exported. */
const listTypeNames = async (file: string): Promise<string[]> => {
  const source = ts.createSourceFile(file, await readFile(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest);
  return source.statements
    .filter(
      (statement) =>
        ts.isTypeAliasDeclaration(statement) ||
        ts.isInterfaceDeclaration(statement) ||
        ts.isClassDeclaration(statement),
    )
    .filter(
      ({ modifiers }) =>
        !/(?:\.spec\.ts|\.tsx)$/.test(file) || modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
    )
    .flatMap(({ name }) => (name ? [name.text] : []));
};

it('each type and class of the repository has a unique name', async () => {
  const sources = await listSources();
  const declared = await Promise.all(sources.map(async (file) => [file, await listTypeNames(file)] as const));
  const filesByName = new Map<string, string[]>();
  for (const [file, names] of declared)
    for (const name of new Set(names)) filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
  expect(filesByName.size).toBeGreaterThan(1_000);
  expect([...filesByName].filter(([, files]) => files.length > 1)).toEqual([]);
});
