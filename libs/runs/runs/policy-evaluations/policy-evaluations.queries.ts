import { notFound, sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { can, type Actor } from '#api/access';
import { selectEncryptedSecret } from '#storage/vault';
import { selectPolicyDescriptions } from '#runs/policies';
import { readForRun, readScopedForRun } from '../run-events/run-contents.queries.js';
import type { ChosenPolicySet, PolicyOutcome } from './run-policies.js';

/** `unreachable`: the run has ended before its policies were evaluated. */
export const EVALUATION_STATUSES = ['pending', 'passed', 'failed', 'errored', 'overridden', 'unreachable'] as const;

export type PolicyEvaluationRow = {
  readonly id: string;
  readonly taskStage: string;
  readonly status: (typeof EVALUATION_STATUSES)[number];
  readonly reached: Readonly<Record<string, Timestamp>>;
  readonly sets: readonly ChosenPolicySet[];
  /** Null until the plan is done. */
  readonly outcomes: readonly PolicyOutcome[] | null;
};

/** An evaluation with what only its outcomes show. */
export type DetailedEvaluation = {
  readonly evaluation: PolicyEvaluationRow;
  /** The outputs of the policies; null if there are none, if they were deleted, or if the caller may not read them. */
  readonly encryptedOutputs: string | null;
  /** The present descriptions of the policies and policy sets of the organization, by id. */
  readonly descriptions: Readonly<Record<string, string>>;
};

/** Whether the run `r` has ended before the evaluation `e`. */
const IS_LEFT_OUT = sql.raw(`e.status = 'pending' and r.status in (
  'policy_soft_failed', 'planned_and_finished', 'applied', 'discarded', 'errored', 'canceled', 'force_canceled')`);

const EVALUATION = sql`jsonb_build_object('id', e.id, 'taskStage', e.task_stage, 'reached', e.reached, 'sets', e.sets,
  'outcomes', e.outcomes, 'status', case when ${IS_LEFT_OUT} then 'unreachable' else e.status end)`;

const selectRunOf = (condition: Sql): Sql => sql`(select run from policy_evaluations e where ${condition})`;

export const findPolicyEvaluation = async (
  database: Database,
  actor: Actor,
  id: string,
): Promise<PolicyEvaluationRow> => {
  const condition = sql`e.id = ${id}`;
  const selected = sql`(select ${EVALUATION} from policy_evaluations e where ${condition})`;
  return readForRun(database, actor, selectRunOf(condition), selected);
};

/**
 * A policy reads the plan with its sensitive values, and can print them in another form. So its outputs need the permission of the
 * JSON output of the plan, or the permission to override policies.
 */
const findDetailed = async (database: Database, actor: Actor, condition: Sql): Promise<DetailedEvaluation> => {
  const { contents, ...scope } = await readScopedForRun<DetailedEvaluation | null>(
    database,
    actor,
    selectRunOf(condition),
    sql`(select jsonb_build_object('evaluation', ${EVALUATION}, 'descriptions', ${selectPolicyDescriptions('r.organization')},
                'encryptedOutputs', ${selectEncryptedSecret(sql.raw('e.id'))})
           from policy_evaluations e where ${condition})`,
  );
  if (!contents) throw notFound();
  const isReader = can(actor, 'read-plan-output', scope) || can(actor, 'override-policies', scope);
  return isReader ? contents : { ...contents, encryptedOutputs: null };
};

export const findDetailedEvaluation = (database: Database, actor: Actor, id: string): Promise<DetailedEvaluation> =>
  findDetailed(database, actor, sql`e.id = ${id}`);

/** Returns the evaluation with the outcome. */
export const findEvaluationOfOutcome = (database: Database, actor: Actor, id: string): Promise<DetailedEvaluation> =>
  findDetailed(database, actor, sql`e.outcome_ids @> array[${id}]::text[]`);

/** Returns the evaluations of a task stage: one, or none. */
export const listEvaluationsOfStage = (
  database: Database,
  actor: Actor,
  stage: string,
): Promise<readonly PolicyEvaluationRow[]> =>
  readForRun(
    database,
    actor,
    sql`(select run from task_stages where id = ${stage})`,
    sql`(select coalesce(jsonb_agg(${EVALUATION}), '[]') from policy_evaluations e
          where e.run = r.id and e.task_stage = ${stage})`,
  );

/** Selects the evaluations of the given stages, for callers that may read the stages. */
export const selectEvaluationsOfStages = (stages: readonly string[]): Sql => sql`
  select ${EVALUATION} as evaluation from policy_evaluations e join runs r on r.id = e.run
   where e.task_stage = any (${stages}::text[]) order by e.id`;
