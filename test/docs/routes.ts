import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { permissions, type Permission } from '#access';

/** One route of the gateway, as its controller's source tells it. */
export type Route = {
  readonly method: string;
  readonly path: string;
  /** The room: the controller's file is named after the type that it answers with. */
  readonly type: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly status: number;
  /** Where the caller may be anybody: `@Public()`. */
  readonly open: boolean;
  readonly siteAdminOnly: boolean;
  /** Rows of the permission table that the route asks for. */
  readonly permissions: readonly Permission[];
};

const ROOT = join(import.meta.dirname, '../..');
const VERBS = ['Get', 'Post', 'Put', 'Patch', 'Delete'];

type Source = { readonly file: string; readonly lib: string; readonly tree: ts.SourceFile };

/** Rendering asks what the caller may do in order to show it; a route's own demands are never there. */
const rendersOnly = (file: string): boolean => file.endsWith('.document.ts');

const sources = async (): Promise<Source[]> => {
  const files = (await readdir(join(ROOT, 'libs'), { recursive: true }))
    .filter((file) => file.endsWith('.ts') && !/(?:^|[./])spec\.ts$/.test(file) && !rendersOnly(file))
    .toSorted();
  return Promise.all(
    files.map(async (name) => {
      const file = `libs/${name}`;
      const text = await readFile(join(ROOT, file), 'utf8');
      return { file, lib: dirname(file), tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) };
    }),
  );
};

type Decorated = ts.ClassDeclaration | ts.MethodDeclaration;

const decorator = (node: Decorated, ...names: readonly string[]): ts.CallExpression | undefined =>
  (ts.getDecorators(node) ?? [])
    .map(({ expression }) => expression)
    .find(
      (found): found is ts.CallExpression => ts.isCallExpression(found) && names.includes(found.expression.getText()),
    );

const textOf = (call: ts.CallExpression): string => {
  const [first] = call.arguments;
  return first && ts.isStringLiteral(first) ? first.text : '';
};

const nodesIn = (node: ts.Node): ts.Node[] => {
  const found: ts.Node[] = [];
  const visit = (inner: ts.Node): void => {
    found.push(inner);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
};

type Declared = { readonly lib: string; readonly node: ts.Node };

/** What a name leads to: a command's to the class that handles it, a function's to its body. */
class Declarations {
  private readonly handlers = new Map<string, Declared[]>();
  private readonly functions = new Map<string, Declared[]>();

  constructor(all: readonly Source[]) {
    for (const { lib, tree } of all) for (const statement of tree.statements) this.read(lib, statement);
  }

  /** The caller's own lib first; another one where the name is the only one of its kind. */
  find(lib: string, called: ts.CallExpression | ts.NewExpression): ts.Node | undefined {
    const kind = ts.isNewExpression(called) ? this.handlers : this.functions;
    const found = kind.get(called.expression.getText()) ?? [];
    return (found.find((one) => one.lib === lib) ?? (found.length === 1 ? found[0] : undefined))?.node;
  }

  private read(lib: string, statement: ts.Statement): void {
    if (ts.isClassDeclaration(statement)) {
      const command = decorator(statement, 'CommandHandler')?.arguments[0]?.getText();
      if (command) add(this.handlers, command, { lib, node: statement });
    }
    if (!ts.isVariableStatement(statement)) return;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (initializer && ts.isArrowFunction(initializer))
        add(this.functions, name.getText(), { lib, node: initializer });
    }
  }
}

const add = (map: Map<string, Declared[]>, name: string, declared: Declared): void =>
  void map.set(name, [...(map.get(name) ?? []), declared]);

const isPermission = (text: string): text is Permission => text in permissions;

/** Deep enough for route → own helper → command's handler → query → helper of that. */
const DEPTH = 6;

/**
 * What a route demands, by its source and that of what it calls. A permission that is handed to a function is demanded,
 * but for `may`, which only asks: there it counts in queries, where it decides what a list shows.
 */
class Demands {
  private readonly found = new Set<Permission>();
  private readonly commands = new Set<string>();
  private readonly tables = new Set<ts.SourceFile>();
  private readonly seen = new Set<ts.Node>();

  constructor(
    private readonly controller: ts.ClassDeclaration,
    private readonly lib: string,
    private readonly known: Declarations,
  ) {}

