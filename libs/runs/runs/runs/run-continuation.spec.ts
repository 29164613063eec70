import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold, Refusal } from '#platform/kernel';
import { TASK_STAGES, type TaskStageName } from '#runs/run-tasks/rules';
import { countRounds } from '../../../../test/support/rounds.js';
import { DEFAULT_OPTIONS } from './run-options.js';
import type { RunEvent } from './run-event.js';
import type { PolicyChoice, PolicyResult } from '../policy-evaluations/run-policies.js';
import { isOpenResult, type NewTaskStage } from '../task-stages/run-task-stage.js';
import type { RunState } from './run-state.js';
import { run, type RunCommand } from './run.js';

const PERSON = { type: 'users', id: 'user-ada', name: 'ada' };
const COUNTS = { additions: 1, changes: 0, destructions: 0, imports: 0 };
const SUBJECT = {
  workspaceName: 'prod',
  runCreatedAt: '2026-11-29T00:00:00.000Z',
  runCreatedBy: 'user-ada',
  runMessage: '',
  isSpeculative: false,
};

const newStage = (stage: TaskStageName, ...levels: ('advisory' | 'mandatory')[]): NewTaskStage => ({
  id: `ts-${stage}`,
  stage,
  results: levels.map((enforcementLevel, n) => ({ id: `taskrs-${stage}-${n}`, task: `task-${n}`, enforcementLevel })),
});

const TASKS = [0, 1].map((n) => ({
  task: `task-${n}`,
  taskName: `scanner-${n}`,
  taskUrl: 'https://scanner.example',
  workspaceTask: null,
}));

const create = (options: object = {}): RunCommand => ({
  type: 'CreateRun',
  data: {
    workspace: 'ws-1',
    configurationVersion: 'cv-1',
    message: '',
    source: 'tfe-api',
    createdBy: PERSON,
    options: {
      ...DEFAULT_OPTIONS,
      planOnly: false,
      autoApply: false,
      terraformVersion: '1.5.7',
      variables: [],
      ...options,
    },
  },
});

const createWith = (stages: readonly NewTaskStage[], options: object = {}): readonly RunCommand[] => [
  create(options),
  { type: 'AddTaskStages', data: { tasks: TASKS, stages } },
];

const queue: RunCommand = { type: 'QueueRun', data: {} };
const confirm: RunCommand = { type: 'ConfirmRun', data: { confirmedBy: PERSON } };
const cancel: RunCommand = { type: 'CancelRun', data: { forceCancelAvailableAt: '2026-11-29T00:00:10.000Z' } };
const report = (result: string, status: 'running' | 'passed' | 'failed'): RunCommand => ({
  type: 'ReportTaskResult',
  data: { result, status, message: '', url: '', outcomes: [], reportedRun: SUBJECT },
});
const endAsErrored = (result: string): RunCommand => ({
  type: 'EndTaskResult',
  data: { result, status: 'errored', message: 'silent' },
});
const NO_POLICIES: PolicyChoice = { evaluation: 'poleval-1', taskStage: 'ts-post_plan', sets: [] };

const progress = (status: string, more: object = {}): RunCommand =>
  ({
    type: 'ReportProgress',
    data: {
      fence: null,
      status,
      hasChanges: true,
      hasGeneratedConfiguration: false,
      resources: COUNTS,
      message: null,
      assessed: null,
      policyResults: [],
      policies: { workspaceName: 'prod', runMessage: '', choice: NO_POLICIES },
      ...more,
    },
  }) as RunCommand;

