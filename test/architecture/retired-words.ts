import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * A word that the project no longer uses, and what to write instead. `inNames` are words of declared names in any form
 * of writing them (`bornIn`, `BORN_IN`); `asName` are whole names; `inProse` matches comments, test titles and
 * documents.
 */
type RetiredWord = {
  readonly use: string;
  readonly inNames?: readonly string[];
  readonly asName?: readonly string[];
  readonly inProse?: RegExp;
};

const RETIRED_WORDS: readonly RetiredWord[] = [
  {
    use: 'record, describe, report, return or distinguish',
    inNames: ['tell', 'tells', 'told', 'untold'],
    inProse: /\b(tell|tells|telling|told|untold)\b/gi,
  },
  {
    use: 'request, query, check or prompt; name what is requested',
    inNames: ['ask', 'asks', 'asked', 'asking', 'asker'],
    inProse: /\b((is|are|was|were|be|been|being) asked|asked for|asker)\b/gi,
  },
  {
    use: 'contain, state, report; name the text',
    inNames: ['say', 'says', 'said', 'saying'],
    inProse: /\b(is|are|was|were|be|been) said\b/gi,
  },
  {
    use: 'application, runtime, bootstrap or configuration',
    inNames: ['house', 'foundation', 'furniture'],
    inProse: /\b(houses?|furniture)\b/gi,
  },
  { use: 'module, public API or port', asName: ['slice', 'slices'], inProse: /\b(slices?|letter box(es)?)\b/gi },
  {
    use: 'encrypt, decrypt; crypto-shredding; MAC or fingerprint',
    inNames: ['seal', 'seals', 'sealed', 'unseal', 'unsealed'],
    inProse: /\b(un)?seal(s|ed|ing)?\b/gi,
  },
  {
    use: 'create, created, new stream',
    inNames: ['birth', 'births', 'born', 'unborn', 'newborn'],
    inProse: /\b(births?|born|unborn|newborn)\b/gi,
  },
  { use: 'version precondition or guard', inNames: ['held', 'holding', 'stale'] },
  { use: 'consumer, message handler', inNames: ['taker', 'inbox'], inProse: /\b(takers?|inbox(es)?)\b/gi },
  { use: 'scheduled job', inNames: ['chore', 'chores'], inProse: /\bchores?\b/gi },
  { use: 'upcast', inNames: ['lift', 'lifts', 'lifted'], inProse: /\b(lift|lifts|lifted|lifting)\b/gi },
  {
    use: 'history entry, history writer, base version',
    inNames: ['chronicle', 'sentence'],
    inProse: /\b(chronicles?|chronicler)\b/gi,
  },
  {
    use: 'cursor, range, query, pagination; traverse for a tree',
    inNames: ['walk', 'walks', 'stretch', 'stretches', 'question', 'questions'],
    inProse: /\b(walks?|walked|walking|stretch|stretches)\b/gi,
  },
  {
    use: 'role, implied permission',
    inNames: ['standing', 'passage'],
    inProse: /\b(standings|passages?)\b/gi,
  },
  { use: 'retry or retryOnConflict', asName: ['untilfirst', 'oncemore'] },
  { use: 'connection', inNames: ['lane', 'lanes'], inProse: /\blanes?\b/gi },
  {
    use: 'timestamp, scope, location, fragment or strategy: name what it is',
    inNames: ['moment', 'moments', 'place', 'places'],
  },
  {
    use: 'a noun phrase: a participle alone is no name',
    inNames: ['wanted'],
    asName: ['given', 'found', 'gone', 'kept', 'known', 'made', 'moved', 'named', 'seen', 'shown', 'taken'],
  },
  {
    use: 'plain modern English: again, among, so, callers that …, people who …',
    inNames: ['anew', 'ere'],
    inProse: /\b(anew|amid|ere|thus|thereby|whereby|thereof|whoever|whomever|whosoever|whom)\b/gi,
  },
  {
    use: 'continue, become, begin; retry',
    inProse: /\b(goes on|go on|went on|gone on|comes? to be|comes? about|once more)\b/gi,
  },
  { use: 'a noun before the clause: callers that …, people who …', inProse: /\b(of|to|for|by|from|with|than) who\b/gi },
];

/** Names that stay: a field of stored events, and the function that deciders are tested with (given, when, yields). */
const PERMITTED_NAMES: ReadonlyMap<string, RegExp> = new Map([
  ['shown', /\/reads\.events\.ts$/],
  ['given', /(\.spec|\/spec)\.ts$/],
]);

