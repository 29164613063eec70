import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, fold, Refusal, upcastEventData } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import type { RunOptions } from './run-options.js';
import {
  isActionAllowed,
  isFinal,
  isExecuting,
  RUN_STATUS_MACHINE,
  RUN_STATUSES,
  type RunStatus,
} from './run-status.js';
import { needsWorkspaceLock, STATUS_AFTER, type ExistingRun, type RunState } from './run-state.js';
import { run, type RunProgress, type RunCommand } from './run.js';
import type { RunEvent } from './run-event.js';
import { runEvents } from '../runs.events.js';

const { given } = specify(run);

const alice = { type: 'users', id: 'user-alice', name: 'alice' };
const NONE = { additions: 0, changes: 0, destructions: 0, imports: 0 };
const ONE = { ...NONE, additions: 1 };

const options: RunOptions = {
  isDestroy: false,
  refresh: true,
  refreshOnly: false,
  replaceAddrs: [],
  targetAddrs: [],
  invokeActionAddrs: [],
  policyPaths: [],
  planOnly: false,
  savePlan: false,
  autoApply: false,
  allowEmptyApply: false,
  allowConfigGeneration: false,
  debuggingMode: false,
  terraformVersion: 'latest',
  variables: [],
};

const creation = (more: Partial<RunOptions> = {}) => ({
  workspace: 'ws-1',
  configurationVersion: 'cv-1',
  message: 'why not',
  source: 'tfe-api' as const,
  createdBy: alice,
  options: { ...options, ...more },
});
const created = (more: Partial<RunOptions> = {}): RunEvent => ({ type: 'RunCreated', data: creation(more) });

const queued: RunEvent = { type: 'RunQueued', data: {} };
const planning: RunEvent = { type: 'RunPlanStarted', data: { message: null } };
const planned = (hasChanges = true): RunEvent => ({
  type: 'RunPlanned',
  data: { hasChanges, resources: hasChanges ? ONE : NONE, message: null },
});
const stage = (name: Extract<RunEvent, { type: 'RunStageReached' }>['data']['stage']): RunEvent => ({
  type: 'RunStageReached',
  data: { stage: name, message: null },
});
const confirmed: RunEvent = { type: 'RunConfirmed', data: { confirmedBy: alice } };
const applyQueued: RunEvent = { type: 'RunApplyQueued', data: {} };
const applying: RunEvent = { type: 'RunApplyStarted', data: { message: null } };
const canceled: RunEvent = { type: 'RunCanceled', data: { message: null } };
const AVAILABLE = '2026-11-21T10:00:10.000Z';
const cancelRequested: RunEvent = { type: 'RunCancelRequested', data: { forceCancelAvailableAt: AVAILABLE } };

const report = (status: RunStatus, more: Partial<RunProgress> = {}): RunCommand => ({
  type: 'ReportProgress',
  data: { status, hasChanges: true, resources: ONE, message: null, ...more },
});
const confirm: RunCommand = { type: 'ConfirmRun', data: { confirmedBy: alice } };
const discard: RunCommand = { type: 'DiscardRun', data: {} };
const cancel: RunCommand = { type: 'CancelRun', data: { forceCancelAvailableAt: AVAILABLE } };
const forceCancel = (at: string): RunCommand => ({ type: 'ForceCancelRun', data: { at } });

