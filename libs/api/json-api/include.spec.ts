import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { parseInclude } from './include.js';

const ACCEPTED = ['locked_by', 'project', 'current_run.plan'] as const;

const included = (include: string | string[] | undefined) => {
  const includes = parseInclude({ include }, ACCEPTED);
  return includes && [...includes];
};

describe('the query parameter include', () => {
  it('is null if it is missing and empty if it has no value', () => {
    expect(included(undefined)).toBeNull();
    expect(included('')).toEqual([]);
  });

  it('is a comma-separated list in which repeated values count once', () => {
    expect(included('project,locked_by,project')).toEqual(['project', 'locked_by']);
  });

  it('accepts hyphens and underscores, and ignores blanks and empty values', () => {
    expect(included('locked-by, project ,,')).toEqual(['locked_by', 'project']);
    expect(included('current-run.plan')).toEqual(['current_run.plan']);
  });

  it.each(['moon', 'project,moon', 'Project', 'project.moon'])('is refused if a value is unknown: %s', (text) => {
    let refused: unknown;
    try {
      included(text);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ kind: 'bad-request', problems: [{ parameter: 'include' }] });
    // Clients search for these words.
    expect((refused as Refusal).message).toContain('include parameter');
  });
});
