import { Clock } from '#kernel';
import type { Answer, Api } from '../../test/support/server.js';
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

export type TrailPage = { readonly data: readonly Entry[]; readonly pagination: Pagination };

const PATH = '/api/v2/organization/audit-trail';

export const ask = (api: Api, query: string | Readonly<Record<string, string>> = {}): Promise<Answer> =>
  api.get(`${PATH}?${typeof query === 'string' ? query : new URLSearchParams(query).toString()}`);

/** A page of the caller's trail, which must be given. */
export const readTrail = async (api: Api, query: Parameters<typeof ask>[1] = {}): Promise<TrailPage> => {
  const { status, body, text } = await ask(api, query);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body as TrailPage;
};

export const idsOf = (...pages: readonly TrailPage[]): string[] =>
  pages.flatMap(({ data }) => data.map((entry) => entry.id));

export const actionOf = (entry: Entry | undefined): string =>
  entry ? `${entry.resource.type} ${entry.resource.action}` : 'no entry';

export const actionsOf = ({ data }: TrailPage): string[] => data.map(actionOf);
