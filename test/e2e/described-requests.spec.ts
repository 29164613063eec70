import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routes, type DocumentedRoute } from '../docs/routes.js';
import { samplesFor, setUpFuzzedWorld, type FuzzedWorld } from '../matrix/fuzzed-world.js';
import { checkDescribedResponse } from '../support/described-responses.js';
import { ROOT } from '../support/folders.js';
import { sendRaw, type RawReply } from '../support/raw-requests.js';
import { chooseSeed, countRounds, scaleLimit } from '../support/rounds.js';
import { REACHES_GIT_HOSTS } from '../support/git-host.js';
import { startTestServer, type TestServer } from '../support/server.js';
import {
  kindsOf,
  type ParameterTemplate,
  type DescribedRequest,
  type RequestTemplate,
} from './described-requests/requests.js';
import type { GeneratedSchema } from './described-requests/schema-values.js';

// Every operation of docs/reference/openapi.json gets requests that are made from its description.

const LONG = scaleLimit(600_000);
const SEED = chooseSeed(20_261_124);

/**
 * Some operations need a state that only other requests can create, such as a lock of the same caller, a run that waits for its
 * confirmation or for the override of its policies, or that an executor has claimed, a form with the token of a page, or the answer of an
 * identity provider. The test of a notification configuration needs a destination that answers, an assessment a workspace with an
 * applied run, and releases of terraform that the server lists cannot be deleted.
 */
const MOST_REFUSED = 74;

/** It needs the token of a request to the service of a run task, which no caller of the API has. */
const REPORT_OF_RUN_TASK = 'PATCH /api/v2/task-results/{id}/callback';

type RequestOperation = {
  readonly parameters?: readonly ParameterTemplate[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: GeneratedSchema }>>;
  };
};

const description = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RequestOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, GeneratedSchema>> };
};

let server: TestServer;
let fuzzed: FuzzedWorld;

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  fuzzed = await setUpFuzzedWorld(server);
}, LONG);

afterAll(() => server?.close());

const bodyOf = ({ requestBody }: RequestOperation): RequestTemplate['body'] => {
  const [content] = Object.entries(requestBody?.content ?? {});
  if (!content) return null;
  const [mediaType, { schema }] = content;
  return { required: requestBody?.required ?? false, mediaType, schema };
};

/** An operation of the description with its route, before samples are created. */
type RoutedOperation = Omit<RequestTemplate, 'samples'> & { readonly route: DocumentedRoute };

/** Operations that remove or rename what others need come last, and the ones with the shortest paths remove most. */
const rankOf = ({ method, path }: RoutedOperation): number => {
  const isOrganization = path.endsWith('/organizations/{organization}');
  if (method === 'GET') return 0;
  if (method === 'DELETE' || /\/(?:safe-delete|forget)$/.test(path))
    return isOrganization ? 1_000 : 500 - path.split('/').length;
  // It can rename the organization, and the paths of others contain the name.
  return method === 'POST' ? 1 : isOrganization ? 900 : 2;
};

const loadOperations = async (): Promise<readonly RoutedOperation[]> => {
  const operations = (await routes()).flatMap((route): RoutedOperation[] => {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const operation = description.paths[path]?.[route.method.toLowerCase()];
    if (!operation) return [];
    const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    return [{ route, method: route.method, path, query, body: bodyOf(operation) }];
  });
  return operations.toSorted((a, b) => rankOf(a) - rankOf(b));
};

const ajv = new Ajv2020({ strict: false, allowUnionTypes: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'description', components: description.components });

const compile = ({ body }: RequestTemplate): ValidateFunction =>
  ajv.compile(
    JSON.parse(
      JSON.stringify(body?.schema ?? {}).replaceAll('#/components/', 'description#/components/'),
    ) as GeneratedSchema,
  );

/** Returns whether the request has a JSON body. Where the body is optional, `null` is the same as no body. */
const hasJsonBody = (request: DescribedRequest, template: RequestTemplate['body']): boolean =>
  request.body !== undefined && request.value !== undefined && (request.value !== null || template?.required !== false);

/** Returns what is wrong with the response, or null if the description allows it. */
const faultOf = (
  { path, body }: RequestTemplate,
  request: DescribedRequest,
  reply: RawReply,
  validate: ValidateFunction,
): string | null => {
  const { status, type, text } = reply;
  if (status >= 500) return `status ${status}`;
  const json: unknown = type.includes('json') && text !== '' ? JSON.parse(text) : null;
  const url = request.url.replace(/^[^?]*/, path);
  try {
    checkDescribedResponse({ method: request.method, url, status, contentType: type, text, json });
  } catch (error) {
    return (error as Error).message;
  }
  if (status >= 300) return null;
  if (request.isRefused) return `status ${status} for ${request.kind}`;
  if (!hasJsonBody(request, body) || validate(request.value)) return null;
  return `status ${status} for a body that its schema refuses: ${ajv.errorsText(validate.errors)}`;
};

type Fault = { readonly fault: string; readonly request: string; readonly answer: string };

class Summary {
  readonly faults: Fault[] = [];
  /** Number of requests by status. */
  readonly statuses = new Map<number, number>();
  /** Operations of which no request has succeeded. */
  readonly refused = new Set<string>();

  async send(template: RequestTemplate, request: DescribedRequest, validate: ValidateFunction): Promise<void> {
    const reply = await sendRaw(server.url, request, fuzzed.tokens.get(request.caller) ?? null);
    this.statuses.set(reply.status, (this.statuses.get(reply.status) ?? 0) + 1);
    if (reply.status < 400) this.refused.delete(`${template.method} ${template.path}`);
    const fault = faultOf(template, request, reply, validate);
    if (fault === null) return;
    const { value: _, isRefused: __, ...sent } = request;
    this.faults.push({ fault, request: JSON.stringify(sent).slice(0, 2_000), answer: reply.text.slice(0, 500) });
  }
}

const sendAll = async (): Promise<Summary> => {
  const summary = new Summary();
  const texts = [...new Set(Object.values(fuzzed.world.resources).concat(['acme', fuzzed.world.one]))];
  const sources = { schemas: description.components.schemas, texts };
  for (const [index, { route, ...operation }] of (await loadOperations()).entries()) {
    const template = { ...operation, samples: await samplesFor(route, fuzzed.world) };
    summary.refused.add(`${template.method} ${template.path}`);
    const validate = compile(template);
    for (const { count, requests } of kindsOf(template, sources)) {
      const sampled = fc.sample(requests, { seed: SEED + index, numRuns: countRounds(count) });
      for (const request of sampled) await summary.send(template, request, validate);
    }
  }
  return summary;
};

describe('requests made from the description', () => {
  it(
    'sends valid and invalid requests to every route: no 5xx, no undocumented answer',
    async () => {
      const { faults, statuses, refused } = await sendAll();
      const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      process.stdout.write(
        `described requests, seed ${SEED}: ${counts.join(', ')}; ${refused.size} operations without a success\n`,
      );
      expect({ seed: SEED, faults }).toEqual({ seed: SEED, faults: [] });
      // The spec of the reports of run tasks sends them with a token.
      expect(refused.delete(REPORT_OF_RUN_TASK)).toBe(true);
      // Most operations must succeed at least once, or only refusals were tested.
      expect(refused.size).toBeLessThan(MOST_REFUSED);
    },
    LONG,
  );
});
