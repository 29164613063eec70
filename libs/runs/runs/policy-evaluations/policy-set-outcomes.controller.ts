import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { badRequest, notFound } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  getParameter,
  parsePage,
  renderDocument,
  renderPage,
  slicePage,
  type Document,
  type QueryParameters,
} from '#api/json-api';
import { ENFORCEMENT_LEVELS } from '#runs/run-tasks/rules';
import { Vault } from '#storage/vault';
import { renderPolicySetOutcome } from './policy-evaluations.document.js';
import {
  findDetailedEvaluation,
  findEvaluationOfOutcome,
  type DetailedEvaluation,
  type PolicyEvaluationRow,
} from './policy-evaluations.queries.js';
import { listOutcomesOfSet, POLICY_RESULTS, type ChosenPolicySet, type PolicyOutput } from './run-policies.js';

/** Clients number the conditions from 0. */
const MOST_CONDITIONS = 5;

const STATUS_FILTERS = Array.from({ length: MOST_CONDITIONS }, (_, n) => `filter[${n}][status]`);
const LEVEL_FILTERS = Array.from({ length: MOST_CONDITIONS }, (_, n) => [
  `filter[${n}][enforcement_level]`,
  `filter[${n}][enforcementLevel]`,
]);

export const OUTCOME_FILTERS = [...STATUS_FILTERS, ...LEVEL_FILTERS.flat()];

const requireValue = <const T extends string>(name: string, value: string | undefined, values: readonly T[]) => {
  if (value === undefined) return null;
  const match = values.find((one) => one === value);
  if (match === undefined) throw badRequest(`${name} must be one of ${values.join(', ')}, got ${value}`, name);
  return match;
};

/** Returns the conditions of the request. A set matches if one of its policies meets all members of one condition. */
const parseConditions = (query: QueryParameters) =>
  Array.from({ length: MOST_CONDITIONS }, (_, n) => {
    const [level = '', alias = ''] = LEVEL_FILTERS[n] ?? [];
    const status = requireValue(`filter[${n}][status]`, getParameter(query, `filter[${n}][status]`), POLICY_RESULTS);
    const enforcementLevel = requireValue(
      level,
      getParameter(query, level) ?? getParameter(query, alias),
      ENFORCEMENT_LEVELS,
    );
    return { status, enforcementLevel };
  }).filter(({ status, enforcementLevel }) => status !== null || enforcementLevel !== null);

type OutcomeCondition = ReturnType<typeof parseConditions>[number];

const meets = (
  { outcomes }: PolicyEvaluationRow,
  set: ChosenPolicySet,
  { status, enforcementLevel }: OutcomeCondition,
): boolean =>
  outcomes === null
    ? status === null && set.policies.some((policy) => policy.enforcementLevel === enforcementLevel)
    : listOutcomesOfSet(set, outcomes).some(
        (outcome) =>
          (enforcementLevel === null || outcome.enforcementLevel === enforcementLevel) &&
          (status === null || outcome.status === status),
      );

/** The results of the policies of each policy set. */
@Controller('api/v2')
export class PolicySetOutcomesController {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  @Get('policy-evaluations/:id/policy-set-outcomes')
  @ConfigureRoute({ filters: OUTCOME_FILTERS })
  async list(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const conditions = parseConditions(query);
    const detailed = await findDetailedEvaluation(this.database, actor, id);
    const { evaluation } = detailed;
    const outputs = this.decrypt(detailed);
    const sets = evaluation.sets.filter(
      (set) => conditions.length === 0 || conditions.some((one) => meets(evaluation, set, one)),
    );
    const resources = slicePage(sets, page).map((set) => renderPolicySetOutcome(detailed, set, outputs));
    return renderPage(resources, page, sets.length, request.publicUrl);
  }

  @Get('policy-set-outcomes/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const detailed = await findEvaluationOfOutcome(this.database, actor, id);
    const set = detailed.evaluation.sets.find(({ outcome }) => outcome === id);
    if (!set) throw notFound();
    return renderDocument(renderPolicySetOutcome(detailed, set, this.decrypt(detailed)));
  }

  private decrypt({ evaluation, encryptedOutputs }: DetailedEvaluation): readonly PolicyOutput[] | null {
    return encryptedOutputs === null
      ? null
      : (JSON.parse(this.vault.decrypt(evaluation.id, encryptedOutputs)) as readonly PolicyOutput[]);
  }
}
