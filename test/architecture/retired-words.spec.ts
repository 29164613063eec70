import { describe, expect, it } from '@jest/globals';
import { findInDocument, findInSource } from './retired-words.js';

const wordsIn = (source: string, path = 'libs/sample.ts'): string[] =>
  findInSource(source, path).map(({ line, text }) => `${line} ${text}`);

describe('the search for retired words', () => {
  it('finds them in declared names, whatever their form', () => {
    expect(wordsIn('const toldAt = 1;\nconst BORN_IN = 2;\ntype House = { readonly given: string };')).toEqual([
      '1 toldAt',
      '2 BORN_IN',
      '3 House',
      '3 given',
    ]);
  });

  it('does not find them in names that another module declares', () => {
    expect(wordsIn('items.slice(1); ask(told);')).toEqual([]);
  });

  it('finds them in comments and test titles, with the line of the word', () => {
    expect(wordsIn("/**\n * Fine.\n * Told anew.\n */\nit('goes on', () => {});")).toEqual([
      '3 Told',
      '3 anew',
      '5 goes on',
    ]);
  });

  it('ignores other text and code in comments', () => {
    expect(wordsIn("// The column `sealed`.\nconst text = 'told anew';")).toEqual([]);
  });

  it('permits `given` in specs of deciders only', () => {
    const source = 'const { given } = specFor(decider);';
    expect(wordsIn(source, 'libs/teams/team.spec.ts')).toEqual([]);
    expect(wordsIn(source, 'libs/teams/team.ts')).toEqual(['1 given']);
  });

  it('finds them in documents, but not in code blocks', () => {
    expect(findInDocument('# House\n\nA `chore`.\n\n```\ntold\n```\n\nIt is\ntold.')).toMatchObject([
      { line: 1, text: 'House' },
      { line: 10, text: 'told' },
    ]);
  });
});
