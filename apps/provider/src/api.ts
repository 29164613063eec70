import type { z } from 'zod';
import type { Token } from './access.js';
import { jsonOf, reasonOf, type many } from './documents.js';
import { refused } from './failure.js';
import type { Http, Request } from './http.js';
import type { Answer } from './transport.js';

const JSON_API = 'application/vnd.api+json';

export const isGood = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** Something to be made, and how it is found where an attempt that was not answered has made it. */
export type ToMake<S extends z.ZodType> = {
  readonly what: string;
  readonly url: URL;
  readonly type: string;
  readonly attributes: object;
  readonly schema: S;
  readonly find: () => Promise<z.output<S> | null>;
};

const PAGE = 100;

/** A server of this API, for the holder of one token. */
export class Api {
  constructor(
    readonly http: Http,
    readonly server: URL,
    private readonly token: Token,
  ) {}

  /** Who asks, for telling that they may not. */
  get asker(): string {
    return `the token of ${this.token.source}`;
  }

  async send(url: URL, request: Request = {}): Promise<Answer> {
    const authorization = `Bearer ${this.token.secret}`;
    const headers = { authorization, accept: `${JSON_API}, application/json`, ...request.headers };
    const answer = await this.http.ask(url.pathname, url, { ...request, headers });
    if (answer.status === 401) throw refused(`${this.server.host} does not know ${this.asker}`);
    return answer;
  }

  /** Null where there is none, or none that the token may see. */
  async get<S extends z.ZodType>(url: URL, schema: S): Promise<z.output<S> | null> {
    const answer = await this.send(url);
    if (answer.status === 404) return null;
    if (!isGood(answer)) throw refused(`${url.pathname}: ${reasonOf(answer)}`);
    return read(answer, url, schema);
  }

  /** All pages of a list. */
  async all<S extends z.ZodType>(url: URL, resource: S, listOf: typeof many): Promise<readonly z.output<S>[]> {
    const found: z.output<S>[] = [];
    const schema = listOf(resource);
    let page: number | null = 1;
    while (page !== null) {
      url.searchParams.set('page[number]', String(page));
      url.searchParams.set('page[size]', String(PAGE));
      const document: z.output<typeof schema> | null = await this.get(url, schema);
      found.push(...(document?.data ?? []));
      page = document?.meta?.pagination?.['next-page'] ?? null;
    }
    return found;
  }

  async make<S extends z.ZodType>({ what, url, type, attributes, schema, find }: ToMake<S>): Promise<z.output<S>> {
    const body = Buffer.from(JSON.stringify({ data: { type, attributes } }));
    const answer = await this.send(url, { method: 'POST', headers: { 'content-type': JSON_API }, body });
    if (isGood(answer)) return read(answer, url, schema);
    const there = [409, 422].includes(answer.status) ? await find() : null;
    if (there !== null) return there;
    const isForbidden = answer.status === 403 || answer.status === 404;
    const who = `${this.asker} must be that of an owner, or of somebody who may manage providers`;
    throw refused(`${what}: ${reasonOf(answer)}${isForbidden ? `; ${who}` : ''}`);
  }
}

const read = <S extends z.ZodType>(answer: Answer, url: URL, schema: S): z.output<S> => {
  const { success, data } = schema.safeParse(jsonOf(answer));
  if (!success) throw refused(`${url.pathname} answers with something else than this API does`);
  return data;
};
