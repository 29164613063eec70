import { describe, expect, it } from '@jest/globals';
import { can, getRolesIn } from '#api/access';
import { describeByHand } from './manual-rows.js';
import { CALLERS } from './callers.js';
import { describeMatrix, type MatrixResults } from './describe-matrix.js';
import { differences, nameOf, type MatrixDifference, type ExpectedResult } from './matrix.js';
import { ROWS } from './rows/index.js';

/** Permits what a wrong entry `member` in the row of `update-workspace` would permit. */
const loosened: ExpectedResult = (actor, permission, scope) =>
  can(actor, permission, scope) ||
  (permission === 'update-workspace' && getRolesIn(actor, scope.organization).has('member'));

/** Rows of notification configurations, which need the permission to change the workspace, with their successes. */
const NOTIFICATIONS = [
  ['GET /workspaces/:id/notification-configurations', '200 [shared]'],
  ['POST /workspaces/:id/notification-configurations', '201'],
  ['GET /notification-configurations/:id, of workspaces', '200'],
  ['GET /notification-configurations/:id/deliveries, of workspaces', '200'],
  ['PATCH /notification-configurations/:id, of workspaces', '200'],
  ['DELETE /notification-configurations/:id, of workspaces', '204'],
  ['POST /notification-configurations/:id/actions/verify, of workspaces', '200'],
] as const;

const describeHole = ({ rows, world, answers }: MatrixResults): void => {
  const against = (allow: ExpectedResult): MatrixDifference[] =>
    rows.flatMap((row) => differences(row, answers.get(nameOf(row)) ?? new Map(), world(), allow));

  describe('a hole in the permission table', () => {
    it('is reported for each caller that may read but not change the workspace, at each route that changes it', () => {
      const readers = [
        ...['read', 'plan', 'write'].map((level) => `${level} on the workspace`),
        ...['read', 'write'].map((level) => `${level} on the project`),
        ...CALLERS.map(({ name }) => name).filter((name) => name.startsWith('custom on the ')),
        'readWorkspaces in the organization',
        'readProjects in the organization',
        'token of a team, write',
        'write on the workspace, with a session',
      ];
      const changing = ['PATCH /workspaces/:id', 'PATCH /organizations/:organization/workspaces/:name'];
      const consumers = ['POST', 'DELETE'].map(
        (method) => `${method} /workspaces/:id/relationships/remote-state-consumers`,
      );
      // The consumer is the workspace `beside`. Callers with access to `one` alone cannot name it.
      const seesOne = (caller: string): boolean => /on the workspace|token of a team/.test(caller);
      const expected = [
        ...changing.flatMap((row) => readers.map((caller) => ({ row, caller, expected: '200' }))),
        ...consumers.flatMap((row) =>
          readers.map((caller) => ({ row, caller, expected: seesOne(caller) ? '422' : '204' })),
        ),
        ...NOTIFICATIONS.flatMap(([row, success]) => readers.map((caller) => ({ row, caller, expected: success }))),
      ].map((cell) => ({ ...cell, answered: '404' }));
      const inOrder = (cells: readonly MatrixDifference[]): string[] =>
        cells.map((cell) => JSON.stringify(cell)).toSorted();
      expect(inOrder(against(loosened))).toEqual(inOrder(expected));
    });

    it('is not reported for the unchanged table', () => {
      expect(against(can)).toEqual([]);
    });
  });
};

describeMatrix('workspaces and their states', ROWS.workspaces, (results) => {
  describeByHand(results);
  describeHole(results);
});
