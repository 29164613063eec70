import { z } from 'zod';

export type OpaOutcome = {
  readonly status: 'passed' | 'failed' | 'errored';
  /** The result of the query as JSON, or why there is none. */
  readonly message: string;
};

const evaluation = z.object({
  result: z.array(z.object({ expressions: z.array(z.object({ value: z.unknown() })) })).optional(),
  errors: z.array(z.object({ message: z.string(), code: z.string().optional() })).optional(),
});

const errored = (message: string): OpaOutcome => ({ status: 'errored', message });

/** Builtin functions that reach the network or the machine. OPA marks them as not deterministic. */
const HARMLESS_FUNCTIONS: ReadonlySet<string> = new Set([
  'io.jwt.decode_verify',
  'io.jwt.encode_sign',
  'io.jwt.encode_sign_raw',
  'rand.intn',
  'time.now_ns',
  'uuid.rfc4122',
]);

/** Functions of earlier versions of OPA, which do not mark them. */
const DANGEROUS_FUNCTION = /^(?:http\.|net\.lookup|opa\.runtime$)/;

const capabilities = z.looseObject({
  builtins: z.array(z.looseObject({ name: z.string(), nondeterministic: z.boolean().optional() })),
});

const parseCapabilities = (printed: string): z.infer<typeof capabilities> | null => {
  try {
    return capabilities.parse(JSON.parse(printed));
  } catch {
    return null;
  }
};

/** Returns the capabilities that OPA prints, without functions that reach the network or the machine; null if it prints none. */
export const restrictCapabilities = (printed: string): string | null => {
  const parsed = parseCapabilities(printed);
  if (!parsed) return null;
  const { builtins, ...others } = parsed;
  const harmless = builtins.filter(
    ({ name, nondeterministic }) =>
      !DANGEROUS_FUNCTION.test(name) && (nondeterministic !== true || HARMLESS_FUNCTIONS.has(name)),
  );
  return JSON.stringify({ ...others, builtins: harmless, allow_net: [] });
};

/** Returns whether OPA cannot read a text, which may have the syntax of earlier versions. */
export const hasSyntaxError = (output: string): boolean => {
  const parsed = parseEvaluation(output);
  return parsed?.errors?.some(({ code }) => code === 'rego_parse_error' || code === 'rego_compile_error') ?? false;
};

const parseEvaluation = (output: string): z.infer<typeof evaluation> | null => {
  try {
    return evaluation.parse(JSON.parse(output));
  } catch {
    return null;
  }
};

/**
 * Returns what the output of `opa eval` means. A policy passes if its query has exactly one result, an empty list. A query without
 * a result is an error: a name that is misspelt must not let a plan pass.
 */
export const readPolicyOutcome = (output: string, query: string): OpaOutcome => {
  const parsed = parseEvaluation(output);
  if (!parsed) return errored('OPA has printed no result');
  const { errors = [], result = [] } = parsed;
  if (errors.length > 0) return errored(errors.map(({ message }) => message).join('; '));
  const values = result.flatMap(({ expressions }) => expressions.map(({ value }) => value));
  if (values.length === 0) return errored(`The query ${query} has no result: no rule of the policy defines it`);
  const [value] = values;
  if (values.length > 1 || !Array.isArray(value)) return errored(`The query ${query} must have one list as its result`);
  return value.length === 0 ? { status: 'passed', message: '' } : { status: 'failed', message: JSON.stringify(value) };
};
