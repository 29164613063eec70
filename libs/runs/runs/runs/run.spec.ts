import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, fold, Refusal, upcastEventData } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import type { RunOptions } from './run-options.js';
import {
  isActionAllowed,
  isApplying,
  isFinal,
  isExecuting,
  RUN_STATUS_MACHINE,
  RUN_STATUSES,
  type RunStatus,
} from './run-status.js';
import { isPhaseClaimed, needsWorkspaceLock, STATUS_AFTER, type ExistingRun, type RunState } from './run-state.js';
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
  triggeredBy: null,
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
const planning: RunEvent = { type: 'RunPlanStarted', data: { message: null, execution: null } };
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
const applying: RunEvent = { type: 'RunApplyStarted', data: { message: null, execution: null } };
const canceled: RunEvent = { type: 'RunCanceled', data: { message: null } };
const AVAILABLE = '2026-11-21T10:00:10.000Z';
const cancelRequested: RunEvent = { type: 'RunCancelRequested', data: { forceCancelAvailableAt: AVAILABLE } };

const NO_POLICIES = { evaluation: 'poleval-1', taskStage: 'ts-post_plan', sets: [] };

const report = (status: RunStatus, more: Partial<RunProgress> = {}): RunCommand => ({
  type: 'ReportProgress',
  data: {
    fence: null,
    status,
    hasChanges: true,
    hasGeneratedConfiguration: false,
    resources: ONE,
    assessed: null,
    message: null,
    policyResults: [],
    policies: { workspaceName: 'prod', runMessage: '', choice: NO_POLICIES },
    ...more,
  },
});
const executor = { agent: 'agent-1', agentName: 'builder', pool: 'apool-1' };
const claim: RunCommand = { type: 'ClaimRun', data: executor };
const expire = (fence: number): RunCommand => ({
  type: 'ExpireLease',
  data: { agent: 'agent-1', fence, message: 'lost' },
});
const lost = (phase: 'plan' | 'apply', fence: number): RunEvent => ({
  type: 'RunExecutorLost',
  data: { phase, agent: 'agent-1', fence },
});
const start = (type: 'RunPlanStarted' | 'RunApplyStarted', fence: number): RunEvent => ({
  type,
  data: { message: null, execution: { ...executor, fence } },
});
const requeued: RunEvent = { type: 'RunPlanRequeued', data: { fence: 1, message: 'lost' } };
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

  it('is canceled by force at once by an administrator of the site, unless it has ended', () => {
    const atOnce: RunCommand = { type: 'ForceCancelRun', data: { at: null } };
    given(created()).when(atOnce).yields({ type: 'RunForceCanceled', data: {} });
    given(created(), queued, planning).when(atOnce).yields({ type: 'RunForceCanceled', data: {} });
    given(created(), queued, planning, cancelRequested, canceled)
      .when(atOnce)
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

describe('a claimed run', () => {
  const claimed = [created(), queued, start('RunPlanStarted', 1)] as const;
  const toApply = [...claimed, planned(), confirmed, applyQueued] as const;

  it('has one executor for its plan and one for its apply, each with a greater fence', () => {
    given(created(), queued).when(claim).yields(start('RunPlanStarted', 1));
    given(...claimed)
      .when(claim)
      .refuses('conflict', 'Run is planning: it does not wait for an executor');
    given(...toApply)
      .when(claim)
      .yields(start('RunApplyStarted', 2));
  });

  it('accepts reports only with the newest fence', () => {
    given(...claimed)
      .when(report('planned', { fence: 1 }))
      .yields(planned());
    for (const fence of [null, 2]) {
      given(...claimed)
        .when(report('planned', { fence }))
        .refuses('conflict', 'its executor has the fence 1');
    }
    given(created(), queued, planning)
      .when(report('planned', { fence: 1 }))
      .refuses('conflict', 'nobody has claimed it');
  });

  it('fails after three executors were lost while they planned it', () => {
    const twice = [requeued, start('RunPlanStarted', 2), requeued, start('RunPlanStarted', 3)];
    given(...claimed, ...twice)
      .when(expire(3))
      .yields(lost('plan', 3), { type: 'RunErrored', data: { message: 'lost' } });
  });

  it('gets identity tokens while its phase is claimed', () => {
    const issue = (fence: number): RunCommand => ({ type: 'IssueIdentityToken', data: { fence, audience: 'aws' } });
    const issued: RunEvent = { type: 'RunIdentityTokenIssued', data: { phase: 'plan', audience: 'aws' } };
    given(...claimed)
      .when(issue(1))
      .yields(issued);
    given(...claimed)
      .when(issue(2))
      .refuses('conflict', 'its executor has the fence 1');
    given(...claimed, planned())
      .when(issue(1))
      .refuses('conflict', 'Run is planned: it has no job');
  });

  it('records with the end of the plan that terraform has generated configuration', () => {
    const generated: RunEvent = { type: 'RunConfigurationGenerated', data: {} };
    given(created(), queued, planning)
      .when(report('planned', { hasGeneratedConfiguration: true }))
      .yields(generated, planned());
    given(created(), queued, planning)
      .when(report('errored', { hasGeneratedConfiguration: true }))
      .yields(generated, { type: 'RunErrored', data: { message: null } });
  });

  it('records with the end of the plan what it has found about drift, only in health assessments', () => {
    const assessed = {
      resourcesDrifted: 1,
      resourcesUndrifted: 2,
      checksPassed: 0,
      checksFailed: 0,
      checksErrored: 0,
      checksUnknown: 0,
    };
    const assessment: RunEvent = { type: 'RunCreated', data: { ...creation(), source: 'assessment' } };
    given(assessment, queued, planning)
      .when(report('planned', { assessed }))
      .yields({ type: 'RunAssessed', data: assessed }, planned());
    given(assessment, queued, planning)
      .when(report('errored', { assessed }))
      .yields({ type: 'RunErrored', data: { message: null } });
    given(created({ refreshOnly: true }), queued, planning)
      .when(report('planned', { assessed }))
      .yields(planned());
  });

  it('loses its data once, and only after its end', () => {
    const deletion: RunCommand = { type: 'DeleteRunData', data: {} };
    const deleted: RunEvent = { type: 'RunDataDeleted', data: {} };
    const applies = [...toApply, start('RunApplyStarted', 2)] as const;
    const ended: RunEvent = { type: 'RunErrored', data: { message: null } };
    given(...applies)
      .when(deletion)
      .refuses('conflict', 'Run is applying: its logs and documents are needed');
    given(...applies, ended)
      .when(deletion)
      .yields(deleted);
    given(...applies, ended, deleted)
      .when(deletion)
      .yields();
    given(...applies, ended, deleted)
      .when({ type: 'StoreErroredState', data: { fence: 2, size: 7 } })
      .refuses('not-found', 'A data retention policy has deleted');
  });

  it('keeps a state that was not accepted, during the apply and after its end', () => {
    const store = (fence: number): RunCommand => ({ type: 'StoreErroredState', data: { fence, size: 7 } });
    const stored: RunEvent = { type: 'RunErroredStateStored', data: { fence: 2, size: 7 } };
    const applies = [...toApply, start('RunApplyStarted', 2)] as const;
    const lost: RunEvent = { type: 'RunErrored', data: { message: 'lost' } };
    given(...applies)
      .when(store(2))
      .yields(stored);
    given(...applies, lost)
      .when(store(2))
      .yields(stored);
    given(...applies, stored)
      .when(store(2))
      .yields();
    given(...applies)
      .when(store(1))
      .refuses('conflict', 'its executor has the fence 2');
    given(...claimed)
      .when(store(1))
      .refuses('conflict', 'Run is planning: it has no errored state');
  });

  it('gives its job to the first nonce of each claim', () => {
    const read = (fence: number, nonceHash: string): RunCommand => ({
      type: 'ReadJob',
      data: { fence, nonceHash, choice: NO_POLICIES },
    });
    const wasRead = (phase: 'plan' | 'apply', fence: number): RunEvent => ({
      type: 'RunJobRead',
      data: { phase, fence, nonceHash: 'one', hasChosenPolicies: phase === 'plan' },
    });
    given(...claimed)
      .when(read(1, 'one'))
      .yields(wasRead('plan', 1));
    given(...claimed, wasRead('plan', 1))
      .when(read(1, 'one'))
      .yields();
    given(...claimed, wasRead('plan', 1))
      .when(read(1, 'two'))
      .refuses('conflict', 'Run is planning: its job was read with another nonce');
    given(...claimed, wasRead('plan', 1), requeued, start('RunPlanStarted', 2))
      .when(read(2, 'one'))
      .yields(wasRead('plan', 2));
    given(...toApply, start('RunApplyStarted', 2))
      .when(read(2, 'one'))
      .yields(wasRead('apply', 2));
    given(...toApply, start('RunApplyStarted', 2))
      .when(read(1, 'one'))
      .refuses('conflict', 'its executor has the fence 2');
    given(...claimed, planned())
      .when(read(1, 'one'))
      .refuses('conflict', 'Run is planned: it has no job');
    given(created(), queued, planning).when(read(1, 'one')).refuses('conflict', 'nobody has claimed it');
  });

  it('is planned again if its executor is lost', () => {
    given(...claimed)
      .when(expire(1))
      .yields(lost('plan', 1), requeued);
    given(...claimed, requeued)
      .when(claim)
      .yields(start('RunPlanStarted', 2));
    given(...claimed, requeued, start('RunPlanStarted', 2))
      .when(report('planned', { fence: 1 }))
      .refuses('conflict', 'its executor has the fence 2, and this request has 1');
    given(...claimed, requeued, start('RunPlanStarted', 2))
      .when(expire(1))
      .yields();
  });

  it('fails if its executor is lost during the apply, and is canceled if a user has requested that', () => {
    given(...toApply, start('RunApplyStarted', 2))
      .when(expire(2))
      .yields(lost('apply', 2), { type: 'RunErrored', data: { message: 'lost' } });
    given(...claimed, cancelRequested)
      .when(expire(1))
      .yields(lost('plan', 1), { type: 'RunCanceled', data: { message: 'lost' } });
  });

  it('ignores the end of a lease after its executor has finished', () =>
    given(...claimed, planned())
      .when(expire(1))
      .yields());
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
  type Wish = (at: ExistingRun) => RunCommand;

  const nextReport = fc.tuple(fc.nat(), fc.boolean()).map(([n, hasChanges]): Wish => (at) => {
    const fence = isPhaseClaimed(at) ? at.fence : null;
    const onwards = RUN_STATUS_MACHINE[at.status].executor.filter(
      (status) => !['errored', 'canceled'].includes(status),
    );
    const resources = hasChanges ? ONE : NONE;
    return report(onwards[n % onwards.length] ?? 'planning', { fence, hasChanges, resources });
  });

  const blindWish: fc.Arbitrary<RunCommand> = fc.oneof(
    fc
      .record({ status: fc.constantFrom(...RUN_STATUSES), hasChanges: fc.boolean() })
      .map(({ status, hasChanges }) => report(status, { hasChanges, resources: hasChanges ? ONE : NONE })),
    fc.constantFrom<RunCommand>(
      { type: 'QueueRun', data: {} },
      { type: 'ForceExecuteRun', data: {} },
      claim,
      expire(1),
      expire(2),
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
    ClaimRun: (from) => from === 'plan_queued' || from === 'apply_queued',
    ExpireLease: () => true,
    ConfirmRun: (from) => isActionAllowed(from, 'apply'),
    DiscardRun: (from) => isActionAllowed(from, 'discard'),
    CancelRun: (from) => isActionAllowed(from, 'cancel'),
    ForceCancelRun: isExecuting,
    QueueRun: (from) => from === 'pending',
    ForceExecuteRun: (from) => from === 'pending',
  };

  type Step = { readonly before: ExistingRun; readonly wish: RunCommand; readonly after: ExistingRun };

  /** What no step may do. */
  const wrongs: Readonly<Record<string, (step: Step) => boolean>> = {
    'changes a status that the table does not allow': ({ before, wish }) => !mayFollow[wish.type]?.(before.status),
    'is queued for its apply although nobody has confirmed it': ({ before, wish, after }) =>
      after.status === 'apply_queued' &&
      before.status !== after.status &&
      !after.autoApply &&
      wish.type !== 'ConfirmRun',
    'is speculative, and goes on after its plan': ({ after }) =>
      after.planOnly && /appl|confirmed|saved/.test(after.status),
    'keeps the workspace after its end': ({ after }) => isFinal(after.status) && needsWorkspaceLock(after),
    'accepts a report from an executor without the claim': ({ before, wish }) =>
      wish.type === 'ReportProgress' && isPhaseClaimed(before) && wish.data.fence !== before.fence,
    'applies again': ({ before, after }) =>
      isApplying(before.status) && !isApplying(after.status) && !isFinal(after.status),
  };

  const wrongWith = (step: Step): readonly string[] =>
    Object.keys(wrongs)
      .filter((wrong) => wrongs[wrong]?.(step))
      .map((wrong) => `${wrong}: ${step.wish.type} while ${step.before.status}`);

  const isFittingRefusal = (error: unknown, { status }: ExistingRun): boolean =>
    error instanceof Refusal && error.kind === 'conflict' && error.message.includes(status);

  it('allows only the transitions of the table, for any sequence of commands', () => {
    const visited = new Set<RunStatus>();
    fc.assert(
      fc.property(anyOptions, fc.array(anyWish, { minLength: 40, maxLength: 60 }), (chosen, wishes) => {
        let state = fold(run, run.initial, [created(chosen)]) as ExistingRun;
        const wrong: string[] = [];
        for (const wishFor of wishes) {
          const wish = wishFor(state);
          visited.add(state.status);
          try {
            const after = fold<RunState, RunEvent>(run, state, decide(run, wish, state)) as ExistingRun;
            wrong.push(...wrongWith({ before: state, wish, after }));
            state = after;
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

describe('events of schema version 1', () => {
  it('say that nobody has claimed the phase', () =>
    expect(upcastEventData(runEvents.RunPlanStarted, 1, { message: null })).toEqual(planning.data));
});

describe('an event RunCreated of schema version 1', () => {
  it('has no actions to invoke and no policy paths', () => {
    const { invokeActionAddrs: _, policyPaths: __, ...before } = options;
    const old = { workspace: 'ws-1', options: before };
    expect(upcastEventData(runEvents.RunCreated, 1, old)).toEqual({ workspace: 'ws-1', options });
  });
});
