import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../support/folders.js';

/** An edit of one file, as a `diff` block of CONTRIBUTING.md shows it. */
export type DocumentedEdit = { readonly file: string; readonly hunks: readonly (readonly string[])[] };

/** Returns the edits of one section of CONTRIBUTING.md. A block begins with `--- FILE`; `@@` begins each hunk. */
export const readDocumentedEdits = async (heading: string): Promise<readonly DocumentedEdit[]> => {
  const page = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`CONTRIBUTING.md has no section "${heading}"`);
  return [...section.matchAll(/^```diff\n--- (\S+)\n([^]*?)^```$/gm)].map(([, file = '', body = '']) => ({
    file,
    hunks: body
      .split(/^@@\n/m)
      .slice(1)
      .map((hunk) => hunk.trimEnd().split('\n')),
  }));
};

const withoutMarks = (lines: readonly string[], dropped: '+' | '-'): string =>
  lines
    .filter((line) => !line.startsWith(dropped))
    .map((line) => `${line.slice(1)}\n`)
    .join('');

/** Returns the text after the edit. Throws if the lines that a hunk shows are not in the file exactly once. */
export const applyEdit = (text: string, { file, hunks }: DocumentedEdit): string => {
  let edited = text;
  for (const hunk of hunks) {
    const [before, after] = [withoutMarks(hunk, '+'), withoutMarks(hunk, '-')];
    const occurrences = edited.split(before).length - 1;
    if (occurrences !== 1)
      throw new Error(`CONTRIBUTING.md: ${file} has these lines ${occurrences} times, not once:\n${before}`);
    // Not as a string: it may contain `$`, which `replace` would interpret.
    edited = edited.replace(before, () => after);
  }
  return edited;
};