  of(route: ts.MethodDeclaration): Permission[] {
    this.follow(route, 0);
    for (const table of this.tables) this.readTable(table);
    return [...this.found].toSorted();
  }

  private follow(node: ts.Node, depth: number): void {
    if (this.seen.has(node) || depth > DEPTH) return;
    this.seen.add(node);
    for (const inner of nodesIn(node)) {
      this.look(inner);
      const next = this.helper(inner) ?? (isCall(inner) ? this.known.find(this.lib, inner) : undefined);
      if (next) this.follow(next, depth + 1);
    }
  }

  private look(node: ts.Node): void {
    if (ts.isIdentifier(node) && node.text === 'PERMISSION') this.tables.add(node.getSourceFile());
    if (isCall(node)) for (const permission of handedOver(node)) this.found.add(permission);
    // `{ type: 'LockWorkspace', … }`: the permission follows from which command it is.
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'type' && ts.isStringLiteral(node.initializer)) {
      this.commands.add(node.initializer.text);
    }
  }

  /** `this.show(…)` of the same controller. */
  private helper(node: ts.Node): ts.Node | undefined {
    if (!ts.isPropertyAccessExpression(node) || node.expression.kind !== ts.SyntaxKind.ThisKeyword) return undefined;
    return this.controller.members.find(
      (member) => ts.isMethodDeclaration(member) && member.name.getText() === node.name.text,
    );
  }

  /** Rows of a handler's table `PERMISSION`, and what its `deletePermission` may return for a `Delete…`. */
  private readTable(file: ts.SourceFile): void {
    for (const node of nodesIn(file)) {
      if (!ts.isStringLiteral(node) || !isPermission(node.text)) continue;
      const row = ts.isPropertyAssignment(node.parent) ? node.parent.name.getText() : null;
      if (row !== null && this.commands.has(row)) this.found.add(node.text);
      const chooser = ts.findAncestor(node, ts.isVariableDeclaration)?.name.getText() ?? '';
      const verb = /^([a-z]+)Permission$/.exec(chooser)?.[1];
      if (verb && [...this.commands].some((command) => command.toLowerCase().startsWith(verb)))
        this.found.add(node.text);
    }
  }
}

const handedOver = (call: ts.CallExpression | ts.NewExpression): Permission[] => {
  if (call.expression.getText() === 'may' && !call.getSourceFile().fileName.endsWith('.queries.ts')) return [];
  return (call.arguments ?? []).flatMap((argument) =>
    ts.isStringLiteral(argument) && isPermission(argument.text) ? [argument.text] : [],
  );
};

const isCall = (node: ts.Node): node is ts.CallExpression | ts.NewExpression =>
  ts.isCallExpression(node) || ts.isNewExpression(node);

const statusOf = (method: ts.MethodDeclaration, verb: string): number => {
  const code = decorator(method, 'HttpCode')?.arguments[0];
  if (code && ts.isNumericLiteral(code)) return Number(code.text);
  return verb === 'Post' ? 201 : 200;
};

const routesIn = ({ file, lib, tree }: Source, known: Declarations): Route[] =>
  tree.statements.filter(ts.isClassDeclaration).flatMap((controller) => {
    const controls = decorator(controller, 'Controller');
    if (!controls) return [];
    return controller.members.filter(ts.isMethodDeclaration).flatMap((method) => {
      const call = decorator(method, ...VERBS);
      if (!call) return [];
      const verb = call.expression.getText();
      const text = method.getText();
      return {
        method: verb.toUpperCase(),
        path: `/${[textOf(controls), textOf(call)].filter((part) => part !== '').join('/')}`,
        type: basename(file, '.controller.ts'),
        file,
        status: statusOf(method, verb),
        open: decorator(method, 'Public') !== undefined || decorator(controller, 'Public') !== undefined,
        siteAdminOnly: text.includes('siteAdmin) throw'),
        permissions: new Demands(controller, lib, known).of(method),
      };
    });
  });

/** Every route, in the order of rooms. That the gateway serves these and no others is for test/architecture to see to. */
export const routes = async (): Promise<Route[]> => {
  const all = await sources();
  const known = new Declarations(all);
  return all.filter(({ file }) => file.endsWith('.controller.ts')).flatMap((source) => routesIn(source, known));
};
