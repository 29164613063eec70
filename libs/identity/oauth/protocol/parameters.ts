import type { z } from 'zod';
import { OauthRefusal } from '#api/json-api/rules';

/** The most parameters of a request. Unknown ones are ignored (RFC 6749 §3). */
const MAX_PARAMETERS = 20;

/** Returns why the parameters of a request are refused, whatever their values are; null if they are not. */
export const findParameterProblem = (parameters: Readonly<Record<string, unknown>>): string | null => {
  const names = Object.keys(parameters);
  if (names.length > MAX_PARAMETERS) {
    return `The request must have at most ${MAX_PARAMETERS} parameters, got ${names.length}`;
  }
  const repeated = names.find((name) => typeof parameters[name] !== 'string');
  return repeated === undefined ? null : `${repeated.slice(0, 100)}: must be sent once`;
};

/** Returns the parameters of a request for a token. Throws `invalid_request` with the name of a wrong parameter. */
export const parseParameters = <S extends z.ZodType>(schema: S, body: unknown): z.infer<S> => {
  const parameters = (body ?? {}) as Readonly<Record<string, unknown>>;
  const problem = findParameterProblem(parameters);
  if (problem !== null) throw new OauthRefusal('invalid_request', problem);
  const parsed = schema.safeParse(parameters);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new OauthRefusal('invalid_request', problems.join('; '));
};
