import { z } from 'zod';
import { describeBody, describeController, describeJson, exampleText } from '#api/json-api/description';
import { AuditFactsController } from './audit-facts.controller.js';
import { buildFactSchema, buildResourceSchema, factSchemas, MAX_FACTS_PER_REQUEST } from './facts.body.js';
import { CATALOGUE } from './facts.catalogue.js';

const AUDIT_FACTS = {
  name: 'Audit facts',
  description: 'Audit entries that other services report about resources that Cadastre does not own.',
};

const mediaType = 'application/json';

/** One schema for all actions of a type that have the same `meta`. */
const resources = Object.entries(CATALOGUE).flatMap(([type, actions]) =>
  [...Map.groupBy(Object.entries(actions as Readonly<Record<string, z.ZodType>>), ([, meta]) => meta)].map(
    ([meta, entries]) =>
      buildResourceSchema(
        type,
        entries.map(([action]) => action),
        meta,
      ),
  ),
);

const fact = buildFactSchema(z.union(resources)).meta({
  id: 'AuditFact',
  description: 'An audit entry of another service. `source` and `id` identify it.',
});

const report = z.union([
  fact,
  z.strictObject({ facts: z.array(fact).min(1).max(MAX_FACTS_PER_REQUEST) }).meta({
    id: 'AuditFactBatch',
    description: 'Several facts. The server records the valid facts only if all of them are valid.',
  }),
]);

const EXAMPLE: z.input<typeof fact> = {
  source: 'https://policies.example.com',
  id: 'check-81',
  time: '2026-01-31T12:30:15.123Z',
  auth: { accessor_id: 'user-8Xc3kYb2TqLw9RfZ', description: 'ada', type: 'Client' },
  resource: { id: 'st-7', type: 'stack', action: 'create', meta: { name: 'network' } },
};

const identified = {
  source: exampleText('https://policies.example.com'),
  id: exampleText('check-81'),
  entry: exampleText('5c2f7f1a-8a55-5d8e-9d6b-2f3c1f0f7e11', 'The id of the entry in the audit trail.'),
};

const outcomes = z
  .strictObject({
    facts: z
      .array(
        z.union([
          z.strictObject({ ...identified, result: z.literal('recorded') }),
          z.strictObject({
            ...identified,
            result: z.literal('known'),
            differs: z.boolean().meta({ description: 'Whether the recorded fact has other contents.' }),
          }),
        ]),
      )
      .meta({ description: 'The outcomes, in the order of the facts.' }),
  })
  .meta({ id: 'AuditFactOutcomes' });

const describeOutcomes = (description: string) => describeJson(outcomes, { mediaType, description });

const EXAMPLE_NAME = 'stack.create';

const jsonSchema = z.looseObject({}).meta({ id: 'JsonSchema', description: 'A JSON Schema (draft 7).' });

export const auditFactsOperations = describeController(AuditFactsController, AUDIT_FACTS, {
  report: {
    operationId: 'reportAuditFacts',
    summary: 'Report facts',
    description:
      'Send one fact, or several facts as `{ "facts": [] }`. A fact is recorded once, however often it is reported. Reporting the same facts again is safe.',
    body: { ...describeBody(report, EXAMPLE), mediaType },
    answer: describeOutcomes('At least one fact was recorded.'),
    otherAnswers: { 200: describeOutcomes('All facts were recorded before.') },
    refusals: {
      unprocessable: 'A fact is not valid. The answer lists the problems of all facts, and none is recorded.',
      'too-many': 'The organization reports more facts than the limit. Retry after `Retry-After` seconds.',
    },
    events: ['AuditFactReported'],
  },
  schemas: {
    operationId: 'listAuditFactSchemas',
    summary: 'Show the JSON Schemas of all facts',
    answer: describeJson(
      z.strictObject({ schemas: z.record(z.string(), jsonSchema) }).meta({
        description: 'The schemas by resource type and action, such as `stack.create`.',
      }),
      { mediaType, description: 'The schemas.', example: { schemas: { [EXAMPLE_NAME]: factSchemas[EXAMPLE_NAME] } } },
    ),
  },
  schema: {
    operationId: 'getAuditFactSchema',
    summary: 'Show the JSON Schema of a fact',
    path: { name: { description: 'The resource type and the action of the fact.', example: EXAMPLE_NAME } },
    answer: describeJson(jsonSchema, { mediaType, description: 'The schema.', example: factSchemas[EXAMPLE_NAME] }),
  },
});