/** Runs the commands. A refused command changes nothing. */
const play = (
  commands: readonly RunCommand[],
  initial: RunState = run.initial,
): { state: RunState; events: readonly RunEvent[] } => {
  let state = initial;
  const events: RunEvent[] = [];
  for (const command of commands) {
    try {
      const decided = (run.decide[command.type] as (data: unknown, state: RunState) => readonly RunEvent[])(
        command.data,
        state,
      );
      events.push(...decided);
      state = fold(run, state, decided);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  return { state, events };
};

const statusAfter = (...commands: readonly RunCommand[]) => play(commands).state.status;

describe('a run with run tasks', () => {
  it('waits for its tasks before an executor can claim it, and before and after the plan', () => {
    const begun = [...createWith([newStage('pre_plan', 'mandatory'), newStage('post_plan', 'mandatory')]), queue];
    expect(statusAfter(...begun)).toBe('pre_plan_running');
    expect(statusAfter(...begun, progress('planning'))).toBe('pre_plan_running');
    const passed = [...begun, report('taskrs-pre_plan-0', 'running'), report('taskrs-pre_plan-0', 'passed')];
    expect(statusAfter(...passed)).toBe('plan_queued');
    const planned = [...passed, progress('planning'), progress('planned')];
    expect(statusAfter(...planned)).toBe('post_plan_running');
    expect(statusAfter(...planned, confirm)).toBe('post_plan_running');
    expect(statusAfter(...planned, report('taskrs-post_plan-0', 'passed'))).toBe('post_plan_completed');
    expect(statusAfter(...planned, report('taskrs-post_plan-0', 'failed'))).toBe('errored');
    expect(statusAfter(...planned, endAsErrored('taskrs-post_plan-0'))).toBe('errored');
  });

  it('continues after the failure of an advisory task', () => {
    const begun = [
      ...createWith([newStage('post_plan', 'advisory')]),
      queue,
      progress('planning'),
      progress('planned'),
    ];
    expect(statusAfter(...begun, report('taskrs-post_plan-0', 'failed'))).toBe('post_plan_completed');
    expect(statusAfter(...begun, endAsErrored('taskrs-post_plan-0'))).toBe('post_plan_completed');
  });

  it('continues by itself as the options say, when the tasks after the plan are done', () => {
    const end = (options: object) =>
      statusAfter(
        ...createWith([newStage('post_plan', 'mandatory')], options),
        queue,
        progress('planning'),
        progress('planned'),
        report('taskrs-post_plan-0', 'passed'),
      );
    expect(end({ autoApply: true })).toBe('apply_queued');
    expect(end({ planOnly: true })).toBe('planned_and_finished');
    expect(end({ savePlan: true })).toBe('planned_and_saved');
  });

  it('is not applied before the checks that its executor reports with the plan, and before the tasks that follow them', () => {
    const begun = [...createWith([newStage('post_plan', 'mandatory')], { autoApply: true }), queue];
    const checking = [...begun, progress('planning'), progress('policy_checking')];
    expect(statusAfter(...checking)).toBe('policy_checking');
    expect(statusAfter(...checking, progress('policy_override'))).toBe('policy_override');
    const checked = [...checking, progress('policy_checked')];
    expect(statusAfter(...checked)).toBe('post_plan_running');
    expect(statusAfter(...checked, report('taskrs-post_plan-0', 'passed'))).toBe('apply_queued');
    expect(statusAfter(...checked, report('taskrs-post_plan-0', 'failed'))).toBe('errored');
  });

  it('is not applied if a mandatory task before the apply fails, also without a confirmation', () => {
    const planned = [...createWith([newStage('pre_apply', 'mandatory')], { autoApply: true }), queue];
    const waiting = [...planned, progress('planning'), progress('planned')];
    expect(statusAfter(...waiting)).toBe('pre_apply_running');
    const { events, state } = play([...waiting, report('taskrs-pre_apply-0', 'failed')]);
    expect(state.status).toBe('errored');
    expect(events.map(({ type }) => type)).not.toContain('RunApplyQueued');
    expect(statusAfter(...waiting, report('taskrs-pre_apply-0', 'passed'))).toBe('apply_queued');
  });

  it('stays applied whatever the tasks after the apply say', () => {
    const applied = ['planning', 'planned', 'applying', 'applied'].map((status) => progress(status));
    const begun = [...createWith([newStage('post_apply', 'mandatory')], { autoApply: true }), queue, ...applied];
    const { state } = play([...begun, report('taskrs-post_apply-0', 'failed')]);
    expect(state).toMatchObject({ status: 'applied', stages: [{ status: 'failed' }] });
  });

  it('is canceled at once while it waits for its tasks, whose results no report changes afterwards', () => {
    const waiting = [...createWith([newStage('pre_plan', 'mandatory', 'advisory')]), queue];
    const canceled = [...waiting, report('taskrs-pre_plan-0', 'passed'), cancel];
    const { state } = play([...canceled, report('taskrs-pre_plan-1', 'failed'), endAsErrored('taskrs-pre_plan-1')]);
    expect(state).toMatchObject({
      status: 'canceled',
      stages: [{ status: 'canceled', results: [{ status: 'passed' }, { status: 'canceled' }] }],
    });
  });

  it('counts a result once, and refuses reports about results that have ended or not begun', () => {
    const begun = [...createWith([newStage('pre_plan', 'mandatory'), newStage('pre_apply', 'mandatory')]), queue];
    const passed = [...begun, report('taskrs-pre_plan-0', 'passed')];
    const again = play([...passed, report('taskrs-pre_plan-0', 'failed'), report('taskrs-pre_apply-0', 'failed')]);
    expect(again).toEqual(play(passed));
  });
});

describe('any sequence of commands', () => {
  const levels = fc.array(fc.constantFrom('advisory' as const, 'mandatory' as const), { minLength: 1, maxLength: 2 });
  const stages = fc
    .tuple(fc.subarray([...TASK_STAGES]), fc.array(levels, { minLength: 4, maxLength: 4 }))
    .map(([names, counts]) => names.map((name, n) => newStage(name, ...(counts[n] ?? ['mandatory']))));
  const options = fc.record({ autoApply: fc.boolean(), planOnly: fc.boolean(), savePlan: fc.boolean() });
  const results = TASK_STAGES.flatMap((stage) => [0, 1].map((n) => `taskrs-${stage}-${n}`));
  const command = fc.oneof(
    fc.constantFrom<RunCommand>(queue, confirm, cancel, { type: 'DiscardRun', data: {} }),
    fc.constantFrom<RunCommand>({ type: 'ForceCancelRun', data: { at: null } }, { type: 'ForceExecuteRun', data: {} }),
    fc
      .constantFrom(
        'planning',
        'planned',
        'post_plan_running',
        'post_plan_completed',
        'cost_estimating',
        'cost_estimated',
      )
      .map((status) => progress(status)),
    fc
      .constantFrom('policy_checking', 'policy_checked', 'policy_override', 'applying', 'applied', 'errored')
      .map((status) => progress(status)),
    fc
      .tuple(fc.constantFrom(...results), fc.constantFrom('running', 'passed', 'failed', 'errored'))
      .map(([result, status]) => (status === 'errored' ? endAsErrored(result) : report(result, status as 'running'))),
  );

  it('leaves no run that waits for tasks without an open result, and none that an unpassed stage let pass', () => {
    fc.assert(
      fc.property(stages, options, fc.array(command, { maxLength: 40 }), (planned, chosen, commands) => {
        const { state, events } = play([...createWith(planned, chosen), ...commands]);
        if (state.status === 'absent') return;
        const has = (name: TaskStageName) => state.stages.some(({ stage }) => stage === name);
        const running = state.stages.filter(({ status }) => status === 'running');
        expect(running.length).toBeLessThanOrEqual(1);
        for (const { results: all } of running) expect(all.some(({ status }) => isOpenResult(status))).toBe(true);
        const waits = /^(pre_plan|post_plan|pre_apply)_running$/.exec(state.status)?.[1];
        const blocking = running.map(({ stage }) => stage).filter((stage) => stage !== 'post_apply');
        // Executors report the stages of runs without run tasks themselves.
        expect(blocking).toEqual(waits && has(waits as TaskStageName) ? [waits] : []);
        const ended = events.flatMap((event) => (event.type === 'RunTaskStageEnded' ? [event.data.taskStage] : []));
        expect(new Set(ended).size).toBe(ended.length);
        const types = events.map(({ type }) => type);
        const passedStages = state.stages.filter(({ status }) => status === 'passed').map(({ stage }) => stage);
        const needed = (type: RunEvent['type'], ...names: TaskStageName[]) =>
          types.includes(type) ? names.filter(has) : [];
        expect(passedStages).toEqual(
          expect.arrayContaining([
            ...needed('RunPlanStarted', 'pre_plan'),
            ...needed('RunApplyQueued', 'post_plan', 'pre_apply'),
          ]),
        );
      }),
      { numRuns: countRounds(2_000) },
    );
  });
});

const claim: RunCommand = { type: 'ClaimRun', data: { agent: 'agent-1', agentName: null, pool: 'apool-1' } };
const readJob = (choice: PolicyChoice, fence = 1): RunCommand => ({
  type: 'ReadJob',
  data: { fence, nonceHash: `nonce ${fence}`, choice },
});

const choosePolicies = (overridable: boolean, ...levels: ('advisory' | 'mandatory')[]): PolicyChoice => ({
  ...NO_POLICIES,
  sets: [
    {
      outcome: 'psout-1',
      policySet: 'polset-1',
      policySetName: 'security',
      overridable,
      toolVersion: '1.19.1',
      policies: levels.map((enforcementLevel, n) => ({
        policy: `pol-${n}`,
        policyName: `rule-${n}`,
        query: 'data.rules.deny',
        enforcementLevel,
        sha256: null,
      })),
    },
  ],
});

const result = (policy: number, status: PolicyResult['status']): PolicyResult => ({
  policy: `pol-${policy}`,
  toolVersion: '1.19.1',
  status,
  message: 'a reason',
  printed: '',
});

const override: Extract<RunCommand, { type: 'OverridePolicies' }> = {
  type: 'OverridePolicies',
  data: { taskStage: 'ts-post_plan', overriddenBy: PERSON, comment: null, obstacle: null },
};

/** A run whose plan has these policies and results. */
const planWith = (choice: PolicyChoice, results: readonly PolicyResult[], options: object = {}, more: object = {}) => [
  create(options),
  queue,
  claim,
  readJob(choice),
  progress('planned', { fence: 1, policyResults: results, ...more }),
];

describe('a run with policies', () => {
  it('continues if all policies pass, or only advisory ones do not', () => {
    const choice = choosePolicies(false, 'mandatory', 'advisory');
    for (const status of ['passed', 'failed', 'errored'] as const) {
      const { state, events } = play(planWith(choice, [result(0, 'passed'), result(1, status)]));
      expect(state.status).toBe('post_plan_completed');
      expect(events.map(({ type }) => type)).toContain('RunPoliciesPassed');
    }
  });

  it('ends if a mandatory policy fails, cannot be evaluated, or has no result', () => {
    const choice = choosePolicies(false, 'mandatory');
    for (const results of [[result(0, 'failed')], [result(0, 'errored')], [], [result(7, 'passed')]]) {
      expect(statusAfter(...planWith(choice, results))).toBe('errored');
    }
    const { events } = play(planWith(choice, []));
    expect(events.at(-1)).toEqual({
      type: 'RunErrored',
      data: {
        message: 'The mandatory policy rule-0 of the policy set security could not be evaluated',
      },
    });
  });

  it('waits for the override of a failure, but not of an error', () => {
    const choice = choosePolicies(true, 'mandatory');
    const failed = planWith(choice, [result(0, 'failed')], { autoApply: true });
    expect(statusAfter(...failed)).toBe('post_plan_awaiting_decision');
    expect(statusAfter(...failed, confirm)).toBe('post_plan_awaiting_decision');
    expect(statusAfter(...failed, progress('post_plan_completed'))).toBe('post_plan_awaiting_decision');
    expect(statusAfter(...failed, override)).toBe('apply_queued');
    expect(statusAfter(...planWith(choice, [result(0, 'errored')]))).toBe('errored');
    for (const obstacle of ['author', 'no-person', 'unknown-authors'] as const) {
      const own: RunCommand = { ...override, data: { ...override.data, obstacle } };
      expect(statusAfter(...failed, own)).toBe('post_plan_awaiting_decision');
    }
    const passed = planWith(choice, [result(0, 'passed')]);
    expect(play([...passed, override]).events).toEqual(play(passed).events);
    const { state } = play([...failed, { type: 'DiscardRun', data: {} }]);
    expect(state).toMatchObject({ status: 'discarded', stages: [{ status: 'canceled' }] });
  });

  it('ends a speculative plan that fails, and needs no decision for a plan without changes', () => {
    const choice = choosePolicies(true, 'mandatory');
    const results = [result(0, 'failed')];
    expect(statusAfter(...planWith(choice, results, { planOnly: true }))).toBe('errored');
    expect(statusAfter(...planWith(choice, results, {}, { hasChanges: false }))).toBe('planned_and_finished');
  });

  it('does not let the plan of an executor pass that has not read its job', () => {
    const policies = { workspaceName: 'prod', runMessage: '', choice: choosePolicies(false, 'mandatory') };
    const unread = [create(), queue, progress('planning'), progress('planned', { policies })];
    expect(statusAfter(...unread)).toBe('errored');
    expect(statusAfter(create(), queue, progress('planning'), progress('post_plan_running', { policies }))).toBe(
      'planning',
    );
  });

  it('does not pass if a process of an earlier release has served the job', () => {
    const policies = { workspaceName: 'prod', runMessage: '', choice: choosePolicies(false, 'mandatory') };
    for (const [hasChosenPolicies, status] of [
      [false, 'errored'],
      [true, 'post_plan_completed'],
    ] as const) {
      const { state } = play([...createWith([newStage('post_plan')]), queue, claim]);
      const served = { phase: 'plan', fence: 1, nonceHash: 'nonce 1', hasChosenPolicies } as const;
      const begun = fold(run, state, [{ type: 'RunJobRead', data: served }]);
      expect(play([progress('planned', { fence: 1, policies })], begun).state.status).toBe(status);
    }
  });

  it.each([
    ['mandatory', 'errored', 'post_plan_completed'],
    ['advisory', 'post_plan_completed', 'apply_queued'],
  ] as const)(
    'does not pass if an earlier process has taken its plan, with a policy that is %s',
    (level, ended, confirmed) => {
      const chosen = [queue, claim, readJob(choosePolicies(true, level))];
      const planned = { type: 'RunPlanned', data: { hasChanges: true, resources: COUNTS, message: null } } as const;
      const waiting = play([...createWith([newStage('post_plan', 'mandatory')]), ...chosen]).state;
      const started = { type: 'RunTaskStageStarted', data: { taskStage: 'ts-post_plan' } } as const;
      const running = { type: 'RunStageReached', data: { stage: 'post_plan_running', message: null } } as const;
      const unevaluated = fold(run, waiting, [planned, started, running]);
      expect(play([report('taskrs-post_plan-0', 'passed')], unevaluated).state.status).toBe(ended);

      const completed = { type: 'RunStageReached', data: { stage: 'post_plan_completed', message: null } } as const;
      const passed = fold(run, play([create(), ...chosen]).state, [planned, completed]);
      expect(play([confirm], passed).state.status).toBe(confirmed);
    },
  );

  it('chooses again when another executor plans', () => {
    const lost: RunCommand = { type: 'ExpireLease', data: { agent: 'agent-1', fence: 1, message: 'lost' } };
    const begun = [create(), queue, claim, readJob(choosePolicies(false, 'mandatory')), lost, claim];
    const planned = progress('planned', { fence: 2 });
    expect(statusAfter(...begun, readJob(NO_POLICIES, 2), planned)).toBe('post_plan_completed');
    expect(statusAfter(...begun, readJob(choosePolicies(false, 'advisory'), 2), planned)).toBe('post_plan_completed');
  });

  it('asks run tasks first', () => {
    const choice = choosePolicies(true, 'mandatory');
    const begun = [
      ...createWith([newStage('post_plan', 'mandatory')]),
      queue,
      claim,
      readJob(choice),
      progress('planned', { fence: 1, policyResults: [result(0, 'failed')] }),
    ];
    expect(statusAfter(...begun)).toBe('post_plan_running');
    expect(statusAfter(...begun, report('taskrs-post_plan-0', 'failed'))).toBe('errored');
    expect(statusAfter(...begun, report('taskrs-post_plan-0', 'passed'))).toBe('post_plan_awaiting_decision');
  });
});
