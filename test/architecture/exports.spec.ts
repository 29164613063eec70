import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from '../support/folders.js';

const SOURCES = globSync('{apps,libs,test}/**/*.{ts,tsx,js}', { cwd: ROOT }).filter(
  (file) => !file.includes('openapi-types'),
);

/** Files whose exports other packages import, or tests load completely. */
const PUBLISHED = /^libs\/packages\/|\.openapi\.ts$|\/(?:index|planted)\.ts$|\.spec\.tsx?$/;

const texts = new Map(SOURCES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));

/** Returns the files that contain each word. */
const listFilesByWord = (): ReadonlyMap<string, readonly string[]> => {
  const files = new Map<string, string[]>();
  for (const [file, text] of texts) {
    for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) {
      const filesWithWord = files.get(word);
      if (filesWithWord) filesWithWord.push(file);
      else files.set(word, [file]);
    }
  }
  return files;
};

const listExports = (file: string, text: string): readonly string[] =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const isExport = modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExport || modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) return [];
    const declarations = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    return declarations.flatMap((declaration) => {
      const { name } = declaration as ts.NamedDeclaration;
      return name && ts.isIdentifier(name) ? [name.text] : [];
    });
  });

it('every export has a name that another file contains', () => {
  const filesByWord = listFilesByWord();
  const unused = [...texts].flatMap(([file, text]) =>
    PUBLISHED.test(file)
      ? []
      : listExports(file, text)
          .filter((name) => filesByWord.get(name)?.length === 1)
          .map((name) => `${file}: ${name}`),
  );
  expect(unused).toEqual([]);
});
