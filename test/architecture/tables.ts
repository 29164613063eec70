import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../support/folders.js';
import { nameModule } from '../support/modules.js';

/** A file of a module names a table in a statement. */
export type TableRead = {
  readonly reader: string;
  readonly owner: string;
  readonly table: string;
  readonly file: string;
};

const listFiles = async (isIncluded: (file: string) => boolean): Promise<string[]> => {
  const files = await readdir(join(ROOT, 'libs'), { recursive: true });
  return files.filter(isIncluded).map((file) => join('libs', file));
};

const CREATION =
  /\bcreate\s+(?:unlogged\s+)?(?:table|view|(?:or\s+replace|materialized)\s+view)\s+(?:if not exists\s+)?((?:\w+\.)?\w+)/gi;

/**
 * The module that owns each table or view, by the name of the table without its schema: the module whose migration
 * creates it. `movedTables` names the tables that have moved to another module since: migrations cannot.
 */
export const findOwners = async (
  movedTables: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> => {
  const owners = new Map<string, string>();
  for (const file of await listFiles((name) => name.endsWith('.sql')))
    for (const [, name = ''] of (await readFile(join(ROOT, file), 'utf8')).matchAll(CREATION))
      owners.set(withoutSchema(name), movedTables[name] ?? nameModule(file));
  return owners;
};

const withoutSchema = (name: string): string => name.slice(name.indexOf('.') + 1);

/** The text of a template, with a parameter in place of each expression. */
const textOf = (node: ts.Node): string | null => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => `$1${literal.text}`).join('');
};

const isSql = (expression: ts.Expression): boolean => /^sql(?:\.raw)?$|\.query$/.test(expression.getText());

/** The texts that a source writes as SQL. */
const listSql = (source: ts.SourceFile): readonly string[] => {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    const templates =
      ts.isTaggedTemplateExpression(node) && isSql(node.tag)
        ? [node.template]
        : ts.isCallExpression(node) && isSql(node.expression)
          ? node.arguments
          : [];
    texts.push(...templates.flatMap((template) => textOf(template) ?? []));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
};

const NAME = String.raw`(?:\w+\.)?(\w+)`;
const AFTER_KEYWORD = new RegExp(String.raw`\b(?:from|join|into|update|only)\s+\(*${NAME}`, 'gi');
const WITH_ALIAS = String.raw`\w[\w.]*(?:\s+(?:as\s+)?\w+)?`;
/** A list of tables with commas. */
const LIST = new RegExp(String.raw`\b(?:from|using)\s+(${WITH_ALIAS}(?:\s*,\s*${WITH_ALIAS})*)`, 'gi');
const FIRST_NAME = new RegExp(String.raw`^${NAME}`);
/** A fragment that is a table with its alias. */
const ALONE = new RegExp(String.raw`^\s*${NAME}(?:\s+\w{1,3})?\s*$`, 'g');

/** The names in places where SQL expects a table. */
const listTableNames = (text: string): readonly string[] => {
  const code = text.replaceAll(/--[^\n]*/g, '');
  const find = (pattern: RegExp): string[] => [...code.matchAll(pattern)].map(([, group = '']) => group);
  const listed = find(LIST).flatMap((list) => list.split(',').map((one) => FIRST_NAME.exec(one.trim())?.[1] ?? ''));
  return [...find(AFTER_KEYWORD), ...listed, ...find(ALONE)];
};

/** The tables that a source names in its statements. */
export const listTables = (file: string, text: string): ReadonlySet<string> => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return new Set(listSql(source).flatMap(listTableNames));
};

/** Every table of another module that the sources of `libs` name in a statement. */
export const listForeignReads = async (owners: ReadonlyMap<string, string>): Promise<readonly TableRead[]> => {
  const files = await listFiles((name) => name.endsWith('.ts') && !/(?:^|[./])spec\.ts$/.test(name));
  const reads = await Promise.all(
    files.map(async (file) => {
      const reader = nameModule(file);
      return [...listTables(file, await readFile(join(ROOT, file), 'utf8'))].flatMap((table) => {
        const owner = owners.get(table);
        return owner === undefined || owner === reader ? [] : [{ reader, owner, table, file }];
      });
    }),
  );
  return reads.flat();
};
