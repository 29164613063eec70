import { Clock } from '#kernel';
import type { Entry } from './entry.js';
import type { Pagination } from './walk.js';

export const DAY_MS = 24 * 60 * 60 * 1_000;

/** The machine's clock, which a test moves ahead. */
export class MovedClock extends Clock {
  ahead = 0;
  override now(): Date {
    return new Date(Date.now() + this.ahead);
  }
}

/** What test/support has of a client; not imported, for a file with one dot knows nothing but its slice. */
type Answer = { readonly status: number; readonly body: unknown; readonly text: string };

export type TrailPage = { readonly data: readonly Entry[]; readonly pagination: Pagination };

const PATH = '/api/v2/organization/audit-trail';

export const ask = <A extends Answer>(
  api: { get(path: string): Promise<A> },
  query: string | Readonly<Record<string, string>> = {},
): Promise<A> => api.get(`${PATH}?${typeof query === 'string' ? query : new URLSearchParams(query).toString()}`);

/** A page of the caller's trail, which must be given. */
export const readTrail = async (
  api: { get(path: string): Promise<Answer> },
  query: Parameters<typeof ask>[1] = {},
): Promise<TrailPage> => {
  const { status, body, text } = await ask(api, query);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body as TrailPage;
};

export const idsOf = (...pages: readonly TrailPage[]): string[] =>
  pages.flatMap(({ data }) => data.map((entry) => entry.id));

export const actionOf = (entry: Entry | undefined): string =>
  entry ? `${entry.resource.type} ${entry.resource.action}` : 'no entry';

export const actionsOf = ({ data }: TrailPage): string[] => data.map(actionOf);
