import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv, type ValidateFunction } from 'ajv';
import type { OutboundFetch } from '#platform/outbound';
import { cached } from './cached.js';

const run = promisify(execFile);

/** The descriptions that GitHub publishes (MIT). The package is not installed, because it has 385 MB. */
const PACKAGE = '@octokit/openapi@23.0.2';
const FILES = { github: 'api.github.com.json', enterprise: 'ghes-3.19.json' } as const;

export const INSTALL_DESCRIPTIONS_TIMEOUT_MS = 5 * 60_000;

type Referable = { readonly $ref?: string };
type DescribedField = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: object;
};
type HostExample = Referable & { readonly value?: unknown };
type HostMedia = { readonly schema?: object; readonly examples?: Readonly<Record<string, HostExample>> };
type DescribedContent = { readonly content?: Readonly<Record<string, HostMedia>> };
type HostOperation = {
  readonly parameters?: readonly (DescribedField & Referable)[];
  readonly requestBody?: DescribedContent;
  readonly responses: Readonly<Record<string, DescribedContent & Referable>>;
};
type HostApi = { readonly paths: Readonly<Record<string, Readonly<Record<string, HostOperation>>>> };

const downloadDescriptions = (): Promise<string> =>
  cached('octokit-openapi-23.0.2', async (folder) => {
    const packed = await run('npm', ['pack', PACKAGE, '--silent', '--pack-destination', folder]);
    const archive = join(folder, packed.stdout.trim());
    const members = Object.values(FILES).map((file) => `package/generated/${file}`);
    await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=2', ...members]);
  });

/** A request that the test has answered. */
type HostRequest = {
  readonly method: string;
  /** The path in the API, with the query. */
  readonly path: string;
  readonly authorization: string | null;
  readonly body: unknown;
};

/** Returns the answer to a request from the host's own example. A status or header fields replace the ones of a success. */
type AnswerOf = (
  example: any,
  request: HostRequest,
) => { readonly body?: unknown; readonly status?: number; readonly headers?: Readonly<Record<string, string>> };

/** Answers by the method and the described path, such as `GET /repos/{owner}/{repo}`. */
export type HostAnswers = Readonly<Record<string, AnswerOf>>;

/** Ajv knows `nullable` only beside a type. */
const acceptNull = (_: string, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !('nullable' in value) || 'type' in value) return value;
  const { nullable, ...schema } = value;
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : value;
};

/** The description has keywords of OpenAPI beside those of JSON Schema. */
const LENIENT = { strict: false, validateSchema: false, validateFormats: false } as const;

/** Both validators read the description once for all tests of a file. The second one takes numbers of queries from texts. */
type HostDescription = {
  readonly api: HostApi;
  readonly ajv: Ajv;
  readonly ajvOfQueries: Ajv;
  readonly validators: Map<object, ValidateFunction>;
};

const descriptions: Partial<Record<keyof typeof FILES, Promise<HostDescription>>> = {};

const readDescription = async (kind: keyof typeof FILES): Promise<HostDescription> => {
  const folder = await downloadDescriptions();
  const api = JSON.parse(await readFile(join(folder, FILES[kind]), 'utf8'), acceptNull) as HostApi;
  const [ajv, ajvOfQueries] = [new Ajv(LENIENT), new Ajv({ ...LENIENT, coerceTypes: true })];
  for (const each of [ajv, ajvOfQueries]) each.addSchema(api, 'host');
  return { api, ajv, ajvOfQueries, validators: new Map() };
};

/** A GitHub that accepts only requests, and gives only answers, that GitHub's description permits. */
export class DescribedGithub {
  readonly requests: HostRequest[] = [];

  private constructor(
    private readonly description: HostDescription,
    private readonly apiUrl: string,
    private readonly answers: HostAnswers,
  ) {}

  static async open(kind: keyof typeof FILES, apiUrl: string, answers: HostAnswers): Promise<DescribedGithub> {
    return new DescribedGithub(await (descriptions[kind] ??= readDescription(kind)), apiUrl, answers);
  }