/** `line` starts at 1. */
type RetiredWordUse = { readonly line: number; readonly text: string; readonly use: string };

const splitName = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
    .split(/\s+/);

const findInName = (name: string, path: string): readonly string[] =>
  PERMITTED_NAMES.get(name)?.test(path)
    ? []
    : RETIRED_WORDS.filter(
        ({ inNames = [], asName = [] }) =>
          asName.includes(name.toLowerCase()) || splitName(name).some((word) => inNames.includes(word)),
      ).map(({ use }) => use);

type ProseUse = { readonly at: number; readonly text: string; readonly use: string };

const findInProse = (prose: string): readonly ProseUse[] =>
  RETIRED_WORDS.flatMap(({ inProse, use }) =>
    inProse ? [...prose.matchAll(inProse)].map((match) => ({ at: match.index, text: match[0], use })) : [],
  );

const isDeclared = (node: ts.Identifier): boolean => {
  const { parent } = node;
  const declared =
    ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionDeclaration(parent) ||
    ts.isClassDeclaration(parent) ||
    ts.isTypeAliasDeclaration(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isGetAccessorDeclaration(parent);
  return declared && parent.name === node;
};

const TEST_FUNCTION = /^(describe|it|test)\b/;

const isTitle = (node: ts.Node): boolean =>
  (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) &&
  ts.isCallExpression(node.parent) &&
  node.parent.arguments[0] === node &&
  TEST_FUNCTION.test(node.parent.expression.getText());

/** Replaces code spans by spaces, which keeps the positions of the other words. */
const blankCode = (prose: string): string => prose.replace(/`[^`]*`/g, (code) => code.replace(/[^\n]/g, ' '));

/** Returns the retired words in declared names, comments and test titles of a TypeScript file. */
export const findInSource = (source: string, path: string): readonly RetiredWordUse[] => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number): number => file.getLineAndCharacterOfPosition(position).line + 1;
  const uses: RetiredWordUse[] = [];
  const comments = new Map<number, number>();
  const addProse = (from: number, to: number): void => {
    for (const { at, text, use } of findInProse(blankCode(source.slice(from, to)))) {
      uses.push({ line: lineAt(from + at), text, use });
    }
  };
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(source, node.pos) ?? []) comments.set(pos, end);
    for (const { pos, end } of ts.getTrailingCommentRanges(source, node.end) ?? []) comments.set(pos, end);
    if (ts.isIdentifier(node) && isDeclared(node)) {
      for (const use of findInName(node.text, path)) uses.push({ line: lineAt(node.getStart()), text: node.text, use });
    }
    if (isTitle(node)) addProse(node.getStart() + 1, node.end - 1);
    node.getChildren(file).forEach(visit);
  };
  visit(file);
  for (const [pos, end] of comments) addProse(pos, end);
  return uses.toSorted((a, b) => a.line - b.line);
};

/** Returns the retired words in a Markdown file, without its code. */
export const findInDocument = (document: string): readonly RetiredWordUse[] => {
  const prose = blankCode(document.replace(/^```[^]*?^```/gm, (block) => block.replace(/[^\n]/g, ' ')));
  return findInProse(prose)
    .map(({ at, text, use }) => ({ line: prose.slice(0, at).split('\n').length, text, use }))
    .toSorted((a, b) => a.line - b.line);
};

/** The list itself, the spec that plants its words, and the changelog, which has old names. */
const EXCLUDED = /(^|\/)(retired-words(\.spec)?\.ts|openapi-types\.ts|event-types\.ts|CHANGELOG\.md)$/;

const listFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.md'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !EXCLUDED.test(path));

/** Returns one line for each retired word in the files that git tracks: path, line, word, and what to write instead. */
const findRetiredWords = (): readonly string[] =>
  listFiles().flatMap((path) => {
    const content = readFileSync(path, 'utf8');
    const uses = /\.tsx?$/.test(path) ? findInSource(content, path) : findInDocument(content);
    return uses.map(({ line, text, use }) => `${path}:${line}: "${text}": use ${use}`);
  });

if (import.meta.main) {
  const lines = findRetiredWords();
  if (lines.length > 0) {
    console.error(`${lines.join('\n')}\n\n${lines.length} retired words. See "Write plainly" in CONTRIBUTING.md.`);
    process.exitCode = 1;
  }
}
