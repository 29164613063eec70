import { badRequest } from '#platform/kernel';
import { getParameter, type QueryParameters as QueryOf } from '#api/json-api';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_SHOWN = 100;

const checkId = (name: string, value: string, parameter?: string): string => {
  if (UUID.test(value)) return value.toLowerCase();
  const excerpt = JSON.stringify(value.slice(0, MAX_SHOWN));
  throw badRequest(`${name}: must be the id of a message, which is a UUID, got ${excerpt}`, parameter);
};

/**
 * Returns the id of the last message that the client has received; null without one. The header wins, because a browser
 * that connects again repeats the address of its first request.
 */
export const parseLastEvent = (lastEventId: string | undefined, query: QueryOf): string | null => {
  if (lastEventId) return checkId('Last-Event-ID', lastEventId);
  const after = getParameter(query, 'after');
  return after === undefined ? null : checkId('after', after, 'after');
};
