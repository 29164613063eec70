import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { getTreatment } from '#api/json-api';
import type { AnswerDescription } from '#api/json-api/description';
import { loadOperations, loadResources, type DescribedOperation } from './openapi/described-operations.js';
import { Documents, type DescribedResources } from './openapi/documents.js';
import { Examples, type DescribedSchema } from './openapi/examples.js';
import { buildExtensions } from './openapi/extensions.js';
import { buildPathParameters, toTemplate } from './openapi/parameters.js';
import { buildRefusals, SHARED_REFUSALS } from './openapi/refusals.js';
import { shortenSchemas } from './openapi/shorten.js';
import { routes } from './routes.js';
import type { ApiDescription } from '../support/described-responses.js';

const INTRODUCTION = `The API of HCP Terraform and Terraform Enterprise that Cadastre serves, and the operations that Cadastre adds.

- Documents follow JSON:API 1.0. Errors are JSON:API error objects.
- Requests have the header \`Authorization: Bearer TOKEN\`. Operations with an empty \`security\` need no token. If their path has
  the parameter \`token\`, it is a signed link from another answer, and everyone who has the link may send the request.
- Each response has the header \`X-Request-Id\`. The audit trail has the same id.
- \`x-permission\` lists the permissions that the caller needs, all of them. The first missing permission decides whether the
  answer is 403 or 404.
- \`x-audit-entry\` lists the entries of the audit trail, and \`x-event\` the events, that a success records.
- \`x-treatment\` is how the server treats a member of a body: \`kept\` is stored and shown without an effect, \`refused\` gets a
  422, \`ignored\` is dropped. Other members are supported.`;

const describeSuccess = ({ kind, description }: AnswerDescription): string =>
  description ?? { document: 'The document.', content: 'The content.', empty: 'Done. The response has no body.' }[kind];

const buildAnswer = (answer: AnswerDescription, documents: Documents): object => ({
  description: describeSuccess(answer),
  ...(answer.headers ? { headers: z.object(answer.headers) } : {}),
  ...(answer.kind === 'empty' ? {} : { content: documents.contentOf(answer) }),
});

const buildResponses = (operation: DescribedOperation, documents: Documents): object => {
  const { route, description } = operation;
  const answers = { [route.status]: description.answer, ...description.otherAnswers };
  const successes = Object.entries(answers).map(([status, each]) => [status, buildAnswer(each, documents)] as const);
  return { ...Object.fromEntries(successes), ...buildRefusals(operation) };
};

const buildOperation = (operation: DescribedOperation, documents: Documents, resources: DescribedResources): object => {
  const { route, description, tag } = operation;
  const { operationId, summary, query, headers, body } = description;
  return {
    operationId,
    tags: [tag.name],
    summary,
    ...(description.description === undefined ? {} : { description: description.description }),
    ...(route.open ? { security: [] } : {}),
    requestParams: {
      path: buildPathParameters(operation, resources),
      ...(query ? { query: z.object(query) } : {}),
      ...(headers ? { header: z.object(headers) } : {}),
    },
    ...(body
      ? { requestBody: { required: !body.isOptional, content: documents.contentOfBody(body, operationId) } }
      : {}),
    responses: buildResponses(operation, documents),
    ...buildExtensions(operation),
  };
};

/** Adds treatments of members to the schemas of bodies, and shortens schemas. */
const override: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  const treatment = getTreatment(zodSchema as unknown as z.ZodType);
  if (io === 'input' && treatment.treatment !== 'supported') {
    Object.assign(jsonSchema, { 'x-treatment': treatment.treatment });
    if ('why' in treatment) jsonSchema.description = treatment.why;
  }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};

const buildPaths = (
  operations: readonly DescribedOperation[],
  resources: DescribedResources,
): ZodOpenApiPathsObject => {
  const documents = new Documents(resources);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { method, path } = operation.route;
    (paths[toTemplate(path)] ??= {})[method.toLowerCase()] = buildOperation(operation, documents, resources);
  }
  return paths as ZodOpenApiPathsObject;
};

const listTags = (operations: readonly DescribedOperation[]): readonly object[] => {
  const tags = new Map(operations.map(({ tag: { name, description } }) => [name, { name, description }]));
  return [...tags.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

type MutableMedia = { schema?: DescribedSchema; example?: unknown; examples?: object };

/** Adds an example to each answer that has none: to `components.examples` if several operations share the document. */
const addExamples = (document: ApiDescription, resources: DescribedResources): ApiDescription => {
  const ids = new Map([...resources.values()].map(({ type, exampleId }) => [type, exampleId]));
  const examples = new Examples({ schemas: document.components.schemas ?? {}, ids });
  const shared: Record<string, { readonly value: unknown }> = {};
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const { operationId, responses } of operations) {
    for (const media of Object.values(responses).flatMap(({ content = {} }): MutableMedia[] =>
      Object.values(content),
    )) {
      if (!media.schema || 'example' in media || 'contentMediaType' in media.schema) continue;
      const name = media.schema.$ref?.split('/').at(-1);
      const value = examples.compose(media.schema, operationId);
      if (name === undefined) media.example = value;
      else {
        shared[name] = { value };
        media.examples = { example: { $ref: `#/components/examples/${name}` } };
      }
    }
  }
  const missing = [...examples.missing];
  if (missing.length > 0) throw new Error(`give these texts an example, with \`exampleText\`: ${missing.join(', ')}`);
  return { ...document, components: { ...document.components, examples: sortByName(shared) } };
};

/** Leaves out refusals that each operation describes in its own words. */
const omitUnusedRefusals = (document: ApiDescription): ApiDescription => {
  const used = JSON.stringify(document.paths);
  const responses = Object.entries(document.components.responses ?? {});
  const isUsed = ([name]: readonly [string, unknown]) => used.includes(`"#/components/responses/${name}"`);
  return {
    ...document,
    components: { ...document.components, responses: Object.fromEntries(responses.filter(isUsed)) },
  };
};

const sortByName = <T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Returns the OpenAPI 3.1 description of all routes that `*.openapi.ts` describe. */
export const buildOpenApiDocument = async (): Promise<ApiDescription> => {
  const [operations, resources] = [await loadOperations(), await loadResources()];
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Cadastre API',
        version: '1.0.0',
        description: INTRODUCTION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This server.' }],
      security: [{ token: [] }],
      tags: listTags(operations) as { name: string; description: string }[],
      paths: buildPaths(operations, resources),
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'The token of a user, team, organization, agent pool or run.',
          },
        },
        responses: SHARED_REFUSALS as ZodOpenApiComponentsObject['responses'] & object,
      },
    },
    { override },
  ) as unknown as ApiDescription;
  return addExamples(omitUnusedRefusals(shortenSchemas(document)), resources);
};

/** Returns the routes without a description. */
export const listUndescribedRoutes = async (): Promise<readonly string[]> => {
  const described = new Set((await loadOperations()).map(({ route }) => `${route.method} ${route.path}`));
  return (await routes()).map(({ method, path }) => `${method} ${path}`).filter((route) => !described.has(route));
};
