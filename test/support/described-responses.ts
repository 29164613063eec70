import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ROOT } from './folders.js';

/** The path of the description from the root of the repository. */
const DESCRIPTION = 'docs/reference/openapi.json';

const REMEDY = `describe it in *.openapi.ts, and run \`npm run docs\``;

type DescribedMedia = {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: { readonly example: { readonly $ref: string } };
};
type MediaTypes = Readonly<Record<string, DescribedMedia>>;
type DescribedAnswer = { readonly $ref?: string; readonly content?: MediaTypes };
type DescribedParameter = { readonly name: string; readonly in: string };
type ApiOperation = {
  readonly operationId: string;
  readonly parameters?: readonly DescribedParameter[];
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
  /** Types of events that a success can append. */
  readonly 'x-event'?: readonly string[];
};
type Methods = Readonly<Record<string, ApiOperation>>;

/** The parts of the OpenAPI document that tests use. */
export type ApiDescription = {
  readonly paths: Readonly<Record<string, Methods>>;
  readonly components: {
    readonly responses?: Readonly<Record<string, DescribedAnswer>>;
    readonly schemas?: Readonly<Record<string, object>>;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
};

/** A response of the server. `json` is its body if the body is JSON. */
export type CheckedResponse = {
  readonly method: string;
  /** The address of the request, with its query. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
  readonly json: unknown;
};

type DescribedPath = { readonly path: string; readonly segments: readonly string[]; readonly methods: Methods };

const isTemplate = (segment: string): boolean => segment.startsWith('{');

const matches = (segments: readonly string[], names: readonly string[]): boolean =>
  segments.length === names.length &&
  segments.every((segment, index) => (isTemplate(segment) ? names[index] !== '' : segment === names[index]));

/** Media types of one JSON value. Lines of JSON are a text. */
const JSON_TYPE = /[/+]json$/;

/** Numbers of indexed parameters, such as `filter[tagged][3][key]`. The description has index 0. */
const toIndexZero = (name: string): string => name.replaceAll(/\[\d+\]/g, '[0]');

/** Returns schemas with references to the schema `description`, which has all components. */
const toSchema = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', 'description#/$defs/')) as object;

/** Checks responses against the description of their operations. */
export class DescribedResponses {
  private readonly paths: readonly DescribedPath[];
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly ajv: Ajv2020;

  constructor(private readonly description: ApiDescription) {
    this.paths = Object.entries(description.paths)
      .map(([path, methods]) => ({ path, segments: path.split('/'), methods }))
      // The router prefers names over parameters.
      .toSorted((a, b) => a.segments.filter(isTemplate).length - b.segments.filter(isTemplate).length);
    this.ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
    addFormats.default(this.ajv);
    this.ajv.addVocabulary(['example', 'x-treatment']);
    this.ajv.addSchema({ $id: 'description', $defs: toSchema(description.components.schemas ?? {}) });
  }

  /**
   * Throws if the description does not have the status, the media type, a member of the body, or a query parameter of a
   * success. Operations without a description are not checked.
   */
  check(response: CheckedResponse): void {
    const { pathname, searchParams } = new URL(response.url, 'http://localhost');
    const match = this.find(response.method, pathname);
    if (!match) return;
    const { operation } = match;
    const where = `${response.method} ${match.path}`;
    const answer = this.resolve(operation.responses[response.status]);
    if (!answer) throw new Error(`${where} answered ${response.status}, which ${DESCRIPTION} does not have: ${REMEDY}`);
    this.checkContent(`${where} ${response.status}`, answer.content ?? {}, response);
    if (response.status < 400) checkParameters(where, operation, [...searchParams.keys()]);
  }

  /** Returns the description of the operation with this path, or null if it has none. */
  find(method: string, path: string): { readonly path: string; readonly operation: ApiOperation } | null {
    const names = path.replace(/(.)\/$/, '$1').split('/');
    const match = this.paths.find(
      ({ methods, segments }) => method.toLowerCase() in methods && matches(segments, names),
    );
    const operation = match?.methods[method.toLowerCase()];
    return match && operation ? { path: match.path, operation } : null;
  }

  private resolve(answer: DescribedAnswer | undefined): DescribedAnswer | undefined {
    const name = answer?.$ref?.split('/').at(-1);
    return name === undefined ? answer : this.description.components.responses?.[name];
  }

  private checkContent(where: string, content: MediaTypes, { contentType, text, json }: CheckedResponse): void {
    if (Object.keys(content).length === 0) {
      if (text !== '') throw new Error(`${where} has a body, and its description has none: ${REMEDY}`);
      return;
    }
    const mediaType = (contentType ?? '').replace(/;.*$/, '').trim();
    const described = content[mediaType] ?? content['*/*'];
    if (!described) throw new Error(`${where} has the media type ${mediaType}, which is not described: ${REMEDY}`);
    if (!JSON_TYPE.test(mediaType) || !described.schema) return;
    const validate = this.compile(`${where} ${mediaType}`, described.schema);
    if (validate(json)) return;
    const faults = this.ajv.errorsText(validate.errors?.slice(0, 10) ?? [], { dataVar: 'body', separator: '\n  ' });
    const details = (validate.errors ?? []).slice(0, 10).map(({ params }) => JSON.stringify(params));
    throw new Error(`${where} does not match ${DESCRIPTION}: ${REMEDY}\n  ${faults}\n  ${details.join('\n  ')}`);
  }

  private compile(name: string, schema: object): ValidateFunction {
    const existing = this.validators.get(name);
    if (existing) return existing;
    const validate = this.ajv.compile(toSchema(schema));
    this.validators.set(name, validate);
    return validate;
  }
}

/** Tests send this query parameter, and others beside it, to show that the server ignores unknown ones. */
const UNKNOWN_PARAMETER = 'unheard-of';

const checkParameters = (where: string, { parameters = [] }: ApiOperation, sent: readonly string[]): void => {
  if (sent.includes(UNKNOWN_PARAMETER)) return;
  const described = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const unknown = sent.filter((name) => !described.includes(toIndexZero(name)));
  if (unknown.length > 0) throw new Error(`${where} accepted ${unknown.join(', ')}, which is not described: ${REMEDY}`);
};

let described: DescribedResponses | null = null;

/** Returns docs/reference/openapi.json. A process reads it once. */
const loadDescribed = (): DescribedResponses =>
  (described ??= new DescribedResponses(JSON.parse(readFileSync(join(ROOT, DESCRIPTION), 'utf8')) as ApiDescription));

/** Throws if the response does not match docs/reference/openapi.json (`DescribedResponses.check`). */
export const checkDescribedResponse = (response: CheckedResponse): void => loadDescribed().check(response);

/** Returns the operation with this path, such as `/api/v2/workspaces/ws-1`, or null if it has no description. */
export const findDescribedOperation = (method: string, path: string): ApiOperation | null =>
  loadDescribed().find(method, path)?.operation ?? null;
