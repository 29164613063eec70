import { relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../folders.js';
import type { RecordedRows } from './recorder.js';
import { RowComparison } from './row-comparison.js';

/** A call site in the code that gives rows a type. */
type TypedCallSite = { readonly callSite: string; readonly type: ts.Type };

/** The functions that give rows the type of their type argument, by file. */
const CASTS: Readonly<Record<string, readonly string[]>> = {
  'libs/platform/postgres/database.ts': ['keyedRow', 'row', 'rows', 'run', 'slowRows'],
  'libs/platform/postgres/database-row.ts': ['castRows'],
  'libs/storage/event-store/writes.ts': ['getFirstRow', 'getFirstRowOrNull'],
  'libs/api/json-api/related-resources.ts': ['defineRelated'],
};

type SourceProgram = { readonly program: ts.Program; readonly checker: ts.TypeChecker };

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

/** Every call site in the files that gives rows a type, and the problems that keep a call site from being checked. */
const findTypedCallSites = (
  { program, checker }: SourceProgram,
  isChecked: (file: string) => boolean,
): { readonly callSites: readonly TypedCallSite[]; readonly problems: readonly string[] } => {
  const callSites: TypedCallSite[] = [];
  const problems: string[] = [];
  for (const source of program.getSourceFiles()) {
    const file = relative(ROOT, source.fileName);
    if (source.isDeclarationFile || !isChecked(file) || file in CASTS) continue;
    visit(source, (node) => {
      const callSite = `${file}:${source.getLineAndCharacterOfPosition(toCallSite(node).getStart()).line + 1}`;
      if (ts.isAsExpression(node) && castsRows(checker.getTypeAtLocation(node.expression), checker))
        problems.push(`${callSite}: casts rows. Name their type where they are read, or use castRows.`);
      if (!ts.isCallExpression(node) || !isCast(node, checker)) return;
      const [argument] = node.typeArguments ?? [];
      const type = argument && checker.getTypeFromTypeNode(argument);
      if (type && type.flags & ts.TypeFlags.TypeParameter)
        problems.push(
          `${callSite}: leaves the type of its rows to callers. Name the type, or add the function to CASTS.`,
        );
      else if (type) callSites.push({ callSite, type });
      else if (!mentionsUntyped(checker.getTypeAtLocation(node), checker))
        problems.push(`${callSite}: infers the type of its rows. Name the type.`);
    });
  }
  const twice = callSites.filter(
    ({ callSite }, n) => callSites.findIndex((other) => other.callSite === callSite) !== n,
  );
  problems.push(...twice.map(({ callSite }) => `${callSite}: reads rows twice in one line. Use two lines.`));
  return { callSites, problems };
};

const toCallSite = (node: ts.Node): ts.Node => (ts.isCallExpression(node) ? nameCalled(node) : node);

/** `outer`: the types that contain this one. A type such as that of JSON values can contain itself. */
const mentionsUntyped = (type: ts.Type, checker: ts.TypeChecker, outer: ReadonlySet<ts.Type> = new Set()): boolean => {
  if (outer.has(type)) return false;
  const isIn = (one: ts.Type): boolean => mentionsUntyped(one, checker, new Set([...outer, type]));
  return (
    isUntyped(type) ||
    (type.isUnion() && type.types.some(isIn)) ||
    (!!(type.flags & ts.TypeFlags.Object) && checker.getTypeArguments(type as ts.TypeReference).some(isIn))
  );
};

const castsRows = (type: ts.Type, checker: ts.TypeChecker): boolean => mentionsUntyped(type, checker);

/** What does not fit, and the call sites whose rows no test has read. */
export type RowCheck = { readonly problems: readonly string[]; readonly unseen: readonly string[] };

/** Checks all call sites in the files: their problems, and the call sites that received no rows. */
export const checkRows = (
  sources: SourceProgram,
  isChecked: (file: string) => boolean,
  recordings: readonly Readonly<RecordedRows>[],
): RowCheck => {
  const { callSites, problems } = findTypedCallSites(sources, isChecked);
  const comparison = new RowComparison(sources.checker);
  for (const { callSite, type } of callSites)
    for (const recorded of recordings) comparison.compareRows(callSite, type, recorded);
  const wasRead = (callSite: string): boolean =>
    recordings.some((recorded) => [callSite, `${callSite} without id`].some((name) => Object.hasOwn(recorded, name)));
  return {
    problems: [...new Set([...problems, ...comparison.problems])],
    unseen: callSites.map(({ callSite }) => callSite).filter((callSite) => !wasRead(callSite)),
  };
};
