import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from '../support/folders.js';

/** Lines of a function with its signature. Tables of functions are data: each function in them counts by itself. */
const MAX_LINES = 40;
/** The limit for a function with markup, in which each element takes a line or two. */
const MAX_MARKUP_LINES = 60;

const listSources = async (): Promise<string[]> => {
  const lists = await Promise.all(
    ['apps', 'libs'].map(async (folder) => {
      const files = await readdir(join(ROOT, folder), { recursive: true });
      return files.filter((file) => /(?<!\.spec)\.tsx?$/.test(file)).map((file) => join(folder, file));
    }),
  );
  return lists.flat().filter((file) => !file.endsWith('/spec.ts'));
};

const isFunction = (node: ts.Node): node is ts.FunctionLikeDeclaration =>
  ts.isFunctionDeclaration(node) ||
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isConstructorDeclaration(node) ||
  ts.isGetAccessor(node);

/** The declaration that a function is the value of starts the signature: `const name = (…) => …`. */
const getDeclaration = (node: ts.FunctionLikeDeclaration): ts.Node =>
  ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent : node;

const getName = (declaration: ts.Node): string =>
  'name' in declaration && declaration.name ? (declaration.name as ts.Node).getText() : 'a function';

/** Returns the functions of a file that are too long, such as `libs/a.ts: renderIt`, with their lines. */
const listLongFunctions = (file: string, text: string): (readonly [name: string, lines: number])[] => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const most = file.endsWith('.tsx') ? MAX_MARKUP_LINES : MAX_LINES;
  const longFunctions: (readonly [string, number])[] = [];
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (isFunction(node) && node.body) {
      const declaration = getDeclaration(node);
      const lines = lineOf(declaration.getEnd()) - lineOf(declaration.getStart()) + 1;
      if (lines > most) longFunctions.push([`${file}: ${getName(declaration)}`, lines]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return longFunctions;
};

it(`reports functions of more than ${MAX_LINES} lines, with names`, () => {
  const body = (lines: number): string => `{\n${'  work();\n'.repeat(lines - 2)}}`;
  const text = `
    const short = () => ${body(40)};
    export const long = (
      a: number,
    ) => ${body(39)};
    const table = { first: () => ${body(20)}, second: () => ${body(30)} };
    class Handler { run() ${body(41)} }`;
  expect(listLongFunctions('libs/a.ts', text)).toEqual([
    ['libs/a.ts: long', 41],
    ['libs/a.ts: run', 41],
  ]);
  const screen = `const Screen = () => ${body(60)}; const Long = () => ${body(61)};`;
  expect(listLongFunctions('apps/console/src/a.tsx', screen)).toEqual([['apps/console/src/a.tsx: Long', 61]]);
});

it(`finds no function of more than ${MAX_LINES} lines in the sources`, async () => {
  const files = await listSources();
  expect(files.length).toBeGreaterThan(400);
  const read = async (file: string) => listLongFunctions(file, await readFile(join(ROOT, file), 'utf8'));
  expect((await Promise.all(files.map(read))).flat()).toEqual([]);
});