  readonly fetch: OutboundFetch = async (url, { method = 'GET', headers = {}, body = null } = {}) => {
    const address = String(url);
    if (!address.startsWith(`${this.apiUrl}/`)) throw new Error(`${address} is no address of the API`);
    const path = address.slice(this.apiUrl.length);
    const request = {
      method,
      path,
      authorization: new Headers(headers).get('authorization'),
      body: typeof body === 'string' ? JSON.parse(body) : null,
    };
    this.requests.push(request);
    const [template, operation] = this.findOperation(method, path.split('?')[0] ?? '');
    this.checkRequest(operation, template, request);
    const answer = this.answers[`${method} ${template}`];
    if (!answer) return new Response('{"message":"Not Found"}', { status: 404 });
    const [status, described] = this.findSuccess(operation);
    const media = described.content?.['application/json'];
    const [example] = Object.values(media?.examples ?? {});
    const response = answer(structuredClone(example && this.resolve(example).value), request);
    const actual = response.status ?? status;
    if (actual === status && media?.schema) this.check(media.schema, response.body, `${method} ${template} answers`);
    const content = actual === 204 ? null : JSON.stringify(response.body ?? {});
    return new Response(content, { status: actual, headers: response.headers ?? {} });
  };

  private resolve<T extends object>(value: T & Referable): T {
    if (value.$ref === undefined) return value;
    const names = value.$ref.split('/').slice(1);
    return names.reduce<any>(
      (node, name) => node[name.replaceAll('~1', '/').replaceAll('~0', '~')],
      this.description.api,
    ) as T;
  }

  /** Fixed names are more exact than parameters. */
  private findOperation(method: string, path: string): readonly [string, HostOperation] {
    const names = path.split('/');
    const template = Object.keys(this.description.api.paths)
      .filter((template) => {
        const segments = template.split('/');
        return (
          segments.length === names.length &&
          segments.every((segment, index) => segment === names[index] || (/^\{.*\}$/.test(segment) && names[index]))
        );
      })
      .toSorted((one, other) => one.split('{').length - other.split('{').length)
      .find((template) => this.description.api.paths[template]?.[method.toLowerCase()]);
    const operation = template && this.description.api.paths[template]?.[method.toLowerCase()];
    if (!template || !operation) throw new Error(`GitHub describes no ${method} ${path}`);
    return [template, operation];
  }

  private findSuccess({ responses }: HostOperation): readonly [number, DescribedContent] {
    const [status, response] = Object.entries(responses).find(([code]) => /^[23]/.test(code)) ?? ['200', {}];
    return [Number(status), this.resolve(response)];
  }

  private checkRequest(operation: HostOperation, template: string, { method, path, body }: HostRequest): void {
    const parameters = (operation.parameters ?? []).map((parameter) => this.resolve<DescribedField>(parameter));
    const query = new URL(path, 'https://host').searchParams;
    for (const [name, value] of query) {
      const parameter = parameters.find((each) => each.in === 'query' && each.name === name);
      if (!parameter) throw new Error(`${method} ${template} has no parameter ${name}`);
      this.check(
        { type: 'object', properties: { [name]: parameter.schema } },
        { [name]: value },
        `${method} ${template} expects`,
        this.description.ajvOfQueries,
      );
    }
    const missing = parameters.filter((each) => each.in === 'query' && each.required && !query.has(each.name));
    if (missing.length > 0) throw new Error(`${method} ${template} needs ${missing.map(({ name }) => name).join()}`);
    const schema = operation.requestBody?.content?.['application/json']?.schema;
    if (schema) this.check(schema, structuredClone(body), `${method} ${template} expects`);
    else if (body !== null) throw new Error(`${method} ${template} expects no body`);
  }

  private check(schema: object, value: unknown, what: string, ajv = this.description.ajv): void {
    const validate = this.description.validators.get(schema) ?? ajv.compile(this.absolute(schema));
    this.description.validators.set(schema, validate);
    if (!validate(value)) throw new Error(`${what} something else: ${ajv.errorsText(validate.errors)}`);
  }

  /** References in a part of the description begin at its root. */
  private absolute(schema: object): object {
    return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"host#/')) as object;
  }
}