describe('a run', () => {
  it('is created as pending, and queued when its turn comes', () => {
    given().when({ type: 'CreateRun', data: creation() }).yields(created());
    given(created()).when({ type: 'QueueRun', data: {} }).yields(queued);
    given(created(), queued).when({ type: 'QueueRun', data: {} }).refuses('conflict', 'Run is plan_queued');
  });

  it('refuses to combine destroy with refresh-only, and save-plan with plan-only', () => {
    given()
      .when({ type: 'CreateRun', data: creation({ isDestroy: true, refreshOnly: true }) })
      .refuses('unprocessable', 'Refresh only');
    given()
      .when({ type: 'CreateRun', data: creation({ planOnly: true, savePlan: true }) })
      .refuses('unprocessable', 'Save plan');
  });

  it('waits for a confirmation if its plan has changes', () =>
    given(created(), queued, planning).when(report('planned')).yields(planned()));

  it('is applied automatically if it has auto-apply', () =>
    given(created({ autoApply: true }), queued, planning)
      .when(report('planned'))
      .yields(planned(), applyQueued));

  it('ends after a plan without changes, unless empty applies are allowed', () => {
    const empty = { hasChanges: false, resources: NONE };
    given(created({ autoApply: true }), queued, planning)
      .when(report('planned', empty))
      .yields(planned(false), { type: 'RunPlannedAndFinished', data: {} });
    given(created({ allowEmptyApply: true }), queued, planning)
      .when(report('planned', empty))
      .yields(planned(false));
  });

  it('ends after its plan if it is speculative', () =>
    given(created({ planOnly: true, autoApply: true }), queued, planning)
      .when(report('planned'))
      .yields(planned(), { type: 'RunPlannedAndFinished', data: {} }));

  it('stores its plan if it has save-plan', () => {
    const saved: RunEvent = { type: 'RunPlanSaved', data: {} };
    given(created({ savePlan: true, autoApply: true }), queued, planning)
      .when(report('planned'))
      .yields(planned(), saved);
    given(created({ savePlan: true }), queued, planning, planned(), saved)
      .when(confirm)
      .yields(confirmed, applyQueued);
  });

  it('continues by itself only after the checks that its executor starts at once', () => {
    const auto = [created({ autoApply: true }), queued, planning] as const;
    given(...auto)
      .when(report('policy_checking'))
      .yields(planned(), stage('policy_checking'));
    given(...auto, planned(), stage('policy_checking'))
      .when(report('policy_checked'))
      .yields(stage('policy_checked'), applyQueued);
    given(...auto, planned(), stage('cost_estimating'))
      .when(report('policy_checking'))
      .yields(stage('cost_estimated'), stage('policy_checking'));
  });

  it('ends with a soft policy failure if it is speculative, and otherwise waits for an override', () => {
    const checking = [queued, planning, planned(), stage('policy_checking')] as const;
    given(created(), ...checking)
      .when(report('policy_soft_failed'))
      .refuses('conflict', 'it cannot become policy_soft_failed');
    given(created({ planOnly: true }), ...checking)
      .when(report('policy_override'))
      .refuses('conflict', 'it cannot become policy_override');
  });

  it('cannot be confirmed a second time', () => {
    given(created(), queued, planning, planned()).when(confirm).yields(confirmed, applyQueued);
    given(created(), queued, planning, planned(), confirmed, applyQueued)
      .when(confirm)
      .refuses('conflict', 'Run is apply_queued: apply is not possible');
  });

  it('has one executor, and refuses the second', () =>
    given(created(), queued, planning)
      .when(report('planning'))
      .refuses('conflict', 'Run is planning: it cannot become planning'));

  it('is canceled at once while no executor works on it', () => {
    given(created()).when(cancel).yields(cancelRequested, canceled);
    given(created(), queued).when(cancel).yields(cancelRequested, canceled);
  });

  it('asks its executor to stop, and the executor may report its results until then', () => {
    const cancelRequestedHistory = [created(), queued, planning, cancelRequested] as const;
    given(created(), queued, planning).when(cancel).yields(cancelRequested);
    given(...cancelRequestedHistory)
      .when(cancel)
      .refuses('conflict', 'being canceled already');
    given(...cancelRequestedHistory)
      .when(report('canceled'))
      .yields(canceled);
    given(...cancelRequestedHistory)
      .when(report('planned'))
      .yields(planned(), canceled);
    given(created(), queued, planning).when(report('canceled')).refuses('conflict', 'nobody has asked');
  });

  it('is force-canceled some time after a cancel request', () => {
    given(created(), queued, planning).when(forceCancel(AVAILABLE)).refuses('conflict', 'it must be canceled first');
    given(created(), queued, planning, cancelRequested)
      .when(forceCancel('2026-11-21T10:00:09.999Z'))
      .refuses('conflict', `not before ${AVAILABLE}`);
    given(created(), queued, planning, cancelRequested)
      .when(forceCancel(AVAILABLE))
      .yields({ type: 'RunForceCanceled', data: {} });
    given(created(), queued, planning, cancelRequested, canceled)
      .when(forceCancel(AVAILABLE))
      .refuses('conflict', 'Run is canceled: force-cancel is not possible');
  });

  it('is discarded while it waits, but not while an executor works on it', () => {
    given(created()).when(discard).yields({ type: 'RunDiscarded', data: {} });
    given(created(), queued, planning).when(discard).refuses('conflict', 'Run is planning: discard is not possible');
  });

  it('accepts comments in every status', () => {
    const comment = { id: 'wsc-1', body: 'well', author: alice };
    given(created(), queued, planning, canceled)
      .when({ type: 'CommentRun', data: comment })
      .yields({ type: 'RunCommented', data: comment });
    given().when({ type: 'CommentRun', data: comment }).refuses('not-found', 'Not found');
  });
});

describe('the lock of the workspace', () => {
  const needsLockAfter = (...history: readonly RunEvent[]) => needsWorkspaceLock(fold(run, run.initial, history));

  it('belongs to a run from its turn to its end', () => {
    expect(needsLockAfter(created())).toBe(false);
    expect(needsLockAfter(created(), queued)).toBe(true);
    expect(needsLockAfter(created(), queued, planning, planned(), confirmed, applyQueued, applying)).toBe(true);
    expect(needsLockAfter(created(), queued, planning, canceled)).toBe(false);
  });

  it('never belongs to a speculative run, and belongs to a saved plan only during its apply', () => {
    expect(needsLockAfter(created({ planOnly: true }), queued, planning)).toBe(false);
    expect(needsLockAfter(created({ savePlan: true }), queued, planning)).toBe(false);
    expect(needsLockAfter(created({ savePlan: true }), queued, planning, planned(), confirmed, applyQueued)).toBe(true);
  });
});

