import type { z } from 'zod';
import { badRequest } from '#platform/kernel';

/** Returns the fields of a form. Throws `bad-request` if a field is missing or too long, which browsers prevent. */
export const parseForm = <S extends z.ZodType>(schema: S, body: unknown): z.infer<S> => {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw badRequest(`The form is not complete: ${fields.join('; ')}`);
};
