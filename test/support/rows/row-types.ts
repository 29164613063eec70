import { relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../folders.js';
import type { RecordedRows } from './recorder.js';
import { RowComparison } from './row-comparison.js';

/** A place in the code that gives rows a type. */
type TypedPlace = { readonly place: string; readonly type: ts.Type };

/** The functions that give rows the type of their type argument, by file. */
const CASTS: Readonly<Record<string, readonly string[]>> = {
  'libs/postgres/database.ts': ['row', 'rows', 'run', 'slowRows'],
  'libs/postgres/database-row.ts': ['castRows'],
  'libs/event-store/writes.ts': ['getFirstRow', 'getFirstRowOrNull'],
  'libs/json-api/related-resources.ts': ['defineRelated'],
};

export type SourceProgram = { readonly program: ts.Program; readonly checker: ts.TypeChecker };

/** Loads the types of the sources. `isRoot` selects the files, by their paths in the repository. */
export const loadSources = (isRoot: (file: string) => boolean): SourceProgram => {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const config = ts.getParsedCommandLineOfConfigFile(`${ROOT}/tsconfig.json`, {}, host);
  if (!config) throw new Error(`${ROOT}/tsconfig.json cannot be read`);
  const files = config.fileNames.filter((file) => isRoot(relative(ROOT, file)));
  const program = ts.createProgram(files, config.options);
  return { program, checker: program.getTypeChecker() };
};

const visit = (node: ts.Node, look: (node: ts.Node) => void): void => {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
};

const nameCalled = ({ expression }: ts.CallExpression): ts.Node =>
  ts.isPropertyAccessExpression(expression) ? expression.name : expression;

const isCast = (call: ts.CallExpression, checker: ts.TypeChecker): boolean => {
  const name = nameCalled(call).getText();
  if (!Object.values(CASTS).some((names) => names.includes(name))) return false;
  const declared = checker.getResolvedSignature(call)?.declaration?.getSourceFile().fileName;
  return declared !== undefined && CASTS[relative(ROOT, declared)]?.includes(name) === true;
};

/** Rows whose type says nothing: the code cannot read a column without a check of its own. */
const isUntyped = (type: ts.Type): boolean => type.aliasSymbol?.name === 'DatabaseRow';

/** Every place in the files that gives rows a type, and the problems that keep a place from being checked. */
export const findTypedPlaces = (
  { program, checker }: SourceProgram,
  isChecked: (file: string) => boolean,
): { readonly places: readonly TypedPlace[]; readonly problems: readonly string[] } => {
  const places: TypedPlace[] = [];
  const problems: string[] = [];
  for (const source of program.getSourceFiles()) {
    const file = relative(ROOT, source.fileName);
    if (source.isDeclarationFile || !isChecked(file) || file in CASTS) continue;
    visit(source, (node) => {
      const place = `${file}:${source.getLineAndCharacterOfPosition(placeOf(node).getStart()).line + 1}`;
      if (ts.isAsExpression(node) && castsRows(checker.getTypeAtLocation(node.expression), checker))
        problems.push(`${place}: casts rows. Name their type where they are read, or use castRows.`);
      if (!ts.isCallExpression(node) || !isCast(node, checker)) return;
      const [argument] = node.typeArguments ?? [];
      if (argument) places.push({ place, type: checker.getTypeFromTypeNode(argument) });
      else if (!mentionsUntyped(checker.getTypeAtLocation(node), checker))
        problems.push(`${place}: infers the type of its rows. Name the type.`);
    });
  }
  const twice = places.filter(({ place }, n) => places.findIndex((other) => other.place === place) !== n);
  problems.push(...twice.map(({ place }) => `${place}: reads rows twice in one line. Use two lines.`));
  return { places, problems };
};

const placeOf = (node: ts.Node): ts.Node => (ts.isCallExpression(node) ? nameCalled(node) : node);

const mentionsUntyped = (type: ts.Type, checker: ts.TypeChecker): boolean =>
  isUntyped(type) ||
  (type.isUnion() && type.types.some((one) => mentionsUntyped(one, checker))) ||
  (!!(type.flags & ts.TypeFlags.Object) &&
    checker.getTypeArguments(type as ts.TypeReference).some((one) => mentionsUntyped(one, checker)));

const castsRows = (type: ts.Type, checker: ts.TypeChecker): boolean => mentionsUntyped(type, checker);

/** What does not fit, and the places whose rows no test has read. */
export type RowCheck = { readonly problems: readonly string[]; readonly unseen: readonly string[] };

/** Checks all places in the files: their problems, and the places that received no rows. */
export const checkRows = (
  sources: SourceProgram,
  isChecked: (file: string) => boolean,
  recordings: readonly Readonly<RecordedRows>[],
): RowCheck => {
  const { places, problems } = findTypedPlaces(sources, isChecked);
  const comparison = new RowComparison(sources.checker);
  for (const { place, type } of places)
    for (const recorded of recordings) comparison.compareRows(place, type, recorded);
  const wasRead = (place: string): boolean =>
    recordings.some((recorded) => [place, `${place} without id`].some((name) => Object.hasOwn(recorded, name)));
  return {
    problems: [...new Set([...problems, ...comparison.problems])],
    unseen: places.map(({ place }) => place).filter((place) => !wasRead(place)),
  };
};
