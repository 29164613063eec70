import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#kernel';
import { parseInclude } from './include.js';

const KNOWN = ['locked_by', 'project', 'current_run.plan'] as const;

const included = (include: string | string[] | undefined) => {
  const includes = parseInclude({ include }, KNOWN);
  return includes && [...includes];
};

describe('include', () => {
  it('is not the same when it is missing as when it is empty', () => {
    expect(included(undefined)).toBeNull();
    expect(included('')).toEqual([]);
  });

  it('is joined by commas, and says a thing once', () => {
    expect(included('project,locked_by,project')).toEqual(['project', 'locked_by']);
  });

  it('is written with hyphens or underscores, blanks and empty places do not matter', () => {
    expect(included('locked-by, project ,,')).toEqual(['locked_by', 'project']);
    expect(included('current-run.plan')).toEqual(['current_run.plan']);
  });

  it.each(['moon', 'project,moon', 'Project', 'project.moon'])(
    'is refused where it names what is not there: %s',
    (text) => {
      let refused: unknown;
      try {
        included(text);
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(Refusal);
      expect(refused).toMatchObject({ kind: 'bad-request', problems: [{ parameter: 'include' }] });
      // Clients look for these very words.
      expect((refused as Refusal).message).toContain('include parameter');
    },
  );
});