describe('the state machine of runs', () => {
  it('reaches every status, and leaves every status that is not final', () => {
    const reportable = RUN_STATUSES.flatMap((status) => RUN_STATUS_MACHINE[status].executor);
    const byThemselves = Object.values(STATUS_AFTER);
    expect(RUN_STATUSES.filter((status) => ![...reportable, ...byThemselves].includes(status))).toEqual([]);
    expect(RUN_STATUSES.filter(isFinal)).toEqual([
      'policy_soft_failed',
      'planned_and_finished',
      'applied',
      'discarded',
      'errored',
      'canceled',
      'force_canceled',
    ]);
  });

  /** A command may depend on the present status, because blindly chosen commands seldom get far. */
  type Wish = (at: RunStatus) => RunCommand;

  const nextReport = fc.tuple(fc.nat(), fc.boolean()).map(([n, hasChanges]): Wish => (at) => {
    const onwards = RUN_STATUS_MACHINE[at].executor.filter((status) => !['errored', 'canceled'].includes(status));
    return report(onwards[n % onwards.length] ?? 'planning', { hasChanges, resources: hasChanges ? ONE : NONE });
  });

  const blindWish: fc.Arbitrary<RunCommand> = fc.oneof(
    fc
      .record({ status: fc.constantFrom(...RUN_STATUSES), hasChanges: fc.boolean() })
      .map(({ status, hasChanges }) => report(status, { hasChanges, resources: hasChanges ? ONE : NONE })),
    fc.constantFrom<RunCommand>(
      { type: 'QueueRun', data: {} },
      { type: 'ForceExecuteRun', data: {} },
      confirm,
      discard,
      cancel,
      forceCancel(AVAILABLE),
    ),
  );

  const anyWish: fc.Arbitrary<Wish> = fc.oneof(
    nextReport,
    blindWish.map(
      (command): Wish =>
        () =>
          command,
    ),
  );

  const anyOptions = fc
    .record({ planOnly: fc.boolean(), savePlan: fc.boolean(), autoApply: fc.boolean(), allowEmptyApply: fc.boolean() })
    .filter(({ planOnly, savePlan }) => !planOnly || !savePlan);

  /** Transitions that the table allows, besides those that a run makes by itself. */
  const mayFollow: { readonly [T in RunCommand['type']]?: (from: RunStatus) => boolean } = {
    ReportProgress: (from) => !isFinal(from),
    ConfirmRun: (from) => isActionAllowed(from, 'apply'),
    DiscardRun: (from) => isActionAllowed(from, 'discard'),
    CancelRun: (from) => isActionAllowed(from, 'cancel'),
    ForceCancelRun: isExecuting,
    QueueRun: (from) => from === 'pending',
    ForceExecuteRun: (from) => from === 'pending',
  };

  /** Returns what is wrong with a step; an empty list if it is correct. */
  const wrongWith = (before: ExistingRun, wish: RunCommand, after: RunState): readonly string[] => {
    if (after.status === 'absent') return ['it has vanished'];
    return [
      ...(mayFollow[wish.type]?.(before.status) ? [] : [`${wish.type} while ${before.status}`]),
      ...(after.status === 'apply_queued' && !after.autoApply && wish.type !== 'ConfirmRun'
        ? ['nobody confirmed']
        : []),
      ...(after.planOnly && /appl|confirmed|saved/.test(after.status) ? [`speculative, and ${after.status}`] : []),
      ...(isFinal(after.status) && needsWorkspaceLock(after) ? ['it keeps the workspace'] : []),
    ];
  };

  const isFittingRefusal = (error: unknown, { status }: ExistingRun): boolean =>
    error instanceof Refusal && error.kind === 'conflict' && error.message.includes(status);

  it('allows only the transitions of the table, for any sequence of commands', () => {
    const visited = new Set<RunStatus>();
    fc.assert(
      fc.property(anyOptions, fc.array(anyWish, { minLength: 40, maxLength: 60 }), (chosen, wishes) => {
        let state = fold(run, run.initial, [created(chosen)]) as ExistingRun;
        const wrong: string[] = [];
        for (const wishFor of wishes) {
          const wish = wishFor(state.status);
          visited.add(state.status);
          try {
            const after = fold<RunState, RunEvent>(run, state, decide(run, wish, state));
            wrong.push(...wrongWith(state, wish, after));
            state = after as ExistingRun;
          } catch (error) {
            if (!isFittingRefusal(error, state)) wrong.push(String(error));
          }
        }
        expect(wrong).toEqual([]);
      }),
      { numRuns: 1_000, seed: 20_261_121 },
    );
    // A run never stays there: the confirmation also queues it.
    expect(RUN_STATUSES.filter((status) => !visited.has(status))).toEqual(['confirmed']);
  });
});

describe('an event RunCreated of schema version 1', () => {
  it('has no actions to invoke and no policy paths', () => {
    const { invokeActionAddrs: _, policyPaths: __, ...before } = options;
    const old = { workspace: 'ws-1', options: before };
    expect(upcastEventData(runEvents.RunCreated, 1, old)).toEqual({ workspace: 'ws-1', options });
  });
});
