import { z } from 'zod';
import { badRequest } from '#kernel';
import { parameter, type Query } from '#json-api';

/** A relationship that must name somebody; whole resources may come, `id` is what counts. */
export const identified = z.object({ data: z.object({ id: z.string() }) });

/** Null says as little as saying nothing: what a team has cannot be cleared field by field. */
export const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined;

/** What the list cannot be asked for without. */
export const requiredFilter = (query: Query, name: string): string => {
  const value = parameter(query, name);
  if (!value) throw badRequest(`${name} is required`, name);
  return value;
};
