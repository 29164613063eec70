import type { z } from 'zod';
import type { ServerToken } from './credentials.js';
import { parseJson, describeRefusal, type listDocument } from './documents.js';
import { createRefusedError } from './command-error.js';
import type { HttpClient, HttpRequest } from './http-client.js';
import type { HttpResponse } from './transport.js';

const JSON_API = 'application/vnd.api+json';

export const isSuccess = ({ status }: HttpResponse): boolean => status >= 200 && status < 300;

/** A resource to create. `find` returns it if an earlier attempt without a response has created it. */
type ResourceCreation<S extends z.ZodType> = {
  readonly what: string;
  readonly url: URL;
  readonly resource: { readonly type?: string; readonly attributes: object };
  readonly schema: S;
  readonly find: () => Promise<z.output<S> | null>;
};

const PAGE = 100;

/** A client of the API with one token. */
export class ApiClient {
  constructor(
    readonly http: HttpClient,
    readonly server: URL,
    private readonly token: ServerToken,
  ) {}

  /** Describes the token for error messages. */
  get tokenDescription(): string {
    return `the token of ${this.token.source}`;
  }

  async send(url: URL, request: HttpRequest = {}): Promise<HttpResponse> {
    const authorization = `Bearer ${this.token.secret}`;
    const headers = { authorization, accept: `${JSON_API}, application/json`, ...request.headers };
    const answer = await this.http.sendWithRetry(url.pathname, url, { ...request, headers });
    if (answer.status === 401) throw createRefusedError(`${this.server.host} does not accept ${this.tokenDescription}`);
    return answer;
  }

  /** Returns null if the resource does not exist, or the token cannot read it. */
  async get<S extends z.ZodType>(url: URL, schema: S): Promise<z.output<S> | null> {
    const answer = await this.send(url);
    if (answer.status === 404) return null;
    if (!isSuccess(answer)) throw createRefusedError(`${url.pathname}: ${describeRefusal(answer)}`);
    return read(answer, url, schema);
  }

  /** Returns all pages of a list. */
  async all<S extends z.ZodType>(url: URL, resource: S, listOf: typeof listDocument): Promise<readonly z.output<S>[]> {
    const resources: z.output<S>[] = [];
    const schema = listOf(resource);
    let page: number | null = 1;
    while (page !== null) {
      url.searchParams.set('page[number]', String(page));
      url.searchParams.set('page[size]', String(PAGE));
      const document: z.output<typeof schema> | null = await this.get(url, schema);
      resources.push(...(document?.data ?? []));
      page = document?.meta?.pagination?.['next-page'] ?? null;
    }
    return resources;
  }

  async make<S extends z.ZodType>({ what, url, resource, schema, find }: ResourceCreation<S>): Promise<z.output<S>> {
    const body = Buffer.from(JSON.stringify({ data: resource }));
    const answer = await this.send(url, { method: 'POST', headers: { 'content-type': JSON_API }, body });
    if (isSuccess(answer)) return read(answer, url, schema);
    const there = [409, 422].includes(answer.status) ? await find() : null;
    if (there !== null) return there;
    const isForbidden = answer.status === 403 || answer.status === 404;
    const advice = `${this.tokenDescription} must belong to an owner, or to a member with permission to manage providers`;
    throw createRefusedError(`${what}: ${describeRefusal(answer)}${isForbidden ? `; ${advice}` : ''}`);
  }
}

const read = <S extends z.ZodType>(answer: HttpResponse, url: URL, schema: S): z.output<S> => {
  const { success, data } = schema.safeParse(parseJson(answer));
  if (!success) throw createRefusedError(`${url.pathname}: the response does not match this API`);
  return data;
};
