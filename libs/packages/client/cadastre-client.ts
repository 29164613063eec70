import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './openapi-types.js';

const JSON_API = 'application/vnd.api+json';

/** Requests of one caller to one server, by the paths of its OpenAPI document. */
export type CadastreClient = Client<paths>;

export type CadastreClientOptions = {
  /** The address of the server, such as `https://cadastre.example.com`. */
  readonly server: string;
  /** The token of the caller. Without one, the client can send requests that need no token. */
  readonly token?: string;
  /** Sends the requests. The default is the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
};

/**
 * Creates a client whose requests and responses have the types of the API description. A method resolves to `data` of a
 * success or to `error`, the JSON:API document of a refusal, and rejects if there is no response.
 *
 * ```ts
 * const { data, error } = await api.POST('/api/v2/workspaces/{id}/actions/lock', { params: { path: { id } } });
 * ```
 */
export const createCadastreClient = ({ server, token, fetch }: CadastreClientOptions): CadastreClient =>
  createClient<paths>({
    baseUrl: server.replace(/\/$/, ''),
    headers: {
      accept: `${JSON_API}, application/json`,
      'content-type': JSON_API,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    // `include=organization,project` is one parameter.
    querySerializer: { array: { style: 'form', explode: false } },
    ...(fetch ? { fetch } : {}),
  });

type PageDocument = {
  readonly meta?: { readonly pagination?: { readonly 'next-page'?: number | null } };
};

/** Returns the resources of all pages. `readPage` requests the page with this number. Throws if a page is refused. */
export const listAllPages = async <T>(
  readPage: (
    number: number,
  ) => Promise<{ readonly data?: PageDocument & { readonly data: readonly T[] }; readonly error?: unknown }>,
): Promise<readonly T[]> => {
  const resources: T[] = [];
  for (let page: number | null = 1; page !== null;) {
    const { data, error } = await readPage(page);
    if (!data) throw new Error(describeError(error));
    resources.push(...data.data);
    page = data.meta?.pagination?.['next-page'] ?? null;
  }
  return resources;
};

type ErrorDocument = { readonly errors?: readonly { readonly title?: string; readonly detail?: string }[] };

/** Returns the details of a refusal, one sentence after the other. */
export const describeError = (error: unknown): string => {
  const { errors = [] } = (error ?? {}) as ErrorDocument;
  return errors.map(({ title, detail }) => detail ?? title ?? '').join(' ') || 'The server refused the request.';
};
