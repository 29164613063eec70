import { describe, expect, it } from '@jest/globals';
import { can, getRolesIn } from '#access';
import { describeByHand } from './manual-rows.js';
import { CALLERS } from './callers.js';
import { describeMatrix, type MatrixResults } from './describe-matrix.js';
import { differences, nameOf, type MatrixDifference, type ExpectedResult } from './matrix.js';
import { ROWS } from './rows/index.js';

/** As if somebody had written `member` into the row of `update-workspace`. */
const loosened: ExpectedResult = (actor, permission, place) =>
  can(actor, permission, place) ||
  (permission === 'update-workspace' && getRolesIn(actor, place.organization).has('member'));

const describeHole = ({ rows, world, answers }: MatrixResults): void => {
  const against = (allow: ExpectedResult): MatrixDifference[] =>
    rows.flatMap((row) => differences(row, answers.get(nameOf(row)) ?? new Map(), world(), allow));

  describe('a hole in the permission table', () => {
    it('is reported cell by cell: those who may read the workspace and not change it, at the routes that change it', () => {
      const readers = [
        ...['read', 'plan', 'write'].map((level) => `${level} on the workspace`),
        ...['read', 'write'].map((level) => `${level} on the project`),
        ...CALLERS.map(({ name }) => name).filter((name) => name.startsWith('custom on the ')),
        'readWorkspaces in the organization',
        'readProjects in the organization',
        'token of a team, write',
      ];
      const changing = ['PATCH /workspaces/:id', 'PATCH /organizations/:organization/workspaces/:name'];
      const consumers = ['POST', 'DELETE'].map(
        (method) => `${method} /workspaces/:id/relationships/remote-state-consumers`,
      );
      // The consumer that they would name stands beside the workspace: who has been given that alone cannot name it.
      const seesOne = (caller: string): boolean => /on the workspace|token of a team/.test(caller);
      const expected = [
        ...changing.flatMap((row) => readers.map((caller) => ({ row, caller, expected: '200' }))),
        ...consumers.flatMap((row) =>
          readers.map((caller) => ({ row, caller, expected: seesOne(caller) ? '422' : '204' })),
        ),
      ].map((cell) => ({ ...cell, answered: '404' }));
      const inOrder = (cells: readonly MatrixDifference[]): string[] =>
        cells.map((cell) => JSON.stringify(cell)).toSorted();
      expect(inOrder(against(loosened))).toEqual(inOrder(expected));
    });

    it('is not reported where there is none', () => {
      expect(against(can)).toEqual([]);
    });
  });
};

describeMatrix('workspaces and their states', ROWS.workspaces, (asked) => {
  describeByHand(asked);
  describeHole(asked);
});
